package expr

import "github.com/gpuframe/gpuframe/internal/expr/exprtree"

// Add is e + x. Integers wrap around. It is defined for numbers and decimals, and adds
// durations to timestamps, dates, times and durations. The sum of a date is a timestamp. A
// time that would leave its day is null.
func (e Expr) Add(x Expr) Expr { return make2(exprtree.Add, e, x) }

// Sub is e - x. Of two timestamps, dates or times it is a duration; see Add.
func (e Expr) Sub(x Expr) Expr { return make2(exprtree.Subtract, e, x) }

// Mul is e * x, of numbers, decimals, and a duration and an integer.
func (e Expr) Mul(x Expr) Expr { return make2(exprtree.Multiply, e, x) }

// Div is e / x. Integers truncate, and division by zero is null; floats give ±Inf
// or NaN. A duration may be divided by an integer; decimals cannot be divided: cast
// them to float64.
func (e Expr) Div(x Expr) Expr { return make2(exprtree.Divide, e, x) }

// Mod is the remainder of e / x, with the sign of e. An integer zero x gives null;
// for floats it is C's fmod.
func (e Expr) Mod(x Expr) Expr { return make2(exprtree.Remainder, e, x) }

// Neg is -e, of numbers, decimals and durations. Integers wrap around.
func (e Expr) Neg() Expr { return make1(exprtree.Negate, e) }

// Abs is the magnitude of e, of numbers, decimals and durations. The lowest integer
// of a type stays as it is.
func (e Expr) Abs() Expr { return make1(exprtree.Abs, e) }

// Sign is -1, 0 or 1 in the type of e, and NaN for NaN. Of decimals it is int64.
func (e Expr) Sign() Expr { return make1(exprtree.Sign, e) }

// Pow is e to the power of x, in floats: integers and decimals become float64.
func (e Expr) Pow(x Expr) Expr { return make2(exprtree.Power, e, x) }

// Sqrt is the square root, correctly rounded; integers and decimals become float64.
func (e Expr) Sqrt() Expr { return make1(exprtree.Sqrt, e) }

// Exp is e raised as power of Euler's number; integers and decimals become float64.
func (e Expr) Exp() Expr { return make1(exprtree.Exp, e) }

// Log is the natural logarithm; integers and decimals become float64.
func (e Expr) Log() Expr { return make1(exprtree.Log, e) }

// Sin is the sine of e radians; integers and decimals become float64.
func (e Expr) Sin() Expr { return make1(exprtree.Sin, e) }

// Cos is the cosine of e radians; integers and decimals become float64.
func (e Expr) Cos() Expr { return make1(exprtree.Cos, e) }

// Floor rounds down to a whole number; integers become float64.
func (e Expr) Floor() Expr { return make1(exprtree.Floor, e) }

// Ceil rounds up to a whole number; integers become float64.
func (e Expr) Ceil() Expr { return make1(exprtree.Ceil, e) }

// Trunc rounds towards zero to a whole number; integers become float64.
func (e Expr) Trunc() Expr { return make1(exprtree.Truncate, e) }

// Round rounds to the nearest whole number: floats with halves to the even one, decimals with
// halves away from zero. Integers become float64.
func (e Expr) Round() Expr { return make1(exprtree.Round, e) }

// BitAnd is the bits that e and x, integers, have both.
func (e Expr) BitAnd(x Expr) Expr { return make2(exprtree.BitAnd, e, x) }

// BitOr is the bits that e or x, integers, have.
func (e Expr) BitOr(x Expr) Expr { return make2(exprtree.BitOr, e, x) }

// BitXor is the bits that one of e and x, integers, has.
func (e Expr) BitXor(x Expr) Expr { return make2(exprtree.BitXor, e, x) }

// BitNot inverts the bits of an integer.
func (e Expr) BitNot() Expr { return make1(exprtree.BitNot, e) }

// ShiftLeft shifts the bits of an integer by x, null unless x is at least zero and
// less than the width of the common type.
func (e Expr) ShiftLeft(x Expr) Expr { return make2(exprtree.ShiftLeft, e, x) }

// ShiftRight is ShiftLeft the other way, keeping the sign.
func (e Expr) ShiftRight(x Expr) Expr { return make2(exprtree.ShiftRight, e, x) }
