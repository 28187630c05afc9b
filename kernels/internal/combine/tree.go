package combine

import (
	"fmt"

	"github.com/gpuframe/gpuframe/kernels/internal/ptx"
)

// Lanes is how many lanes take rows in turn: the threads of a block.
const Lanes = 256

const (
	warpLanes = 32
	warps     = Lanes / warpLanes
)

// Words is how many words the partials of all kinds have together.
func Words(kinds []Kind) (words int) {
	for _, kind := range kinds {
		words += kind.Words()
	}
	return words
}

// SharedBytes is the shared memory that [Tree] takes.
func SharedBytes(kinds []Kind) int { return 8 * warps * Words(kinds) }

// Tree writes the merging of the partials of a block's lanes. All threads run it;
// after it thread 0's registers hold the result, and those of others anything. The
// thread's number is in a 32-bit register, and shared names shared memory of
// [SharedBytes] that is aligned to 8 bytes. The block may use that again after a
// barrier.
func Tree(b *ptx.Builder, kinds []Kind, partials [][]ptx.Register, thread ptx.Register, shared string) {
	words := Words(kinds)
	neighbours(b, kinds, partials, warpLanes)

	lane := b.Op(ptx.Word32, "and.b32", thread, "31")
	notFirst := b.Op(ptx.Predicate, "setp.ne.u32", lane, "0")
	stored, done := b.Label(), b.Label()
	base := b.Op(ptx.Word32, "mov.u32", ptx.Register(shared))
	b.Emit("@%s bra %s", notFirst, stored)
	warp := b.Op(ptx.Word32, "shr.u32", thread, "5")
	place := b.Op(ptx.Word32, "mad.lo.u32", warp, ptx.Register(fmt.Sprint(8*words)), base)
	each(partials, func(i int, word ptx.Register) { b.Emit("st.shared.b64 [%s+%d], %s", place, 8*i, word) })
	b.Place(stored)
	b.Emit("bar.sync 0")
	others := b.Op(ptx.Predicate, "setp.ge.u32", thread, ptx.Register(fmt.Sprint(warpLanes)))
	b.Emit("@%s bra %s", others, done)
	// Lanes beyond the number of warps repeat what others do.
	source := b.Op(ptx.Word32, "and.b32", thread, ptx.Register(fmt.Sprint(warps-1)))
	place = b.Op(ptx.Word32, "mad.lo.u32", source, ptx.Register(fmt.Sprint(8*words)), base)
	each(partials, func(i int, word ptx.Register) { b.Emit("ld.shared.b64 %s, [%s+%d]", word, place, 8*i) })
	neighbours(b, kinds, partials, warps)
	b.Place(done)
}

// each calls f with every word and its number among all.
func each(partials [][]ptx.Register, f func(i int, word ptx.Register)) {
	i := 0
	for _, partial := range partials {
		for _, word := range partial {
			f(i, word)
			i++
		}
	}
}

// neighbours merges over the first lanes of a warp: lane 0 with 1, 2 with 3, then
// lane 0 with 2, and so on. It is a loop, for merging moments is long.
func neighbours(b *ptx.Builder, kinds []Kind, partials [][]ptx.Register, lanes int) {
	again := b.Label()
	distance := b.Op(ptx.Word32, "mov.u32", "1")
	b.Place(again)
	for i, kind := range kinds {
		later := make([]ptx.Register, len(partials[i]))
		for j, word := range partials[i] {
			later[j] = shuffleDown(b, word, distance)
		}
		Merge(b, kind, partials[i], later)
	}
	b.Emit("shl.b32 %s, %s, 1", distance, distance)
	more := b.Op(ptx.Predicate, "setp.lt.u32", distance, ptx.Register(fmt.Sprint(lanes)))
	b.Emit("@%s bra %s", more, again)
}

// shuffleDown returns the word of the lane that is a distance further on.
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
