// Package parquetformat is what the footer of a Parquet file says: the schema, the row groups and
// their column chunks. [Read] decodes it, [Encode] writes it, and [Correct] tells which writers had
// statistics that are right.
//
// Package arrow/parquet of arrow-go could do the same. Each program that imports it gets 1.8 MB of
// Thrift's library, net/http and cryptography, which its packages initialise.
package parquetformat
