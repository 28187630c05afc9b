// Package pages reads parts of Parquet files that arrow-go does not offer or does not
// check: headers of pages, pages of dictionaries, page indices, and Bloom filters. It decodes columns that
// are no lists and no structs, in a fraction of arrow-go's time.
//
// # Columns
//
// A [Decoder] makes arrays of a column chunk: plain values are converted in one loop, and
// indices of a dictionary are replaced by its values, which were converted before. Rows with
// nulls are decoded without the nulls first, and then moved to their places.
//
// # Files of other writers
//
// arrow-go decodes lists and structs on the host, package chunks on a device by their description, [Nested]. [Schema] changes a footer, and [Rewrite] a column chunk, where it
// refuses what other writers write, or reads it in another way.
//
// # Checks
//
// arrow-go allocates what a page claims: a dictionary up to the greatest index of a page,
// whether the dictionary has it or not, blocks of delta encodings of any length, and text
// of any length. One wrong byte can take gigabytes. [Check] tests these claims, before
// arrow-go decodes a page. It decompresses only the beginnings of pages.
//
// # Ownership, thread safety
//
// Functions keep no argument and may be called at the same time.
package pages
