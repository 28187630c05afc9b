// Package group finds the groups of rows with equal values, or with values in the same
// bin, and aggregates the rows of each.
//
//	late, err := group.By(flights, group.Columns("carrier", "month")...).
//		Where(expr.Col("cancelled").Eq(expr.Lit(false))).
//		Aggregate(ctx, []group.Aggregate{
//			group.Mean(expr.Col("delay")).As("mean"),
//			group.Quantile(expr.Col("delay"), 0.9),
//			group.CountAll().Where(expr.Col("delay").Gt(expr.Lit(15))).As("late"),
//		}, group.ByOptions{Order: group.ByKey})
//
// [Query.Transform] adds the results to the rows, [Query.Pivot] makes a column for each of
// some values. [Query.Partial] and [Merge] aggregate a table in parts, and [Combine] makes
// one part of several. Functions of one column:
//
//	values, err := group.Unique(ctx, names)      // a table of one column
//	counts, err := group.ValueCounts(ctx, names) // the values and their counts
//	bins, err := group.Histogram(ctx, delays, group.HistogramOptions{Bins: 60, Low: 0, High: 120})
//	digits, err := group.CountIntegers(ctx, codes, 0, 10)
//
// The operators run on the device that holds the column. On a GPU they enqueue their
// work and return without waiting for it; results stay on the device. On the host
// device they compute before they return, with the same results. The caller releases
// the results. All functions may be called from any goroutine.
//
// # Keys
//
// A [Key] is a column, an expression, or a column of its own. It has the types of
// [Unique], or is a struct or lists of these. Values are equal as for Unique: null is one value, or
// rows with a null key are dropped. Lists are replaced by their ranks, which takes a sort of the rows;
// their elements may be null, and equal each other then.
//
// # Aggregates
//
// Nulls are skipped, except by First, Last and Collect without [Aggregate.SkipNulls], and
// [Aggregate.Where] selects rows. An aggregate without values is null; counts are 0 and lists
// empty. The types are those of package reduce, and:
//
//	Sum, Product, Mean, Count, …    as in package reduce; no products of floats
//	Sum, Mean                       lists of floats of one length       list of float64
//	BitOr, BitXor                   integers                            the same
//	Min, Max                        any type with an order              the same
//	First, Last, AnyValue           any type                            the same
//	Mode                            types of keys                       the same
//	Variance, StdDev, Skewness,     numbers                             float64
//	Kurtosis, KurtosisPop,
//	Covariance, Correlation
//	Median, Quantile                numbers, decimals                   float64
//	CountDistinct                   types of keys, also several         int64
//	Collect                         any type                            list
//	Join                            utf8                                the same
//	Largest, Smallest               any type with an order              list
//	Fold                            any type that its Folding takes     that of its Folding
//
// Min and Max skip NaN if there are numbers, and −0 is less than 0. ArgMin and ArgMax
// return row numbers of the table, counted from ByOptions.FirstRow. Decimals of 256 bits have
// no sums, means and products, and lists are no keys: the error wraps
// device.ErrNotSupported. A sum of integers or decimals, and a mean of
// decimals, that overflows its type is null. Results are the same on every device, bit for bit.
//
// # Sums of floats
//
// The sum of a group depends only on its values: not on their order, the device, or how
// the rows were divided into parts. The values are added as integers in fixed point, in
// words of 64 bits at fixed exponents, of which a group keeps the four that begin with its
// largest exponent. A sum of n values differs from the exact sum by less than n·2⁻⁸⁰ times
// the largest magnitude, before it is rounded to float64 once. Up to 2³⁵ values of a group
// can be added. Variances and other moments use such sums of powers, with a word more, and
// combine them with some 100 bits: if the mean is a billion times the spread, twelve digits
// of a variance are left, and equal values have the variance 0. The third and the fourth power lose more: at a
// million times the spread six digits of a kurtosis are left.
// Powers beyond the range of float64 give infinities or NaN.
//
// # Sums of vectors
//
// Lists of floats of one length are vectors. Their sum has the sum of each element, to the bit that of a column of
// such elements, and merges like it. A vector that is null or has a null element is skipped, as functions of package vector
// have no value for it. Vectors of different lengths give an error that wraps device.ErrInvalidValue. A group and an element
// have a state of 48 bytes. A GPU sorts the numbers of the rows by group and adds the rows of a chunk in registers, a thread for
// each element (vectors.cu); it waits for the length of lists without a fixed size.
//
// # How groups are found
//
// The first strategy that applies is taken (choose.go has their table, tuning.go the limits). Facts are measured on the
// device: the ranges of integer keys, the bounds of short strings, and an estimate of the number of groups (a HyperLogLog
// sketch of 2,048 registers, made by the pass that finds the range). Columns remember them, so only the first call by a
// key waits. Of filtered rows, the ranges are those of the table before the filter if it has up to 2²² rows and its keys
// up to 1,024 combinations; otherwise they are measured after the filter, in each call.
//
//	strategy          applies to                                             file
//	one launch        up to 4,096 rows, at most four keys of numbers and     aggregate_few.go
//	                  twelve aggregates made of states
//	dense keys        up to four integers of small ranges, and constants:    dense.go
//	                  the place of a row among all combinations is its group
//	partitions        up to 2²⁸ places, four for each row: rows move to      partition.go
//	                  partitions of some thousand places, and a block adds
//	                  up each in shared memory; rows that are sorted by the
//	                  only key stay where they are (partition_sorted.go)
//	hashes            one key of any range with many groups: the same, by    partition_hash.go
//	                  the first bits of a hash
//	one group         constants, on the host                                 dense.go
//	numbers           everything else: each row gets the number of its       numbering.go
//	                  group, from a hash table or a table of places;
//	                  several keys are packed into one word before
//
// Strings of up to 16 bytes become numbers by their bounds, without a hash table (texts.go).
// Integers in a range below 2²⁰ are found in a table with a place for each. The host and calls
// with MaxGroups do not measure ranges. Partitions of which a table is too small, or the memory exceeds the budget, are
// followed by numbers.
//
// # How rows are added
//
// A state is a few words of 64 bits that begin as zero. Each change is an integer operation
// that commutes, so the order of the threads has no effect.
//
//	strategy          applies to                                             file
//	tiles             the slots of all groups fit shared memory, in up to    tiles.cu,
//	                  eight slices; expressions are computed in the same     tile_columns.cu,
//	                  kernel                                                 tile_values.cu
//	records           some hundred thousand groups: a record of up to 64     records.cu
//	                  bytes for each, which stays in the L2 cache
//	partitions        the groups of the partitions above                     partition_groups.cu
//	slots             all others: frequent groups have slots in shared       accumulate.cu
//	                  memory, the others change global memory
//
// Sums of floats take one pass if a window of 94 bits, which a sample chooses, holds the
// values. Values outside it are listed, at most one in 256 rows, and otherwise a second pass
// finds the exponents first. Moments of integers are sums of integers; products of floats
// take two passes (tile_powers.cu).
//
// # How values of groups are found
//
//	strategy         applies to                                             file
//	tops             up to eight largest or smallest numbers of each group  tops.go
//	selection        quantiles of many numbers of each group                quantile.go
//	sorted values    all others: rows are sorted by group and value         ordered.go
//
// Equal values with different bits, such as −0 and 0, are sorted too, if they may be in the result.
//
// If a budget is too small for all rows together, Aggregate reads the rows in chunks and
// merges their partial results, and divides the groups by a hash if their states do not fit
// (divide.go). The sums stay the same, bit for bit. docs/measurements has the figures that
// chose these strategies.
//
// # Equal values
//
// [Unique] and [ValueCounts] list values in the order of their first occurrence.
// Integers, temporal values, decimals, strings and binary values are equal if their
// bits are. Floats, including those of 16 bits, are equal if they compare equal, so
// both zeros are one value. All NaNs are one value. Of equal values the first is kept.
// Null is one more value. Booleans, numbers, temporal types, decimals, utf8, large
// utf8, binary, large binary and fixed-size binary are supported. Columns encoded by a
// dictionary are compared by the values that their indices stand for, so the values of
// the dictionary must be of one of these types.
//
// Offsets of strings that point outside the data give an error that wraps
// column.ErrInvalid on the host. On a GPU nothing outside the data is read, and the
// result is undefined.
//
// # Memory
//
// [Unique] and [ValueCounts] need a hash table while they run: 8 bytes for each value
// that there can be. That is one for each row of the column's capacity, but at most 2
// for bool, 256 and 65,536 for types of one and two bytes, and the length of a
// dictionary. ValueCounts needs 4 bytes more for each row.
//
// On a GPU their results have room for as many values and null, because the number of
// values is on the device and an operator does not wait for it. ValueCounts adds 8 bytes
// for each. selection.Compact waits for the number and copies the values to memory of
// their size.
package group
