// Package window holds the operators that give each row what the rows up to it have:
// cumulative sums, products, minima and maxima, and the filling of nulls with the
// last or the next value.
//
//	totals, err := window.CumulativeSum(ctx, amounts)
//	defer totals.Release()
//
// All run on the device that holds the column, in one pass over it, enqueue their
// work and return. On the host device they compute before they return. Results are
// new columns, of the type of the input, which the caller releases; the input is
// held while it is used. All functions may be called from any goroutine.
//
// # Nulls
//
// As Arrow's cumulative functions have it: from the first null on all rows are null,
// or, with [Options.SkipNulls], the rows that are null in the input are, and count
// for nothing.
//
// # Numbers
//
// Sums and products of integers, durations and decimals wrap. A 16 or 32 bit float
// is folded in 64 bits and each row rounded from there, so that a long sum does not
// lose the small values. Minima and maxima pass over NaN while there is a number,
// and put −0 below 0. A NaN result is some NaN.
//
// Float sums and products are reproducible: the order in which values are folded
// depends on the number of the row alone, and is the same on every device. Rows are
// cut into tiles, these into runs of one warp each, and these into runs of one lane
// each. In a lane values are folded one after another, over the lanes of a warp and over
// 32 tiles as Hillis and Steele do, and over warps and groups of 32 tiles one after
// another. cuda/cumulative.cuh and kernels/include/prefixes.cuh have it to the letter.
package window
