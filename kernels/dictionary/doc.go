// Package dictionary encodes columns by dictionaries and decodes them.
//
//	encoded, err := dictionary.Encode(ctx, names)   // dictionary<int32, utf8>
//	decoded, err := dictionary.Decode(ctx, encoded) // utf8
//
// Package group lists the distinct values of a column and counts them. Its
// documentation defines which values are equal.
//
// # Memory
//
// Encode needs 12 bytes for each row while it runs, and a copy of the values. Its result
// takes 4 bytes for each row of the column's capacity, and a dictionary of the size of
// the distinct values. An estimate is an upper bound.
//
// # Unique dictionaries
//
// The dictionary of an encoded column is known to be unique, so that operators may
// compare codes. The dictionary of any other column may have equal values; whether it
// does is unknown until something finds out: an upload checks dictionaries that have
// few values for their rows, if values of the type are equal exactly if their bytes are. For
// floats (0 and −0 are equal and differ in their bits) and nested values it stays
// unknown, and operators compare the values of floats and refuse nested ones.
package dictionary
