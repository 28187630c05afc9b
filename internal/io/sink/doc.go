// Package sink writes tables to files: Parquet, CSV, JSON lines and Arrow IPC.
//
//	written, err := sink.ToPath(ctx, "sales.parquet", sink.Parquet(sink.ParquetOptions{}), reader)
//
// The tables of a reader are copied to the host and encoded as they come; the next table
// is read meanwhile. Records of CSV and JSON are encoded in parallel. Package chunks encodes flat columns of
// Parquet, those of a GPU's tables with its kernels.
//
// A path is written under a temporary name in its folder and renamed at the end: a failed
// write leaves no file, and an existing one as it was. The URL of an object is sent by parts
// and appears with the last request: a failed write leaves no object, unless the store has
// made it and the answer of that request was lost.
//
// [ToFolder] divides rows among files of a folder, by the values of columns and by length. Rows are divided on the host
// (partitions.go, gather.go), a bounded number of files is open (folder_writer.go), and the files become visible together
// (target_local.go, target_objects.go).
//
// # Errors
//
// Every error is an [*Error]. A column of a type that the format cannot hold gives an
// error that wraps [ErrUnsupported], before anything is written.
package sink
