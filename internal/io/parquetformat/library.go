package parquetformat

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrCodec reports pages of a codec that the program does not have.
var ErrCodec = errors.New("the program does not have the compression")

// Library is the compressor and the decompressor of a codec. Programs that need the codec import its package.
type Library struct {
	// NewReader decompresses.
	NewReader func(io.Reader) io.Reader
	// NewWriter compresses at a level, 0 for the usual one.
	NewWriter func(w io.Writer, level int) io.WriteCloser
}

var (
	librariesMu sync.Mutex
	libraries   = map[Codec]Library{}
)

// Register adds the library of a codec.
func Register(c Codec, l Library) {
	librariesMu.Lock()
	defer librariesMu.Unlock()
	libraries[c] = l
}

// LibraryOf returns the library of a codec.
//
// # Errors
//
// An error wraps [ErrCodec].
func LibraryOf(c Codec) (Library, error) {
	librariesMu.Lock()
	defer librariesMu.Unlock()
	l, ok := libraries[c]
	switch {
	case ok:
		return l, nil
	case c == Brotli:
		return l, fmt.Errorf("%v: import _ \"github.com/gpuframe/gpuframe/compression/brotli\": %w", c, ErrCodec)
	}
	return l, fmt.Errorf("%v: %w", c, ErrCodec)
}
