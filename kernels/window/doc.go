// Package window holds operators with a result in each row that depends on the rows around
// it. Cumulative sums, products, minima and maxima, and the filling of nulls with the
// previous or the next value, are of one column:
//
//	totals, err := window.CumulativeSum(ctx, amounts)
//	defer totals.Release()
//
// [Over] computes functions of the rows of a table by partition, order and frame: places,
// values of other rows, and folds. docs/kernels.md has its functions, types and nulls. The
// rest of this text is about the operators of one column.
//
// All of them run on the column's device in one pass, enqueue their work and return.
// On the host device they compute before they return. Results are new columns of the
// input's type, which the caller releases; operators hold the input while they use it.
// All functions are safe for concurrent use.
//
// # Nulls
//
// Nulls follow Arrow's cumulative functions: all rows from the first null on are null.
// With [Options.SkipNulls] only the rows that are null in the input are null, and they
// do not change later rows.
//
// # Numbers
//
// Sums and products of integers, durations and decimals wrap. Floats of 16 or 32 bits
// are folded in 64 bits and each row is rounded from the 64-bit value, so a long sum
// does not lose small values. Minima and maxima skip NaN if there is a number, and
// order −0 before 0. The bits of a NaN result are unspecified.
//
// Float sums and products are reproducible: the order of the folds depends only on the
// row number, and is the same on every device. Rows are divided into tiles, tiles into
// runs of one warp, and these into runs of one lane. Values are folded sequentially
// within a lane, by a Hillis-Steele scan over the lanes of a warp and over 32 tiles,
// and sequentially over warps and over groups of 32 tiles. cuda/cumulative.cuh and
// kernels/include/prefixes.cuh define the exact order.
package window
