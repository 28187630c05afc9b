package humanize_test

import (
	"math"
	"math/rand/v2"
	"testing"

	peer "github.com/dustin/go-humanize"
	"github.com/stretchr/testify/assert"

	"github.com/gpuframe/gpuframe/internal/base/humanize"
)

// TestTheSameAsThePeer compares numbers of each length with go-humanize.
func TestTheSameAsThePeer(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := []uint64{0, 9, 10, 99, 100, 999, 1000, 1023, 1024, 1025, 1<<20 - 1, 1 << 20, 10<<20 - 1, math.MaxUint64}
	for shift := range 64 { // also where a size is a unit only as a float
		for below := range uint64(100) {
			numbers = append(numbers, 1<<shift-below, 1<<shift+below)
		}
	}
	for range 20_000 {
		numbers = append(numbers, random.Uint64()>>random.IntN(64))
	}
	for _, n := range numbers {
		assert.Equal(t, peer.IBytes(n), humanize.IBytes(n))
		assert.Equal(t, peer.Comma(int64(n)), humanize.Comma(int64(n)))
		assert.Equal(t, peer.Comma(-int64(n)), humanize.Comma(-int64(n)))
		text := humanize.IBytes(n)
		want, wantErr := peer.ParseBytes(text)
		size, err := humanize.ParseBytes(text)
		assert.Equal(t, wantErr == nil, err == nil, text)
		assert.Equal(t, want, size, text)
	}
}

func TestParseBytesAsThePeer(t *testing.T) {
	for _, text := range []string{
		"", "1", "42 MB", "42MB", "1.5GiB", "1,024", "1,024 kb", " 1", "1 ", "-1", "1e3", "1.2.3", "MB", "1 xb", "1 mi", "3 T", "2 EiB", "16 EiB",
		"17 EiB", "18446744073709551615", "18446744073709551616", "0.1", "1 k", "5 Gi", "1B", "1 bytes", "inf", "nan", "1_000",
	} {
		want, wantErr := peer.ParseBytes(text)
		size, err := humanize.ParseBytes(text)
		assert.Equal(t, wantErr == nil, err == nil, text)
		assert.Equal(t, want, size, text)
	}
}
