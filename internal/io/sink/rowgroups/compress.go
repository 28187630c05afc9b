package rowgroups

import (
	"fmt"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// compressor compresses a page. It is not safe for concurrent use. It returns the memory of to if that suffices.
type compressor func(to, data []byte) ([]byte, error)

// newCompressor returns a compressor of a codec. Level 0 is the usual one.
func newCompressor(codec compress.Compression, level int) (compressor, error) {
	switch codec {
	case compress.Codecs.Uncompressed:
		return nil, nil
	case compress.Codecs.Snappy:
		return func(to, data []byte) ([]byte, error) { return s2.EncodeSnappy(to[:cap(to)], data), nil }, nil
	case compress.Codecs.Zstd:
		speed := zstd.SpeedFastest
		if level != 0 {
			speed = zstd.EncoderLevelFromZstd(level)
		}
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(speed), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
		if err != nil {
			return nil, err
		}
		return func(to, data []byte) ([]byte, error) { return encoder.EncodeAll(data, to[:0]), nil }, nil
	case pages.LZ4Raw:
		return compressLZ4, nil
	}
	encoder, err := compress.GetCodec(codec)
	if err != nil {
		return nil, err
	}
	if level == 0 {
		level = compress.DefaultCompressionLevel
	}
	return func(to, data []byte) ([]byte, error) { return encoder.EncodeLevel(to[:0], data, level), nil }, nil
}

func compressLZ4(to, data []byte) ([]byte, error) {
	to = resized(to, lz4.CompressBlockBound(len(data)))
	var c lz4.Compressor
	n, err := c.CompressBlock(data, to)
	if err == nil && n == 0 && len(data) > 0 {
		err = fmt.Errorf("a page of %d bytes is not compressed", len(data))
	}
	return to[:n], err
}
