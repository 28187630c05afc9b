// Package thrift decodes and encodes the compact protocol of Thrift, in which Parquet files have
// their metadata: structs with numbered fields.
//
// A [Decoder] refuses claims that its data cannot have: lists with more elements than bytes,
// structs nested too deep, lengths beyond the end. It allocates nothing for a claim.
package thrift
