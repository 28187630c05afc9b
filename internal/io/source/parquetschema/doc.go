// Package parquetschema gives the columns of a Parquet file as fields of Arrow, with the levels that values, lists and
// structs have in the file.
//
// # Types
//
// The types are those of arrow-go's package pqarrow, which the tests compare, without its dependencies: it imports the
// functions of Arrow and gRPC. JSON and enumerations are text, as the format defines them, and in arrow-go bytes. Lists have two or three levels in files, or are a repeated column alone. A schema that
// the writer stored in the metadata restores what Parquet has no types for: dictionaries, offsets of 64 bits, time
// zones, durations, lists of a fixed size.
//
// # Ownership, thread safety
//
// Functions keep no argument and may be called at the same time. Fields must not be changed.
package parquetschema
