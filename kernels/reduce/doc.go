// Package reduce reduces the rows of a table to one row: sums, extremes, means, counts
// and other aggregates of columns and expressions.
//
//	late := expr.Col("delay").Gt(expr.Lit(15))
//	result, err := reduce.Table(ctx, table, []reduce.Aggregate{
//		reduce.Mean(expr.Col("delay")).Where(expr.Col("distance").Gt(expr.Lit(1000))),
//		reduce.CountAll().Where(late).As("late"),
//	})
//
// All aggregates of a call are computed in one pass over the rows. On a GPU one kernel,
// generated for them, evaluates the expressions, applies the conditions and reduces.
// The result is a table of one row on the same device, which the call does not wait
// for. [Scalars] copies it to the host.
//
// # Nulls
//
// Nulls are skipped. An aggregate without values, because there are no rows, all are
// null, or none meets its condition, is null; counts are 0. [Aggregate.Where] selects
// the rows for which the condition is true, not false or null.
//
// # Types
//
//	Count, CountAll, CountNull   any type                         int64
//	Sum, Product                 signed integers                  int64
//	                             unsigned integers, bool          uint64
//	                             float16 to float64               float64
//	Sum                          decimal128(p, s)                 decimal128(38, s)
//	                             duration                          the same
//	Min, Max                     numbers, decimals, bool, dates,  the same
//	                             times, timestamps, durations
//	Mean                         numbers, bool                    float64
//	                             decimal128(p, s)                 decimal128(p + 4, s + 4)
//	Variance, StdDev             numbers                          float64
//	Any, All                     bool                             bool
//	ArgMin, ArgMax               as Min and Max                   int64
//
// Columns of all other types, such as strings, lists and dictionaries, can only be
// counted. An index that refers to a null in its dictionary counts as null.
//
// Min and Max skip NaN if there are numbers, like Arrow's min_max; otherwise they
// return NaN. −0 is less than +0. ArgMin and ArgMax return the number of the first row
// of the table that has the value. For them both zeros are equal, and NaN is after all
// numbers. All NaN results have the same bits.
//
// A sum of integers, decimals or durations that overflows its type is null, never a
// wrong number: the accumulator has more bits than any number of rows needs, 128 for
// integers and 192 for decimals. Means use these sums. Those of decimals are rounded half
// away from zero; their type has at most 38 digits, as docs/expressions.md
// describes, and a mean of more is null. Products of integers wrap around.
//
// # Order and error of float sums
//
// Float sums, products, means and variances are the same, bit for bit, in every run, on
// every GPU and on the host, because the order of the additions depends only on the
// number of rows n. The rows are divided into parts of ⌈n / 2²⁴⌉ · 4,096. Lane l of 256
// adds rows l, l + 256 and so on of a part in float64, and neighbouring lanes are
// merged as in a binary tree. The results of the parts are distributed to 256 lanes
// round-robin, and these are merged in the same way.
//
// The error of a sum is at most (n / 2²⁰ + 48) · 2⁻⁵³ times the sum of the magnitudes:
// a few roundings for any number of rows. Variances use the deviations from one value
// per lane, merged by the formulas of Chan, Golub and LeVeque (1979), and are as
// accurate if the mean is much larger than the spread.
//
// The sum of a table may differ from the sum of its parts' sums, although the order is
// fixed.
package reduce
