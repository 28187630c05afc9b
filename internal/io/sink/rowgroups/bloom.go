package rowgroups

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// bloom is a split-block Bloom filter, as the format describes it.
type bloom []byte

const (
	bloomBlock = 32
	// mostBloom is the length of a filter at most. It has one hit in a hundred for 700,000 values
	// that are not there.
	mostBloom = 1 << 20
)

// newBloom returns a filter with one false hit in a hundred for a number of distinct values. Some
// readers need a power of two.
func newBloom(distinct int) bloom {
	length := float64(distinct) / -math.Log1p(-math.Pow(0.01, 1.0/8)) // eight bits of a byte for eight bits of a value
	length = min(max(length, bloomBlock), mostBloom)
	return make(bloom, 1<<bits.Len(uint(math.Ceil(length))-1))
}

func (b bloom) add(hash uint64) {
	at, words := pages.BloomBits(hash, uint64(len(b)/bloomBlock))
	block := b[at*bloomBlock : (at+1)*bloomBlock]
	for i, word := range words {
		binary.LittleEndian.PutUint32(block[4*i:], binary.LittleEndian.Uint32(block[4*i:])|word)
	}
}

// header returns the header of the filter.
func (b bloom) header() []byte {
	t := &thrift.Encoder{}
	t.Int32(1, int64(len(b)))
	for _, only := range []int{2, 3, 4} { // the algorithm, hash and compression, each number 1 of its union
		t.Object(only, func() { t.Object(1, func() {}) })
	}
	t.End()
	return t.Data
}
