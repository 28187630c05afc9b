package rowgroups

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// compressor compresses a page. It is not safe for concurrent use. It returns the memory of to if that suffices.
type compressor func(to, data []byte) ([]byte, error)

// newCompressor returns a compressor of a codec. Level 0 is the usual one.
func newCompressor(codec parquetformat.Codec, level int) (compressor, error) {
	switch codec {
	case parquetformat.Uncompressed:
		return nil, nil
	case parquetformat.Snappy:
		return func(to, data []byte) ([]byte, error) { return s2.EncodeSnappy(to[:cap(to)], data), nil }, nil
	case parquetformat.Zstd:
		speed := zstd.SpeedFastest
		if level != 0 {
			speed = zstd.EncoderLevelFromZstd(level)
		}
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(speed), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
		if err != nil {
			return nil, err
		}
		return func(to, data []byte) ([]byte, error) { return encoder.EncodeAll(data, to[:0]), nil }, nil
	case parquetformat.Gzip:
		return compressGzip(level)
	case parquetformat.LZ4Raw:
		return compressLZ4, nil
	}
	library, err := parquetformat.LibraryOf(codec)
	if err != nil {
		return nil, err
	}
	return streamed(func(to io.Writer) io.WriteCloser { return library.NewWriter(to, level) }), nil
}

func compressGzip(level int) (compressor, error) {
	if level == 0 {
		level = gzip.DefaultCompression
	}
	writer, err := gzip.NewWriterLevel(nil, level)
	return streamed(func(to io.Writer) io.WriteCloser {
		writer.Reset(to)
		return writer
	}), err
}

// streamed compresses pages by a writer for each.
func streamed(open func(io.Writer) io.WriteCloser) compressor {
	return func(to, data []byte) ([]byte, error) {
		page := bytes.NewBuffer(to[:0])
		w := open(page)
		_, err := w.Write(data)
		err = errors.Join(err, w.Close())
		return page.Bytes(), err
	}
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
