// Package expr is a small typed language of expressions on the columns of a table.
//
//	late := expr.Col("delay").Gt(expr.Lit(15)).And(expr.Col("distance").Lt(expr.Lit(1000)))
//	columns, err := expr.Evaluate(ctx, table, []expr.Expr{late})
//
// An [Expr] names columns, literals and operations; it is checked when it meets a
// schema, by [Bind], which resolves names, finds the types and inserts conversions.
// [Evaluate] and [Project] run all of a list of expressions at once: on a GPU as one
// kernel whose code was made for them and is kept, on the host by arrow-go's compute
// functions and own loops. Both give the same bits, but for Exp, Log, Pow, Sin and
// Cos, which differ by two units in the last place at most.
//
// # Types
//
// Operands of different types are converted to a common one, as Arrow's compute
// functions do it:
//
//   - Integers of one sign to the wider, of both signs to the signed integer that
//     is wider than the unsigned one, int64 at most. An integer and a float to that
//     float type, float32 and float64 to float64.
//   - A decimal and an integer to decimals, a decimal and a float to the float.
//     Decimals of different scales to the larger scale.
//   - Timestamps, times and durations to the finer unit. A date beside a timestamp
//     becomes a timestamp, date32 beside date64 a date64.
//
// Conversions inserted so are checked: what does not fit, a uint64 above the largest
// int64 say, is null. Comparisons of integers need none and are exact: those of uint64
// with signed integers too.
//
// A literal made of Go's int or float64 has no type of its own and takes that of
// what it stands beside if that can hold it: int16 + 1 is int16, float32 * 2.5 is
// float32. An int that does not fit takes the smallest type that holds it. Likewise
// time.Time takes the unit of a timestamp or date beside it, and time.Duration that
// of what it stands beside, where nothing is lost. Alone they are int64, float64,
// timestamp[ns, UTC] and duration[ns]. Literals of other Go types, and those of
// [LitOf], have their type.
//
// # Nulls
//
// A result is null where an operand is; exceptions are And, Or,
// IsNull, IsValid, If, Coalesce, FillNull, Min, Max and Hash. Integer division by
// zero, a shift by the width or more, and casts and decimals that overflow are
// null; integer arithmetic wraps around. No value of the data gives an error.
//
// # Planning
//
// A planner reads an expression with [Expr.Operation], [Expr.Operands], [Expr.Column],
// [Expr.Literal], [Expr.Columns] and [Expr.Walk], finds its type with [Expr.Type], and
// rewrites it with [Expr.Substitute] and [Expr.Conjuncts]. All leave the expression as it
// is. [Expr.String] is the stable text form that plans print.
//
// Arrow's decimals of 32 and 64 bits do not exist in this version of arrow-go;
// decimal128 is the one that is computed with.
package expr
