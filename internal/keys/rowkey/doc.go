// Package rowkey encodes the keys of rows as unsigned integers with the order of the
// rows. It is the one definition of that order, for the host and for kernels.
//
//	sources, err := rowkey.Sources(keys)   // structs become their fields
//	plan := rowkey.NewPlan(sources)        // bits and place of each value
//	host, err := rowkey.NewHost(plan)      // or the kernels of a GPU
//	host.Encode(0, 0, rowkey.Range(0, n), words)
//
// # Order of values
//
// Integers, booleans, decimals and temporal values are ordered by value. −0 equals 0,
// all NaNs are equal and come after every number. Strings and binaries are ordered by
// their bytes, a prefix before what it is a prefix of. Values of dictionaries are
// ordered by value. Structs are ordered field by field, lists element by element.
// Descending inverts this order. The place of nulls is independent of it, at every level
// of nesting.
//
// # Words
//
// A [Plan] has segments. The pieces of a segment are packed without gaps, the first one
// in the most significant bits. A segment of at most 32 bits is a uint32 for each row, of
// at most 64 bits a uint64, a longer one several uint64, the most significant first. The
// used bits of each word are its low ones. The order of rows is the order of the words of
// the first segment; rows with equal words are ordered by the segment's [Tail], the rest
// of a string or list; rows that are still equal by the next segment.
//
// The value bits of a null are zero. Strings and lists are read with offsets clamped to
// their data, so that unchecked offsets give some order and no fault.
package rowkey
