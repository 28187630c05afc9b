package aggregate

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// Lanes is the number of lanes that take rows round-robin: the threads of a block.
const Lanes = 256

const (
	warpLanes = 32
	warps     = Lanes / warpLanes
)

// Words returns the number of words of the partials of all kinds together.
func Words(kinds []Kind) (words int) {
	for _, kind := range kinds {
		words += kind.Words()
	}
	return words
}

// SharedBytes returns the size of the shared memory that [Tree] uses.
func SharedBytes(kinds []Kind) int { return 8 * warps * Words(kinds) }

// Tree writes the merge of the partials of a block's lanes. All threads run it.
// Afterwards thread 0's registers hold the result; those of other threads are
// undefined. The thread's number is in a 32-bit register. shared names shared memory of
// [SharedBytes], aligned to 8 bytes, which the block may reuse after a barrier. One
// loop merges the lanes of warps and then the warps, so the code of a merge exists
// once, because the driver takes long to compile it.
func Tree(b *ptx.Builder, kinds []Kind, partials [][]ptx.Register, thread ptx.Register, shared string) {
	words := Words(kinds)
	again, done := b.Label(), b.Label()
	width := b.Op(ptx.Word32, "mov.u32", number(warpLanes))
	distance := b.Op(ptx.Word32, "mov.u32", "1")
	b.Place(again)
	b.Emit(".pragma \"nounroll\"")
	neighbours(b, kinds, partials, distance)
	b.Move("shl.b32", distance, distance, "1")
	b.Branch(b.Op(ptx.Predicate, "setp.lt.u32", distance, width), again)

	b.Branch(b.Op(ptx.Predicate, "setp.eq.u32", width, number(warps)), done)
	lane := b.Op(ptx.Word32, "and.b32", thread, number(warpLanes-1))
	first := b.Op(ptx.Predicate, "setp.eq.u32", lane, "0")
	base := b.Op(ptx.Word32, "mov.u32", ptx.Register(shared))
	warp := b.Op(ptx.Word32, "shr.u32", thread, "5")
	place := b.Op(ptx.Word32, "mad.lo.u32", warp, number(8*words), base)
	each(partials, func(i int, word ptx.Register) { b.Emit("@%s st.shared.b64 [%s+%d], %s", first, place, 8*i, word) })
	b.Emit("bar.sync 0")
	b.Branch(b.Op(ptx.Predicate, "setp.ge.u32", thread, number(warpLanes)), done)
	// Lanes beyond the number of warps repeat other lanes' work.
	source := b.Op(ptx.Word32, "and.b32", thread, number(warps-1))
	place = b.Op(ptx.Word32, "mad.lo.u32", source, number(8*words), base)
	each(partials, func(i int, word ptx.Register) { b.Emit("ld.shared.b64 %s, [%s+%d]", word, place, 8*i) })
	b.Move("mov.u32", width, number(warps))
	b.Move("mov.u32", distance, "1")
	b.Branch("", again)
	b.Place(done)
}

func number(n int) ptx.Register { return ptx.Register(fmt.Sprint(n)) }

// each calls f with every word and its index.
func each(partials [][]ptx.Register, f func(i int, word ptx.Register)) {
	i := 0
	for _, partial := range partials {
		for _, word := range partial {
			f(i, word)
			i++
		}
	}
}

// neighbours merges each lane with the lane at a distance after it: lane 0 with 1, 2
// with 3, then lane 0 with 2, and so on.
func neighbours(b *ptx.Builder, kinds []Kind, partials [][]ptx.Register, distance ptx.Register) {
	for i, kind := range kinds {
		later := make([]ptx.Register, len(partials[i]))
		for j, word := range partials[i] {
			later[j] = shuffleDown(b, word, distance)
		}
		Merge(b, kind, partials[i], later)
	}
}

// shuffleDown returns the word of the lane at a distance after this one.
func shuffleDown(b *ptx.Builder, word, distance ptx.Register) ptx.Register {
	low, high := b.Register(ptx.Word32), b.Register(ptx.Word32)
	b.Emit("mov.b64 {%s, %s}, %s", low, high, word)
	low = b.Op(ptx.Word32, "shfl.sync.down.b32", low, distance, "31", "0xffffffff")
	high = b.Op(ptx.Word32, "shfl.sync.down.b32", high, distance, "31", "0xffffffff")
	later := b.Register(ptx.Word64)
	b.Emit("mov.b64 %s, {%s, %s}", later, low, high)
	return later
}

// Identity writes the partial of no rows into new registers.
func Identity(b *ptx.Builder, kind Kind) []ptx.Register {
	var words []ptx.Register
	for _, word := range kind.identity() {
		words = append(words, b.Op(ptx.Word64, "mov.b64", immediate(word)))
	}
	return words
}

// SetIdentity writes the partial of no rows into registers.
func SetIdentity(b *ptx.Builder, kind Kind, words []ptx.Register) {
	for i, word := range kind.identity() {
		b.Emit("mov.b64 %s, %s", words[i], immediate(word))
	}
}
