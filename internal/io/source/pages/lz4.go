package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/pierrec/lz4/v4"
)

// LZ4Raw is the compression by blocks of LZ4, which arrow-go v17 has no name for.
const LZ4Raw compress.Compression = 7

// arrow-go, which other packages read files with, gets the codecs that it does not have.
func init() {
	for _, codec := range []compress.Compression{compress.Codecs.Lz4, LZ4Raw} {
		if _, err := compress.GetCodec(codec); err != nil {
			compress.RegisterCodec(codec, lz4Codec{codec})
		}
	}
}

// lz4Codec decodes pages for arrow-go, which panics of errors of a codec, too.
type lz4Codec struct{ codec compress.Compression }

func (c lz4Codec) Decode(to, data []byte) []byte {
	decoded, err := decodeLZ4(c.codec, data, to)
	if err != nil {
		panic(err)
	}
	return decoded
}

// NewReader implements [compress.Codec]. Blocks are not streams.
func (c lz4Codec) NewReader(io.Reader) io.ReadCloser { panic(errOnlyDecoded) }

// NewWriter implements [compress.Codec].
func (c lz4Codec) NewWriter(io.Writer) io.WriteCloser { panic(errOnlyDecoded) }

// NewWriterLevel implements [compress.Codec].
func (c lz4Codec) NewWriterLevel(io.Writer, int) (io.WriteCloser, error) { return nil, errOnlyDecoded }

// Encode implements [compress.Codec].
func (c lz4Codec) Encode(_, _ []byte) []byte { panic(errOnlyDecoded) }

// EncodeLevel implements [compress.Codec].
func (c lz4Codec) EncodeLevel(_, _ []byte, _ int) []byte { panic(errOnlyDecoded) }

// CompressBound implements [compress.Codec].
func (c lz4Codec) CompressBound(n int64) int64 { return int64(lz4.CompressBlockBound(int(n))) }

var errOnlyDecoded = errors.New("LZ4 of Parquet is only decoded, in blocks")

// mostLZ4 is the number of bytes that a byte of LZ4 stands for at most.
const mostLZ4 = 255

// decodeLZ4 decompresses a page into memory of its length, which is mostLZ4 times that of the data
// at most.
func decodeLZ4(codec compress.Compression, data, to []byte) ([]byte, error) {
	if codec == compress.Codecs.Lz4 {
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
