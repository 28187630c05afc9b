package function

import (
	"math/bits"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// hamming is the number of bits in which two integers differ.
var _ = register(Function{
	Name:     "hamming",
	Integers: func(t Type, x, y uint64) uint64 { return uint64(bits.OnesCount64((x ^ y) & t.Mask())) },
	Write: func(b *ptx.Builder, t Type, x []ptx.Register) ptx.Register {
		return countBits(b, t, b.Op(t.Class(), "xor."+t.Class().Untyped(), x[0], x[1]))
	},
})
