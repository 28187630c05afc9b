// Package vector computes on vectors: lists of numbers, most of them of one length.
//
//	columns, err := expr.Evaluate(ctx, documents, []expr.Expr{
//		vector.Of(vector.CosineSimilarity, expr.Col("title"), expr.Col("body")),
//	})
//	near, err := vector.Nearest(ctx, queries, rows, 10, vector.NearestOptions{Metric: vector.L2})
//
// # Nearest rows
//
// [Nearest] finds the k nearest rows of each query exactly, by comparing all pairs. Both sides are [Dense]: float32
// numbers, one vector after another. Rows may come in batches: [Neighbours.Add] merges a further batch into the result.
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
package vector
