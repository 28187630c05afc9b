// Package decompress decompresses many pages of Parquet files on a device, in one launch.
//
//	pages := []decompress.Page{{Source: 0, Target: 0, Compressed: 700, Length: 4096}, …}
//	err := decompress.Launch(&call, decompress.Snappy, decompress.Batch{Pages: words, Size: decompress.Measure(pages), …})
//	… // download Batch.Status with other results, and report Status.Error
//
// # Codecs
//
// The formats are those of "Snappy compressed format description" (format_description.txt of
// google/snappy), "LZ4 Block Format Description" (lz4/lz4), RFC 1951 (Deflate) and RFC 1952
// (Gzip). The page's header in the Parquet file has the length of its output.
//
// On the host, libraries decompress: golang/snappy, pierrec/lz4.
package decompress
