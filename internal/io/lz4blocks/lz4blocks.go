// Package lz4blocks gives arrow-go, where programs and tests still read Parquet files with it, the blocks of LZ4 that it lacks: with the
// lengths that Hadoop writes before them, and without.
package lz4blocks

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/pierrec/lz4/v4"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

func init() {
	for _, codec := range []parquetformat.Codec{parquetformat.LZ4, parquetformat.LZ4Raw} {
		compress.RegisterCodec(compress.Compression(codec), blocks{codec})
	}
}

// blocks decodes pages. A codec of arrow-go panics where it fails.
type blocks struct{ codec parquetformat.Codec }

var errOnlyDecoded = errors.New("blocks of LZ4 are only decoded")

func (b blocks) Decode(to, data []byte) []byte {
	decoded, err := pages.DecodeLZ4(b.codec, data, to)
	if err != nil {
		panic(err)
	}
	return decoded
}

func (blocks) NewReader(io.Reader) io.ReadCloser                     { panic(errOnlyDecoded) }
func (blocks) NewWriter(io.Writer) io.WriteCloser                    { panic(errOnlyDecoded) }
func (blocks) NewWriterLevel(io.Writer, int) (io.WriteCloser, error) { return nil, errOnlyDecoded }
func (blocks) Encode(_, _ []byte) []byte                             { panic(errOnlyDecoded) }
func (blocks) EncodeLevel(_, _ []byte, _ int) []byte                 { panic(errOnlyDecoded) }
func (blocks) CompressBound(n int64) int64                           { return int64(lz4.CompressBlockBound(int(n))) }
