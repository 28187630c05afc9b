// Package rowgroups encodes columns as column chunks of Parquet files, and writes the files.
//
// # Nested columns
//
// A column of lists, maps and structs has a column chunk for each of its leaves. A shredder follows the
// way from the column's arrays to those of a leaf, and divides the rows into entries with levels. Ranges
// of elements are visited, not elements; nulls and empty lists are entries without a value. Elements that
// nothing refers to, such as those of lists that are null, are left out. The values then are encoded as
// those of a flat column. Pages begin with rows. Devices encode flat columns only.
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
// filter if the options name the column. The schema in the footer is that of arrow-go's package pqarrow,
// which is not used: it needs the packages of Arrow Flight.
//
// # Ownership, thread safety
//
// A [Writer] retains the arrays that it gets until they are encoded. Its methods may not be called
// concurrently.
package rowgroups
