// Package order sorts the rows of tables and answers questions about their order.
//
//	byDelay, err := order.Sort(ctx, flights, []order.Key{
//		{Column: "day"},
//		{Column: "delay", Descending: true},
//	})
//
// [Sort] and [TopK] return tables, [Indices] and [TopIndices] the numbers of their rows,
// [Rank] the place of each row. [Merge] combines sorted tables. [Search] finds the places
// of many rows in a sorted table, [Partition] divides a table into ranges. [IsSorted]
// reports whether a table is sorted. All sorts are stable.
//
// # Order of values
//
// A [Key] can be of every type that has an order: numbers, booleans, decimals, dates,
// times, timestamps, durations, months, strings, binaries, dictionaries of these, and
// structs and lists of these.
//
//   - Numbers and temporal values are ordered by value, false comes before true. −0 and 0
//     are equal. All NaNs are equal, and come after every number.
//   - Strings and binaries are ordered by their bytes, a prefix before the longer one.
//   - Values of dictionaries are ordered by value, not by index.
//   - Structs are ordered by their first field, then by the second one, and so on; lists
//     by their first element, and so on, a prefix before the longer one.
//   - Descending inverts all of this: NaN comes first. It does not move nulls. They come
//     last, or first with NullsFirst, in fields and elements too.
//
// # How it works
//
// Package internal/keys/rowkey encodes the keys of a row as one unsigned number, in the order of
// the rows, the first key in the highest bits. Integer keys of more than 64 bits together
// keep only the bits between the least and the greatest value, which a pass finds. Strings,
// lists and longer keys are refined: only the rows of equal words are sorted by the next
// word, after the bytes that all strings of a run share.
//
// On a GPU package internal/keys/radix sorts the words by digits of eight bits. The device skips
// digits that all keys share. Of many rows it sorts only the leading digits that distinguish
// most rows, and orders the short runs that are left. Up to 4,096 rows take one kernel.
//
//	table                                             travels with the key   gathered at the end
//	only the key                                      nothing                nothing
//	a key of 4 or 8 bytes and one such column         the column             nothing
//	keys in one word and at most one small column     the column             nothing
//	all others                                        row numbers            the other columns
//
// A single key of 4 or 8 bytes without nulls is encoded by the first pass and decoded by the
// last one. Zeros and NaNs, which are equal as keys, are restored from the input.
//
// TopK by numbers takes a sample, which gives a key that somewhat more than k rows do not
// exceed. One pass gathers these rows, and a radix select finds the first k. If the sample
// misleads, the same kernels read all rows. Search encodes both tables with one plan. A block
// copies the words between its least and greatest value to shared memory if they fit, and
// otherwise searches among samples first. Merge merges pairs of tables by such searches.
// The host sorts the same words with a parallel radix sort.
//
// No step waits for the host, except that strings, lists and keys of more than 64 bits wait
// once for each word to learn how many rows are left.
//
// # Estimates
//
// kernels.EstimateOf takes all operators. Estimates of [Sort], [SortColumn], [Indices],
// [Rank], [TopKColumn], [Search] and [IsSorted] are exact; those of [TopK], [TopIndices],
// [Merge] and [Partition] are upper bounds. An operator has no estimate, and returns an error
// that wraps device.ErrNotSupported, if its memory depends on the values: keys that are expressions,
// dictionaries or lists, on a GPU also sorts by strings and by keys of more than 64 bits; or if only the
// device knows the number of rows of tables to merge or to search in.
//
// # Devices
//
// The operators run on the device that holds the rows. The host device gives the same
// results. Row counts that only the device knows stay there, except in [Merge], [Search]
// and [Partition]. The caller releases the results. All functions may be called from any
// goroutine.
package order
