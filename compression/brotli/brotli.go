// Package brotli reads and writes Parquet files whose pages are compressed by Brotli, in programs
// that import it:
//
//	import _ "github.com/gpuframe/gpuframe/compression/brotli"
//
// The command, the library of Python and gpuframe-serve have it. Other programs do not get it by
// default, because its library brings net/http with its cryptography, which few files need. Without
// it such a file is an error that names this package.
package brotli

import (
	"io"

	"github.com/andybalholm/brotli"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

func init() {
	parquetformat.Register(parquetformat.Brotli, parquetformat.Library{
		NewReader: func(r io.Reader) io.Reader { return brotli.NewReader(r) },
		NewWriter: func(w io.Writer, level int) io.WriteCloser {
			if level == 0 {
				level = brotli.DefaultCompression
			}
			return brotli.NewWriterLevel(w, level)
		},
	})
}
