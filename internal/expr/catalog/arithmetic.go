package catalog

// forms are the parts of expressions that are no functions of values.
var forms = Section{"Columns and literals", Form, "yes", []Row{
	{Operands: "a column of any type", Result: "the same", Functions: []Function{
		{Name: "column", Go: "Col", Free: true, Parameters: params{{Name: "name", Type: Text}}, Call: ByHand, Python: "col"},
	}},
	{Operands: "a Go value", Result: "its type, or the one given", Null: "never, except a null literal", Functions: []Function{
		{Name: "literal", Go: "Lit", Variant: "LitOf", Free: true, Parameters: params{{Name: "value", Type: Literal}}, Call: ByHand, Python: "lit"},
	}},
	{Operands: "any", Result: "the same", Functions: []Function{
		{Name: "as", GoAliases: []string{"Alias"}, Parameters: params{{Name: "name", Type: Text}}, Call: ByHand,
			Python: "alias(name: str)", PythonDoc: "Give the result a name. Without one it has that of the first column in the expression."},
	}},
	{Operands: "any two types that convert", Result: "the type", Null: "a value that the type does not hold", Fuses: "yes; strings to floats and timestamps: no", Functions: []Function{
		{Name: "cast", Kind: Elementwise, Parameters: params{{Name: "type", Go: "to", Type: DataType}}, Call: "expr.Expr.Cast", Example: "cast(price, float32)",
			Doc:       "Cast converts to a type. Values that do not fit are null. Decimals are rounded half away from zero, and floats that become integers cut off.",
			Python:    "cast(dtype: Any)",
			PythonDoc: "Convert to a type: its Arrow name, such as \"int32\", or a type of Python, pyarrow or polars.\n\nValues that do not fit are null, as with Polars' strict=False. Decimals are rounded half away from zero, and floats that become integers are cut off."},
	}},
}}

const (
	floatOperands = "floats, integers and decimals as float64"
	floatResult   = "float64; float32 of float32"
)

var arithmetic = Section{"Arithmetic", Elementwise, "yes", []Row{
	{Operands: "numbers, decimals, durations; a time and a duration", Result: "the common type; of decimals with one more digit", Null: "a decimal or a time that the type does not hold", Functions: []Function{
		{Name: "add", Parameters: withX, Doc: "Add is e + x. Integers wrap around; decimals that overflow are null.", Python: "__add__"},
	}},
	{Operands: "numbers, decimals, times; a time and a duration", Result: "the common type; of two times a duration, of decimals with one more digit", Null: "a decimal or a time that the type does not hold", Functions: []Function{
		{Name: "sub", Parameters: withX, Doc: "Sub is e − x.", Python: "__sub__"},
	}},
	{Operands: "numbers, decimals; a duration and an integer", Result: "the common type; of decimals a wider one", Null: "as for Add", Functions: []Function{
		{Name: "mul", Parameters: withX, Doc: "Mul is e · x.", Python: "__mul__"},
	}},
	{Operands: "numbers, decimals; a duration and an integer", Result: "the common type; of decimals one with [more digits](expressions.md#decimals)", Null: "a divisor of 0, of integers and decimals; a duration or a decimal that the type does not hold", Fuses: "yes; decimals: no, on the host", Functions: []Function{
		{Name: "div", Parameters: withX, Doc: "Div is e / x. Integers are divided without a remainder, decimals to a decimal with six or more digits behind the point, rounded half away from zero; by zero gives null.",
			Python: "div(other: IntoExpr)", PythonDoc: "The quotient in the common type: integers are cut off, decimals have six or more digits behind the point. ``/`` is of floats. Polars has none."},
	}},
	{Operands: "numbers, durations", Result: "the common type", Null: "a divisor of 0, of integers", Functions: []Function{
		{Name: "mod", Parameters: withX, Doc: "Mod is the remainder of e / x, with the sign of e."},
	}},
	{Operands: "numbers, durations, decimals as float64; a duration and a number", Result: "float64; float32 of float32, of a duration and a number a duration", Null: "a divisor of 0 or a result that does not fit, of a duration and a number", Functions: []Function{
		{Name: "true_div", Parameters: withX, Python: "__truediv__",
			Doc: "TrueDiv is e / x as a real number: integers and decimals become float64. A duration divided by a number is a duration, cut off to whole units; divided by a duration it is float64."},
	}},
	{Operands: "numbers, durations; a duration and a number", Result: "the common type; of two durations int64, of a duration and a number a duration", Null: "a divisor of 0, of integers and durations; a duration that does not fit", Functions: []Function{
		{Name: "floor_div", Parameters: withX, Python: "__floordiv__",
			Doc: "FloorDiv is e / x, of numbers and durations, rounded down to a whole number. By an integer zero it is null. A duration divided by a duration is int64."},
	}},
	{Operands: "numbers, durations", Result: "the common type", Null: "a divisor of 0, of integers and durations", Functions: []Function{
		{Name: "floor_mod", Parameters: withX, Doc: "FloorMod is the remainder of FloorDiv, of two numbers or two durations, with the sign of x.", Python: "__mod__"},
	}},
	{Operands: floatOperands, Result: floatResult, Functions: []Function{
		{Name: "pow", Aliases: []string{"power"}, Parameters: withX, Doc: "Pow is e to the power of x.", Python: "__pow__"},
		{Name: "atan2", Call: "expr.Call(\"atan2\", e, x)", Parameters: withX, Doc: "Atan2 is the angle of the point (x, e), from −π to π.",
			Python: "arctan2(x: IntoExpr)", PythonDoc: "The angle of the point (x, self), from -π to π. Polars has ``polars.arctan2``."},
		{Name: "hypot", Call: "expr.Call(\"hypot\", e, x)", Parameters: withX, Doc: "Hypot is √(e² + x²) without overflow of the squares.",
			Python: "hypot(x: IntoExpr)", PythonDoc: "The root of the sum of both squares, without their overflow."},
	}},
	{Operands: "numbers, decimals, durations", Result: "the same", Null: "the lowest duration", Functions: []Function{
		{Name: "neg", Doc: "Neg is −e.", Python: "__neg__"},
		{Name: "abs", Doc: "Abs is the magnitude.", Python: "abs()", PythonDoc: "The magnitude."},
	}},
	{Operands: "numbers, decimals", Result: "the same; of a decimal int64", Functions: []Function{
		{Name: "sign", Doc: "Sign is −1, 0 or 1.", Python: "sign()", PythonDoc: "-1, 0 or 1."},
	}},
	{Operands: floatOperands, Result: floatResult, Functions: []Function{
		{Name: "sqrt", Doc: "Sqrt is the square root.", Python: "sqrt()", PythonDoc: "The square root."},
		{Name: "exp", Doc: "Exp is the exponential.", Python: "exp()", PythonDoc: "The exponential."},
		{Name: "log", Aliases: []string{"ln"}, Doc: "Log is the natural logarithm.", Python: "log()", PythonDoc: "The natural logarithm."},
		{Name: "log10", Call: "expr.Call(\"log10\", e)", Doc: "Log10 is the decimal logarithm, which is whole for powers of ten.", Python: "log10()", PythonDoc: "The decimal logarithm, which is whole for powers of ten."},
		{Name: "log2", Call: "expr.Call(\"log2\", e)", Doc: "Log2 is the binary logarithm, which is whole for powers of two.", Python: "log2()", PythonDoc: "The binary logarithm, which is whole for powers of two."},
		{Name: "log1p", Call: "expr.Call(\"log1p\", e)", Doc: "Log1p is the natural logarithm of 1 + e, with all digits of a small e.", Python: "log1p()", PythonDoc: "The natural logarithm of 1 + the value, with all digits of a small value."},
		{Name: "expm1", Call: "expr.Call(\"expm1\", e)", Doc: "Expm1 is the exponential less 1, with all digits of a small e.", Python: "expm1()", PythonDoc: "The exponential less 1, with all digits of a small value."},
		{Name: "cbrt", Call: "expr.Call(\"cbrt\", e)", Doc: "Cbrt is the cube root.", Python: "cbrt()", PythonDoc: "The cube root."},
		{Name: "sin", Doc: "Sin is the sine.", Python: "sin()", PythonDoc: "The sine."},
		{Name: "cos", Doc: "Cos is the cosine.", Python: "cos()", PythonDoc: "The cosine."},
		{Name: "tan", Body: "e.Sin().Div(e.Cos())", Doc: "Tan is the tangent, the sine divided by the cosine.", Python: "tan()", PythonDoc: "The tangent, the sine divided by the cosine."},
		{Name: "asin", Call: "expr.Call(\"asin\", e)", Doc: "Asin is the angle with the sine e, from −π/2 to π/2; NaN beyond −1 and 1.", Python: "arcsin()", PythonDoc: "The angle with this sine, from -π/2 to π/2; NaN beyond -1 and 1."},
		{Name: "acos", Call: "expr.Call(\"acos\", e)", Doc: "Acos is the angle with the cosine e, from 0 to π; NaN beyond −1 and 1.", Python: "arccos()", PythonDoc: "The angle with this cosine, from 0 to π; NaN beyond -1 and 1."},
		{Name: "atan", Call: "expr.Call(\"atan\", e)", Doc: "Atan is the angle with the tangent e, from −π/2 to π/2.", Python: "arctan()", PythonDoc: "The angle with this tangent, from -π/2 to π/2."},
		{Name: "sinh", Call: "expr.Call(\"sinh\", e)", Doc: "Sinh is the hyperbolic sine.", Python: "sinh()", PythonDoc: "The hyperbolic sine."},
		{Name: "cosh", Call: "expr.Call(\"cosh\", e)", Doc: "Cosh is the hyperbolic cosine.", Python: "cosh()", PythonDoc: "The hyperbolic cosine."},
		{Name: "tanh", Call: "expr.Call(\"tanh\", e)", Doc: "Tanh is the hyperbolic tangent.", Python: "tanh()", PythonDoc: "The hyperbolic tangent."},
		{Name: "asinh", Call: "expr.Call(\"asinh\", e)", Doc: "Asinh is the inverse of the hyperbolic sine.", Python: "arcsinh()", PythonDoc: "The inverse of the hyperbolic sine."},
		{Name: "acosh", Call: "expr.Call(\"acosh\", e)", Doc: "Acosh is the inverse of the hyperbolic cosine, NaN below 1.", Python: "arccosh()", PythonDoc: "The inverse of the hyperbolic cosine, NaN below 1."},
		{Name: "atanh", Call: "expr.Call(\"atanh\", e)", Doc: "Atanh is the inverse of the hyperbolic tangent, NaN beyond −1 and 1.", Python: "arctanh()", PythonDoc: "The inverse of the hyperbolic tangent, NaN beyond -1 and 1."},
		{Name: "degrees", Call: "expr.Call(\"degrees\", e)", Doc: "Degrees is the angle in degrees, of radians.", Python: "degrees()", PythonDoc: "The angle in degrees, of radians."},
		{Name: "radians", Call: "expr.Call(\"radians\", e)", Doc: "Radians is the angle in radians, of degrees.", Python: "radians()", PythonDoc: "The angle in radians, of degrees."},
	}},
	{Operands: "floats, integers as float64", Result: floatResult, Functions: []Function{
		{Name: "floor", Doc: "Floor rounds down to a whole number.", Python: "floor()", PythonDoc: "The value rounded down. Unlike in Polars, integers become floats."},
		{Name: "ceil", Aliases: []string{"ceiling"}, Doc: "Ceil rounds up to a whole number.", Python: "ceil()", PythonDoc: "The value rounded up. Unlike in Polars, integers become floats."},
		{Name: "trunc", Doc: "Trunc rounds towards zero.", Python: "truncate()", PythonDoc: "The value rounded towards zero. Unlike in Polars, integers become floats."},
	}},
	{Operands: "floats, decimals, integers as float64", Result: "float64; float32 of float32, of decimals a decimal with [those digits](expressions.md#decimals)", Functions: []Function{
		{Name: "round", Doc: "Round rounds to the nearest whole number: floats half to even, decimals half away from zero.", Python: "round"},
		{Name: "round_digits", Aliases: []string{"round"}, Parameters: params{{Name: "digits", Type: Whole}}, Example: "round(price, 2)", Python: "round",
			Doc: "RoundDigits rounds to a number of decimal digits behind the point, as [Expr.Round]; a negative number is of digits in front of it."},
	}},
	{Operands: "integers", Result: "the common type", Functions: []Function{
		{Name: "bit_and", Parameters: withX, Doc: "BitAnd is the bitwise and of integers.",
			Python: "bitwise_and(other: IntoExpr)", PythonDoc: "The bitwise and of integers, for which Polars also has ``&``."},
		{Name: "bit_or", Parameters: withX, Doc: "BitOr is the bitwise or of integers.",
			Python: "bitwise_or(other: IntoExpr)", PythonDoc: "The bitwise or of integers, for which Polars also has ``|``."},
		{Name: "bit_xor", Parameters: withX, Doc: "BitXor is the bitwise exclusive or of integers.",
			Python: "bitwise_xor(other: IntoExpr)", PythonDoc: "The bitwise exclusive or of integers, for which Polars also has ``^``."},
		{Name: "bit_not", Doc: "BitNot inverts the bits of integers.", Python: "bitwise_not()", PythonDoc: "The inverted bits of integers, for which Polars also has ``~``."},
		{Name: "bit_count", Call: "expr.Call(\"popcount\", e)", Doc: "BitCount is the number of bits that are set.",
			Python: "bitwise_count_ones()", PythonDoc: "The number of bits that are set. Unlike in Polars, it has the type of the value."},
	}},
	{Operands: "integers", Result: "the common type", Functions: []Function{
		{Name: "gcd", Call: "expr.Call(\"gcd\", e, x)", Aliases: []string{"greatest_common_divisor"}, Parameters: withX, Doc: "Gcd is the greatest number that divides two integers, and the magnitude of one if the other is 0.",
			Python: "gcd(x: IntoExpr)", PythonDoc: "The greatest number that divides both integers, and the magnitude of one if the other is 0."},
		{Name: "lcm", Call: "e.Div(expr.Max(expr.Call(\"gcd\", e, x), expr.Lit(1))).Mul(x).Abs()", Aliases: []string{"least_common_multiple"}, Parameters: withX,
			Doc:    "Lcm is the least positive multiple of two integers, and 0 if one is 0. It wraps around.",
			Python: "lcm(x: IntoExpr)", PythonDoc: "The least positive multiple of both integers, and 0 if one is 0. It wraps around."},
	}},
	{Operands: "integers", Result: "int64", Null: "a number below 0 or above 20", Functions: []Function{
		{Name: "factorial", Body: "e.factorial()", Doc: "Factorial is the product of the integers from 1 to e, and 1 of 0.",
			Python: "factorial()", PythonDoc: "The product of the integers from 1 to the value, null below 0 and above 20."},
	}},
	{Operands: "integers", Result: "the common type", Null: "a shift below 0 or not below the width of the type", Functions: []Function{
		{Name: "shift_left", Parameters: withX, Doc: "ShiftLeft moves the bits of integers x places up.",
			Python: "shift_left(places: IntoExpr)", PythonDoc: "The bits of integers, moved up."},
		{Name: "shift_right", Parameters: withX, Doc: "ShiftRight moves the bits of integers x places down. The sign is kept.",
			Python: "shift_right(places: IntoExpr)", PythonDoc: "The bits of integers, moved down. The sign is kept."},
	}},
}}
