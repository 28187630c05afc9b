package pages

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// mostLZ4 is the number of bytes that a byte of LZ4 stands for at most.
const mostLZ4 = 255

// DecodeLZ4 decompresses a page of [parquetformat.LZ4] or [parquetformat.LZ4Raw] into memory of its length, which is mostLZ4 times
// that of the data at most. The result is a part of this memory.
//
// # Errors
//
// An error wraps [ErrDamaged].
func DecodeLZ4(codec parquetformat.Codec, data, to []byte) ([]byte, error) {
	if codec == parquetformat.LZ4 {
		if n, ok := decodeHadoop(data, to); ok {
			return to[:n], nil
		}
		if frame := lz4.NewReader(bytes.NewReader(data)); bytes.HasPrefix(data, []byte{0x04, 0x22, 0x4d, 0x18}) {
			n, err := io.ReadFull(frame, to)
			return to[:n], failedLZ4(err)
		}
	}
	n, err := lz4.UncompressBlock(data, to)
	return to[:max(n, 0)], failedLZ4(err)
}

func failedLZ4(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("decompression of LZ4 failed: %w: %w", err, ErrDamaged)
}

// decodeHadoop decompresses blocks that each follow their lengths without and with compression, as
// Hadoop writes them. It reports whether the data are such blocks.
func decodeHadoop(data, to []byte) (n int, ok bool) {
	const lengths = 8
	for len(data) > 0 {
		if len(data) < lengths {
			return 0, false
		}
		length, compressed := uint64(binary.BigEndian.Uint32(data)), uint64(binary.BigEndian.Uint32(data[4:]))
		data = data[lengths:]
		if compressed > uint64(len(data)) || length > uint64(len(to)-n) {
			return 0, false
		}
		decoded, err := lz4.UncompressBlock(data[:compressed], to[n:n+int(length)])
		if err != nil || decoded != int(length) {
			return 0, false
		}
		data, n = data[compressed:], n+decoded
	}
	return n, n == len(to)
}
