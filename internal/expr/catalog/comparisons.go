package catalog

const (
	scalars    = "numbers, bools, decimals, times, strings, binaries"
	notStrings = "yes; strings: no"
)

// values are the operands of choices.
var values = params{{Name: "values", Type: Operands}}

var comparisons = Section{"Comparisons, logic, choices", Elementwise, "yes", []Row{
	{Operands: scalars + "; two of one kind", Result: "bool", Functions: []Function{
		{Name: "eq", Parameters: withX, Python: "__eq__",
			Doc: "Eq is e == x. All comparisons have the order of keys and sorts: NaN equals itself and is greater than every number, and −0 equals 0. EqIEEE and the others of this name compare as IEEE 754 does."},
		{Name: "ne", Parameters: withX, Doc: "Ne is e != x.", Python: "__ne__"},
		{Name: "lt", Parameters: withX, Doc: "Lt is e < x.", Python: "__lt__"},
		{Name: "le", Parameters: withX, Doc: "Le is e ≤ x.", Python: "__le__"},
		{Name: "gt", Parameters: withX, Doc: "Gt is e > x.", Python: "__gt__"},
		{Name: "ge", Parameters: withX, Doc: "Ge is e ≥ x.", Python: "__ge__"},
	}},
	{Operands: "numbers; two of them", Result: "bool", Functions: []Function{
		{Name: "eq_ieee", Parameters: withX, Doc: "EqIEEE is e == x of numbers, false if one is NaN.",
			Python: "eq_ieee(other: IntoExpr)", PythonDoc: "``==`` of numbers as IEEE 754 has it: False if one is NaN."},
		{Name: "ne_ieee", Parameters: withX, Doc: "NeIEEE is e != x of numbers, true if one is NaN.",
			Python: "ne_ieee(other: IntoExpr)", PythonDoc: "``!=`` of numbers as IEEE 754 has it: True if one is NaN."},
		{Name: "lt_ieee", Parameters: withX, Doc: "LtIEEE is e < x of numbers, false if one is NaN.",
			Python: "lt_ieee(other: IntoExpr)", PythonDoc: "``<`` of numbers as IEEE 754 has it: False if one is NaN."},
		{Name: "le_ieee", Parameters: withX, Doc: "LeIEEE is e ≤ x of numbers, false if one is NaN.",
			Python: "le_ieee(other: IntoExpr)", PythonDoc: "``<=`` of numbers as IEEE 754 has it: False if one is NaN."},
		{Name: "gt_ieee", Parameters: withX, Doc: "GtIEEE is e > x of numbers, false if one is NaN. Unlike Gt it leaves out row groups of files by their greatest value, which tells nothing of NaN.",
			Python: "gt_ieee(other: IntoExpr)", PythonDoc: "``>`` of numbers as IEEE 754 has it: False if one is NaN."},
		{Name: "ge_ieee", Parameters: withX, Doc: "GeIEEE is e ≥ x of numbers, false if one is NaN; see GtIEEE.",
			Python: "ge_ieee(other: IntoExpr)", PythonDoc: "``>=`` of numbers as IEEE 754 has it: False if one is NaN."},
	}},
	{Operands: scalars + "; three of one kind", Result: "bool", Null: "as two comparisons with And", Functions: []Function{
		{Name: "between", Parameters: params{{Name: "low"}, {Name: "high"}}, Doc: "Between is low ≤ e ≤ high.", Body: "e.Ge(low).And(e.Le(high))", Python: "is_between"},
	}},
	{Operands: scalars + "; values or columns", Result: "bool", Null: "no value is equal and one of them is null", Functions: []Function{
		{Name: "in", Parameters: params{{Name: "values", Type: Operands, Optional: true}}, Body: "e.isIn(values)", Python: "is_in",
			Doc: "In reports whether the value is one of some values, or of the elements of a slice. It is null if e is null, and if no value is equal and one of them is nil."},
	}},
	{Operands: "bools", Result: "bool", Null: "Kleene: only if the operand that is not null does not decide", Functions: []Function{
		{Name: "and", Parameters: withX, Doc: "And is true if both are, false if one is false, else null.", Python: "__and__"},
		{Name: "or", Parameters: withX, Doc: "Or is true if one is, false if both are false, else null.", Python: "__or__"},
	}},
	{Operands: "bools", Result: "bool", Functions: []Function{
		{Name: "xor", Parameters: withX, Doc: "Xor is true if exactly one is. It is null if one is null.", Python: "__xor__"},
		{Name: "not", Doc: "Not is the negation of a bool.", Python: "not_()", PythonDoc: "The negation of a bool."},
	}},
	{Operands: "any", Result: "bool", Null: "never", Functions: []Function{
		{Name: "is_null", Doc: "IsNull reports whether the value is null.", Python: "is_null()", PythonDoc: "Whether the value is null."},
		{Name: "is_valid", Doc: "IsValid reports whether the value is not null.", Python: "is_not_null()", PythonDoc: "Whether the value is not null."},
	}},
	{Operands: scalars + "; any number of any kinds", Result: "uint64", Null: "never", Functions: []Function{
		{Name: "hash", Free: true, Parameters: values, Call: "expr.Hash", Example: "hash(user) % 10", Python: "hash",
			Doc: "Hash is a hash of the values of a row, for samples and parts that stay the same: Hash(Col(\"user\")).Mod(10).Lt(8). Equal numbers have one hash in all integer types, and in both float types; a null has one too. It is the same on all devices and in all releases, and resists no attack."},
	}},
	{Operands: "numbers", Result: "bool", Functions: []Function{
		{Name: "is_nan", Aliases: []string{"isnan"}, Doc: "IsNaN reports whether a float is not a number.", Python: "is_nan()", PythonDoc: "Whether a float is not a number."},
	}},
	{Operands: scalars + "; several of one kind", Result: "the common type", Null: "all operands are null; a null operand has no effect", Fuses: notStrings, Functions: []Function{
		{Name: "fill_null", Aliases: []string{"ifnull", "nvl"}, Parameters: withX, Doc: "FillNull is e, or x where e is null.",
			Python: "fill_null(value: IntoExpr)", PythonDoc: "Another value for null."},
		{Name: "coalesce", Free: true, Parameters: values, Doc: "Coalesce is the first of the values that is not null.", Call: "expr.Coalesce", Python: "coalesce"},
	}},
	{Operands: scalars + "; two of one kind, and a bool before them", Result: "the common type", Null: "the chosen operand is null; a null condition is not true", Fuses: notStrings, Functions: []Function{
		{Name: "if", Free: true, Parameters: params{{Name: "condition", Type: Expression}, {Name: "a"}, {Name: "b"}}, Body: "choose([]any{condition, a, b})", Example: "if(delay > 15, 'late', 'on time')", Python: "when",
			Doc: "If is a if the condition is true, and b if it is false or null, as CASE of SQL. A nil is the null of the other one's type: If(speed.Lt(0), nil, speed). [Case] has several conditions."},
		{Name: "case", Go: "CaseOf", Free: true, Parameters: values, Body: "choose(values)", Example: "case(delay > 60, 'late', delay > 15, 'soon', 'on time')", Python: "when",
			Doc: "CaseOf is [Case] as a list: pairs of a condition and a value, and the value of all other rows behind them. Hundreds of conditions are one step."},
	}},
	{Operands: "numbers, decimals, times, strings, binaries", Result: "the common type", Null: "all operands are null; null and NaN are skipped", Fuses: notStrings, Functions: []Function{
		{Name: "least", Free: true, Parameters: values, Doc: "Least is the least of the values that are not null.", Call: "expr.Min", Python: "min_horizontal"},
		{Name: "greatest", Free: true, Parameters: values, Doc: "Greatest is the greatest of the values that are not null.", Call: "expr.Max", Python: "max_horizontal"},
	}},
	{Operands: scalars + "; breaks of its kind", Result: "int64", Functions: []Function{
		{Name: "cut", Parameters: params{{Name: "breaks", Type: Operands}}, Body: "e.cut(breaks, Expr.Le)", Example: "cut(delay, 0, 15, 60)", Python: "cut",
			Doc: "Cut is the number of the bin of the value, from 0: bin i ends at break i, which belongs to it, and the last bin has all values above the last break. The breaks ascend; they may be expressions, such as quantiles. NaN is in the last bin."},
		{Name: "cut_left", Parameters: params{{Name: "breaks", Type: Operands}}, Body: "e.cut(breaks, Expr.Lt)", Example: "cut_left(age, 18, 65)", Python: "cut",
			Doc: "CutLeft is [Expr.Cut] with breaks that belong to the bins that begin at them: the number of breaks that are not above the value, width_bucket of PostgreSQL."},
	}},
	{Operands: "numbers, decimals, times", Result: "the common type", Functions: []Function{
		{Name: "clamp", Parameters: params{{Name: "low"}, {Name: "high"}}, Doc: "Clamp is e, or the bound that it lies beyond.",
			Python: "clip(lower_bound: IntoExpr, upper_bound: IntoExpr)", PythonDoc: "The value, or the bound that it lies beyond."},
	}},
}}
