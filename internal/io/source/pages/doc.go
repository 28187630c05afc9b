// Package pages reads parts of Parquet files that arrow-go does not offer or does not
// check: headers of pages, pages of dictionaries, page indices, and Bloom filters. It decodes columns, in a fraction of
// arrow-go's time.
//
// # Columns
//
// A [Decoder] makes arrays of a column chunk: plain values are converted in one loop, and
// indices of a dictionary are replaced by its values, which were converted before. Rows with
// nulls are decoded without the nulls first, and then moved to their places.
//
// # Lists and structs
//
// [Nested] describes a column of lists and structs by the levels of its leaves. A [NestedDecoder] decodes each leaf like
// a column, with a value for each of its elements, and makes lists and structs of the levels. Package chunks does the same
// on a device.
//
// # Files of other writers
//
// [Schema] changes a footer where arrow-go refuses what other writers write, or reads it in another way.
//
// # Checks
//
// Lengths, levels and indices are compared with the bytes that exist before memory is taken for them: one wrong byte
// can claim gigabytes.
//
// # Ownership, thread safety
//
// Functions keep no argument and may be called at the same time.
package pages
