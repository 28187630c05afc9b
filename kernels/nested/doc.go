// Package nested computes on lists, maps and structs: it makes rows of the elements of
// lists ([Explode]), and has functions of lists, maps and structs for expressions.
//
//	rows, err := nested.Explode(ctx, orders, []string{"items"}, nested.ExplodeOptions{Position: "line"})
//	columns, err := expr.Evaluate(ctx, orders, []expr.Expr{
//		nested.Length(expr.Col("items")),
//		nested.Fold(expr.Col("prices"), nested.Sum).Gt(expr.Lit(100)),
//	})
//
// # Types
//
// Lists are lists with 4- and 8-byte offsets, list views, lists of a fixed size and maps. A
// column may have up to 2³²−2 elements in memory; more are an error that wraps
// device.ErrNotSupported. A list that reaches beyond the elements, which no producer of valid
// data makes, counts as empty.
//
// # How it works
//
// One kernel finds the place of the first element and the number of elements of each list,
// a cumulative sum gives the ends, and the host waits for the last of them. One kernel then
// writes, for each element, the number of its row and its place; package selection gathers
// by these. Expressions on elements ([Eval], [Filter]) are evaluated on a table of the elements and of
// the repeated values of the rows, and get offsets again. Folds take one thread for each list, from its first element to its last, so sums
// of floats have the same bits on every device.
package nested
