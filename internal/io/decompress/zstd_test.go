package decompress

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// zstdEncoders are writers of all levels, with and without checksums and the length in the header. Their tables stay in
// use, so the window is that of the longest page, and the last level, whose tables have 34 MiB, has one writer.
var zstdEncoders = sync.OnceValues(func() (encoders []*zstd.Encoder, err error) {
	for level := zstd.SpeedFastest; level <= zstd.SpeedBestCompression; level++ {
		options := [][]zstd.EOption{{zstd.WithEncoderCRC(false)}, {zstd.WithSingleSegment(true)}}
		if level == zstd.SpeedBestCompression {
			options = options[1:]
		}
		for _, o := range options {
			encoder, err := zstd.NewWriter(nil, append(o, zstd.WithEncoderLevel(level), zstd.WithWindowSize(1<<19),
				zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))...)
			if err != nil {
				return nil, err
			}
			encoders = append(encoders, encoder)
		}
	}
	return encoders, nil
})

// compressZstd returns the frames of all writers.
func compressZstd(t require.TestingT, plain []byte) (forms [][]byte) {
	encoders, err := zstdEncoders()
	require.NoError(t, err)
	for _, encoder := range encoders {
		forms = append(forms, encoder.EncodeAll(plain, nil))
	}
	return forms
}
