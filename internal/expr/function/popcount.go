package function

import (
	"fmt"
	"math/bits"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// popcount is the number of bits that are set.
var _ = register(Function{
	Name:    "popcount",
	Integer: func(t Type, x uint64) uint64 { return uint64(bits.OnesCount64(x & t.Mask())) },
	Write: func(b *ptx.Builder, t Type, x []ptx.Register) ptx.Register {
		return countBits(b, t, x[0])
	},
})

// countBits writes the number of bits that are set in the type's part of a register.
func countBits(b *ptx.Builder, t Type, x ptx.Register) ptx.Register {
	if t.Bits < 32 && t.Signed {
		x = b.Op(ptx.Word32, "and.b32", x, ptx.Register(fmt.Sprint(t.Mask())))
	}
	if t.Bits < 64 {
		return b.Op(ptx.Word32, "popc.b32", x)
	}
	return b.Op(ptx.Word64, "cvt.u64.u32", b.Op(ptx.Word32, "popc.b64", x))
}
