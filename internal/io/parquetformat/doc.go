// Package parquetformat reads and writes the footers of Parquet files: the schema, the row groups and
// the column chunks. [Read] decodes a footer, [Encode] writes it, and [Correct] reports whether the
// statistics of a writer are right.
//
// Package arrow/parquet of arrow-go could do the same. Each program that imports it gets 1.8 MB of
// Thrift's library, net/http and cryptography, which its packages initialise.
package parquetformat
