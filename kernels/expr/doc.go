// Package expr is a small typed language of expressions on the columns of a table.
//
//	late := expr.Col("delay").Gt(expr.Lit(15)).And(expr.Col("distance").Lt(expr.Lit(1000)))
//	columns, err := expr.Evaluate(ctx, table, []expr.Expr{late})
//
// An [Expr] names columns, literals and operations. [Bind] checks it against a schema: it
// resolves names, finds the types and inserts conversions. [Evaluate] and [Project]
// compute a list of expressions together. On a GPU they run one kernel, which is
// generated for the expressions and cached; on the host they run Go loops. Both give the
// same bits, except for Exp, Log, Pow, Sin and Cos, which differ by at most two units in
// the last place.
//
// # Types
//
// Operands of different types are converted to a common type, by the rules of Arrow's
// compute functions:
//
//   - Integers of one sign become the wider type. Integers of both signs become the
//     signed integer that is wider than the unsigned one, int64 at most. An integer and a
//     float become that float type, float32 and float64 become float64.
//   - A decimal and an integer become decimals, a decimal and a float become floats.
//     Decimals of different scales take the larger scale.
//   - Timestamps, times and durations take the finer unit. A date with a timestamp
//     becomes a timestamp, date32 with date64 becomes date64.
//
// These conversions are checked: a value that does not fit, for example a uint64 above
// the largest int64, becomes null. Comparisons of integers and of times need no conversion
// and are exact, also those of uint64 with signed integers and of timestamps of two units.
// Operations that return one of their operands, such as Coalesce, refuse timestamps of which
// the finer type does not hold the coarser: the year 9999 is no timestamp[ns].
//
// A literal made from Go's int or float64 has an open type. It takes the type of the other
// operands if that holds it: int16 + 1 is int16, float32 * 2.5 is float32. An int that does
// not fit takes the smallest type that holds it. A float64 that is compared with decimals is
// the decimal with the same digits: 0.05 is 5 hundredths exactly. A time.Time takes the unit
// of a timestamp or date that it is used with, and a time.Duration the unit of the other
// operand, if the value stays exact. Alone they are int64, float64, timestamp[ns, UTC] and
// duration[ns]. Literals of other Go types, and those of [LitOf], have a fixed type.
//
// # Nulls
//
// A result is null if an operand is null, except for And, Or, IsNull, IsValid, If,
// Coalesce, FillNull, Min, Max and Hash. Integer division by zero, a shift by the width
// or more, and casts, decimals, times and durations that overflow give null; integer
// arithmetic wraps around. No value of the data gives an error.
//
// # Planning
//
// A planner reads an expression with [Expr.Operation], [Expr.Operands], [Expr.Column],
// [Expr.Literal], [Expr.Columns] and [Expr.Walk], finds its type with [Expr.Type], and
// rewrites it with [Expr.Substitute] and [Expr.Conjuncts]. All leave the expression as it
// is. [Expr.String] is the stable text form that plans print. An aggregate or a window function is a
// node of [OfRows], which a planner computes and replaces by a column with a [Substitution].
//
// # Decimals
//
// Decimals are decimal128. This version of arrow-go has no decimals of 32 and 64 bits. Casts to fewer
// digits, to integers and from floats round half away from zero, as in SQL.
package expr
