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
// On the host, libraries decompress: golang/snappy, pierrec/lz4 and klauspost/compress. A page that
// they refuse has the status [Refused]; kernels name the fault. Kernels do not compare the checksums of
// Gzip, so a page with a wrong one is decompressed on a GPU.
//
// # Kernels
//
// A warp decompresses a page, because the begin of a token depends on all tokens before it. Within
// the page, its lanes share the work:
//
//   - The input is staged in shared memory, 16 bytes a lane, a chunk of 512 bytes ahead.
//   - Tokens of Snappy and LZ4: each lane reads the tokens that would begin at two bytes of the next 64.
//     Four rounds of shuffles find those that are reached from the first, with the places of their
//     output. Codes of Deflate depend on bits: all lanes decode the same symbol, and collect up to
//     1,024 bytes.
//   - Output: a lane writes other bytes of the batch than its own token. It looks up the source of
//     each byte. If that is a byte of the same batch, pointer jumping replaces it by the source of
//     that byte; so the warp waits for memory once for 256 bytes, however the matches overlap.
//   - Copies of more than 64 bytes are apart, with words of 4 bytes.
//
// Every length and distance is checked before it is used.
//
// # Long pages
//
// A warp takes 13 to 27 ms on an H200 for a page of 1 MiB of Snappy, however few pages there are. If
// they are few or long, a block of 16 warps decompresses each page of Snappy and LZ4:
//
//   - Each warp reads the tokens that would begin at 128 of the next 2,048 bytes, and stores for each
//     byte where the tokens from there on leave the 128. The warps then follow the tokens from the first
//     byte in at most 16 steps.
//   - The warps write 4,096 bytes of output together, eight a thread. Pointer jumping in shared memory
//     replaces sources in the same 4,096 bytes. Threads do not wait for each other in it: the old and
//     the new source of a byte are both right.
package decompress
