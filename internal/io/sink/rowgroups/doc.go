// Package rowgroups encodes columns as column chunks of Parquet files, and writes the files. Columns are
// flat: no lists, no structs.
//
// # Encodings
//
// The rows of a row group are divided into pages, and each column chunk has that of these
// encodings that takes the fewest bytes before the compression:
//
//   - a dictionary of at most 1 MiB, if a value occurs twice on average: its values are sorted, and a
//     page has their indices in a single run;
//   - DELTA_BINARY_PACKED for integers, in blocks of 128 in four parts;
//   - DELTA_LENGTH_BYTE_ARRAY for text: the characters of a page are those of the column, in one piece;
//   - PLAIN.
//
// The encoding is a function of the values alone. So each executor writes the same bytes.
//
// # Files
//
// Pages are compressed by all processors, while the next row group is encoded, and written in order. A
// column chunk that compression does not make smaller stays without. Every page has a checksum. Every
// column chunk has statistics, an offset index, and a column index, if each page has bounds; a Bloom
// filter if the options name the column. The schema in the footer is that of arrow-go's writer.
//
// # Ownership, thread safety
//
// A [Writer] retains the arrays that it gets until they are encoded. Its methods may not be called
// concurrently.
package rowgroups
