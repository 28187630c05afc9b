// Package window holds operators with a result in each row that depends on the rows around
// it. Cumulative sums, products, minima and maxima, and the filling of nulls with the
// previous or the next value, are of one column:
//
//	totals, err := window.CumulativeSum(ctx, amounts)
//	defer totals.Release()
//
// [Over] computes functions of the rows of a table by partition, order and frame: places,
// values of other rows, and folds.
//
// # Functions of windows
//
//	RowNumber, Rank, DenseRank, Tile       –                     int64, from 1
//	PercentRank, CumulativeDistribution    –                     float64
//	Lag, Lead, First, Last, Nth            all types             the same
//	Sum                                    integers              int64, uint64; null on overflow
//	                                       floats, durations     float64, the same
//	Product                                integers, floats      int64, uint64 (wrap), float64
//	BitOr, BitXor                          integers             the same
//	Mean, Variance, StdDev                 integers, floats      float64
//	Sum, Mean                              decimals              of 38 digits, of four more digits
//	Median, Quantile                       integers, floats      float64
//	Min, Max                               types with an order   the same
//	Count, CountAll                        all types             int64
//	CountDistinct                          types with an order   int64
//	Mode                                   types with an order   the same
//	ExponentialMean                        integers, floats      float64
//	ExponentialMeanBy                      also decimals         float64
//
// Nulls are skipped, and a function without values is null; counts are not. Lag, Lead, First,
// Last and Nth take rows with nulls too, unless SkipNulls is set. AtLeast sets the number of
// values below which a result is null. NaN is a minimum only if there is no number, and comes
// after all numbers in a quantile. Other types are an error that names the function.
//
// A function without a frame is of the whole partition. Rows(low, high) is relative to the
// current row, without a limit with [FirstRow] and [LastRow]. Range(low, high) takes the rows
// with a key from low below to high above that of the current row, in the direction of the
// order, by one key of numbers or times; a row with a null or NaN key has its peers.
//
// # How Over works
//
// Row numbers are sorted by all keys, unless the table is in order, which the kernel that
// compares neighbouring keys finds. Kernels read values through the row numbers and write
// results to the places of the rows, so no values move. For every 32 rows 16 bytes have the
// heads of partitions and those around them (cuda/heads.cuh).
//
// A frame is folded in runs of powers of two: 100 rows are 4, 32 and 64. A block doubles the
// runs of 2,048 rows in shared memory, sums and extremes of up to 256 rows in registers
// (cuda/slide.cuh, cuda/extremes.cuh); longer frames take a kernel for each bit of the
// length. The result depends only on the values in the frame. Frames from the first row of
// the partition are scanned in tiles, so sums of floats there depend on the place of the row
// in the table. Quantiles of frames that fit a block are found in a wavelet matrix of the
// ranks of its values, in a time that does not depend on the length. Sums of decimals are
// four folds of integers, one for each word of 32 bits, and means count the values too: 36 or
// 44 bytes of scratch memory for each row. CountDistinct and Mode are computed on the host, by the
// frequencies of values in a frame whose ends move from row to row.
//
// [FramesOf] returns the rows of the frames, for functions that are not in the table.
//
// # Operators of one column
//
// They run on the column's device in one pass, enqueue their work and return.
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
