// Package group finds the groups of rows with equal values, or with values in the same
// bin, and counts the rows of each.
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
