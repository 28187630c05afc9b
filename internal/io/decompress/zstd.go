package decompress

import (
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// mostWindow is the largest window of the format.
const mostWindow = 1<<41 + 7<<38

// zstdDecoder is shared by all calls. It decompresses as many pages at a time as there are
// processors. Checksums are not compared, as on GPUs.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxWindow(mostWindow),
		zstd.WithDecodeAllCapLimit(true), zstd.IgnoreChecksum(true))
})

func zstdOnHost(to, from []byte) Status {
	decoder, err := zstdDecoder()
	if err != nil {
		return Refused
	}
	plain, err := decoder.DecodeAll(from, to[:0])
	switch {
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return Dictionary
	case errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return Long
	case err != nil:
		return Refused
	case len(plain) != len(to):
		return Short
	}
	copy(to, plain) // no copy if plain is to
	return Complete
}
