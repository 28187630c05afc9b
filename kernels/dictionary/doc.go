// Package dictionary finds the distinct values of a column: it encodes columns by
// dictionaries and decodes them, lists the values that occur and counts them.
//
//	encoded, err := dictionary.Encode(ctx, names)     // dictionary<int32, utf8>
//	values, err := dictionary.Unique(ctx, names)      // a table of one column
//	counts, err := dictionary.ValueCounts(ctx, names) // values and counts
//
// # Which values are the same
//
// Values come in the order in which they first occur. Integers, temporal values,
// decimals, strings and binary values are the same if their bits are. Floats, those
// of 16 bits too, are the same if they are equal: both zeros are one value. All NaNs
// are one value. Of values that are the same the first one is kept. Null is one more
// value, and has no code in an encoded column. Booleans, numbers, temporal types,
// decimals, utf8, large utf8, binary, large binary and fixed-size binary are
// supported, and dictionaries of any type by their indices.
//
// Offsets of strings that point outside the data are an error that wraps
// column.ErrInvalid on the host. On a GPU nothing outside the data is read, and the
// result is undefined.
//
// # How
//
// One kernel puts all rows into a hash table in device memory. Its slots hold rows,
// not keys, so keys of every type and length make the same table. The least row of a
// key stays, whatever the order of the threads. Each table has random seeds, so that
// nobody can prepare values that make it slow; results do not depend on them.
//
// Unique reads the first rows from the table. Encode and ValueCounts also rank them
// with a cumulative sum; the ranks are the codes. The table takes 8 bytes for each
// row of the column's capacity while the call runs, codes take 12 more. The host is
// not needed, except that Encode waits once for the length of the dictionary.
package dictionary
