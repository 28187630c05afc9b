package pages

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// zstdDecoder decodes frames at once, for several goroutines. Without a stream it cannot fail.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, _ := zstd.NewReader(nil)
	return d
})

// openStream returns a reader of the bytes that data decompress to.
func openStream(codec parquetformat.Codec, data []byte) (io.ReadCloser, error) {
	r := bytes.NewReader(data)
	switch codec {
	case parquetformat.Gzip:
		stream, err := gzip.NewReader(r)
		if err != nil {
			return nil, failed(err)
		}
		return stream, nil
	case parquetformat.Zstd:
		stream, err := zstd.NewReader(r)
		if err != nil {
			return nil, failed(err)
		}
		return stream.IOReadCloser(), nil
	}
	library, err := parquetformat.LibraryOf(codec)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(library.NewReader(r)), nil
}

// decode decompresses data into memory of the length that they have then.
func decode(codec parquetformat.Codec, to, data []byte) ([]byte, error) {
	switch codec {
	case parquetformat.Snappy:
		plain, err := snappy.Decode(to, data)
		return plain, failed(err)
	case parquetformat.Zstd:
		plain, err := zstdDecoder().DecodeAll(data, to[:0])
		return plain, failed(err)
	}
	stream, err := openStream(codec, data)
	if err != nil {
		return nil, err
	}
	n, err := io.ReadFull(stream, to)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // the lengths are compared later
	}
	return to[:n], errors.Join(failed(err), stream.Close())
}

// failed is the error of a library about a page.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("decompression failed: %w: %w", err, ErrDamaged)
}
