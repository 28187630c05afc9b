// Package vector computes on vectors: lists of numbers, usually of one length.
//
//	columns, err := expr.Evaluate(ctx, documents, []expr.Expr{
//		vector.CosineSimilarity(expr.Col("title"), expr.Col("body")),
//		vector.DotProduct(expr.Col("body"), vector.Literal(query)),
//	})
//	near, err := vector.Nearest(ctx, queries, rows, 10, vector.NearestOptions{Metric: vector.L2})
//
// The functions may be called from any goroutine. The caller releases the results.
//
// # Functions
//
// [DotProduct], [CosineSimilarity], [L2Distance] and [Norm] are functions of lists of integers, float32 or float64. The
// result is float64, and elements become float64 first. It is null if a list or an element is null, or if the lists differ in
// length; lists of two fixed sizes are an error. Eight sums start at +0. Element i is added to sum i mod 8: its
// product, rounded, or the rounded square of the rounded difference. Then sums 4 to 7 are added to sums 0 to 3, sums 2 and 3 to
// sums 0 and 1, and sum 1 to sum 0. The cosine divides by the root of the
// product of both Σ xx or, if that product is below 2⁻⁹⁰⁰ or above 2⁹⁰⁰, by the product of their roots. So the results have the
// same bits on every device.
//
// # Nearest rows
//
// [Nearest] finds the k nearest rows of each query exactly, by comparing all pairs; on a GPU k is at most 1,024. Both sides are [Dense]: float32
// numbers of vectors of one length. Rows may come in batches: [Neighbours.Add] merges a further batch into the result.
// The metrics are
//
//	L2      Σ (a−b)², the squared distance; the least is the nearest
//	Cosine  1 − Σ ab / (|a| |b|); the least is the nearest
//	Dot     Σ ab; the greatest is the nearest
//
// All are computed in float32, and every operation is rounded to the nearest float32, ties to even. No multiplication is
// fused with an addition, and subnormal numbers are kept. A sum starts at +0 and adds its terms one by one, from the first
// element to the last. |a| is the square root of Σ aa, which is rounded too. The cosine multiplies |a| by |b|, the query
// first, divides the dot product by this, and subtracts the quotient from 1. So the distances have the same bits on every
// device.
//
// The neighbours of a query are ordered from the nearest one on; −0 equals 0. Of rows as near as each other the one with the
// lower number is first. Null vectors, and pairs whose distance is NaN, are no neighbours: also those of a vector of
// length zero by Cosine. Infinite distances are. If there are fewer than k neighbours, the other indices are −1 and their
// distances NaN.
//
// [Rows.Join] makes a table of the pairs. It reports the square root of the distance for L2.
package vector
