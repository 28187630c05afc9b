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
// decimals, strings and binary values are the same where their bits are; floats
// where they are equal, so that both zeros are one value, and all NaNs are one,
// too. Of those that are the same the first one is kept. Null is one more value,
// and has no code where a column is encoded. Booleans, numbers, temporal types,
// decimals, utf8, large utf8, binary, large binary and fixed-size binary are
// handled, and dictionaries of any type by their indices. A dictionary that holds a
// value twice gives it twice here.
//
// # How
//
// One kernel puts all rows into a hash table in device memory whose slots hold
// rows rather than keys, so that keys of every type and length make the same table;
// the least row of a key stays, whatever the order of the threads. A further pass
// marks first occurrences, a cumulative sum ranks them, and the ranks are the
// codes. The table takes 8 to 16 bytes a row while that runs and nothing needs the
// host, except that Encode waits once for the length of the dictionary.
package dictionary
