// Package decompress decompresses many pages of Parquet files on a device, in one launch.
//
//	pages := []decompress.Page{{Source: 0, Target: 0, Compressed: 700, Length: 4096}, …}
//	err := decompress.Launch(&call, decompress.Snappy, decompress.Batch{Pages: words, Size: decompress.Measure(pages), …})
//	… // download Batch.Status with other results, and report Status.Error
//
// # Codecs
//
// The formats are those of "Snappy compressed format description" (format_description.txt of
// google/snappy), "LZ4 Block Format Description" (lz4/lz4), RFC 1951 (Deflate), RFC 1952
// (Gzip) and RFC 8878 (Zstandard). The page's header in the Parquet file has the length of its output.
//
// On the host, libraries decompress: golang/snappy, pierrec/lz4 and klauspost/compress. A page that
// they refuse has the status [Refused]; kernels name the fault. Kernels do not compare the checksums of
// Gzip, so a page with a wrong one is decompressed on a GPU. Those of Zstandard are never compared.
// Dictionaries of Zstandard have the status [Dictionary].
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
// # Zstandard
//
// A page of Zstandard has frames of blocks of at most 128 KiB. Only their headers and the copies
// depend on the blocks before. So several kernels decompress all pages:
//
//   - A thread for each page lists its blocks and reserves memory for their literals and sequences.
//     A block that uses the codes of earlier blocks gets the places of their descriptions.
//   - Warps build the codes in shared memory and decode: 8 blocks a warp. A lane decodes one of the 4
//     streams of literals, by a table of 11 bits. The 4 lanes of a block decode the same sequences, with
//     three tables of states, from windows of 64 bits.
//   - Four warps for each page look up recent distances that come from earlier blocks, and write up to
//     128 sequences and 1,024 bytes together, like the tokens of Snappy.
//
// The memory is twice to three times the output: see [Scratch]. If the budget is too small, or the
// sequences of a page produce less than 6 bytes each, a warp decompresses the page block by block. It
// decodes the literals to the end of the output, and moves them from there.
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
