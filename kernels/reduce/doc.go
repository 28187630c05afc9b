// Package reduce brings the rows of a table down to one: sums, extremes, means,
// counts and the like of columns and expressions.
//
//	late := expr.Col("delay").Gt(expr.Lit(15))
//	result, err := reduce.Table(ctx, table, []reduce.Aggregate{
//		reduce.Mean(expr.Col("delay")).Where(expr.Col("distance").Gt(expr.Lit(1000))),
//		reduce.CountAll().Where(late).As("late"),
//	})
//
// All aggregates of a call are computed in one pass over the rows and, on a GPU, by
// one kernel that was made for them: it evaluates the expressions, applies the
// conditions and reduces. The result is a table of one row on the same device;
// nobody waits for it. [Scalars] brings it to the host.
//
// # Nulls
//
// Nulls are passed over. An aggregate of no values, because there are no rows, all
// are null, or none meets its condition, is null; counts are 0. [Aggregate.Where]
// lets a row count where the condition is true: neither false nor null.
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
//	                             decimal128(p, s)                 the same, half away from zero
//	Variance, StdDev             numbers                          float64
//	Any, All                     bool                             bool
//	ArgMin, ArgMax               as Min and Max                   int64
//
// Columns of all other types, such as strings, lists and dictionaries, can only be
// counted; an index that refers to a null in its dictionary counts as null. Min and
// Max pass over NaN beside numbers, as Arrow's min_max does; of NaN alone they are
// NaN. −0 is less than +0. ArgMin and ArgMax give the number of a row of the table,
// the first one where several have the value; there both zeros are equal, and NaN
// comes after all numbers. A float result that is NaN is always the same one.
//
// A sum of integers, decimals or durations that its type does not hold is null, never
// a wrong number: it is added up in more bits than any number of rows needs, 128 for
// integers and 192 for decimals. Means come from these sums and do not overflow.
// Products of integers wrap around.
//
// # Order and error of float sums
//
// Float sums, products, means and variances are the same, bit for bit, in every
// run, on every GPU and on the host. The order of the additions depends on the
// number of rows n alone: the rows are cut into parts of ⌈n / 2²⁴⌉ · 4,096, of a
// part lane l of 256 adds rows l, l + 256 and so on in float64, neighbouring lanes
// are merged as in a binary tree, the results of the parts go to 256 lanes in turn,
// and these are merged in the same way. A sum's error is at most (n / 2²⁰ + 48) ·
// 2⁻⁵³ times the sum of the magnitudes: a few roundings, however many rows there
// are. Variances come from the distances from a value of each lane, merged by the
// formulas of Chan, Golub and LeVeque (1979), and are as exact where the mean is
// far larger than the spread. A fixed order does not mean that a table's sum is
// that of its parts' sums.
package reduce
