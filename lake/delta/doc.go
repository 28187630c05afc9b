// Package delta reads tables of Delta Lake as queries of gpuframe.
//
//	table, err := delta.Open(ctx, "s3://bucket/sales", delta.Options{})
//	revenue := table.Query(gpu).Filter(year.Eq(2026)).GroupBy(city).Agg(price.Sum())
//
// [Open] reads the log of the table: the newest complete checkpoint and the commits behind it. A query reads the Parquet files
// that are part of this version, and leaves out files by their partition values and statistics before it opens them. Rows of
// deletion vectors are dropped on the device.
//
// # What is read
//
// Reader versions 1 to 3, with the features columnMapping (by name and by ID), deletionVectors, timestampNtz, typeWidening,
// v2Checkpoint and vacuumProtocolCheck. A table that needs another feature is refused by its name ([ErrUnsupported]).
//
// A log is trusted like a program's argument: it may name files outside the folder of the table, as clones of tables do.
package delta
