package pages

import (
	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// allocate returns memory of which the caller writes every byte.
func allocate(mem arrowmemory.Allocator, bytes int) []byte {
	if m, ok := mem.(interface{ AllocateUninitialized(int) []byte }); ok {
		return m.AllocateUninitialized(bytes)
	}
	return mem.Allocate(bytes)
}

// reallocate returns longer memory with the bytes of other memory, which it frees.
func reallocate(mem arrowmemory.Allocator, memory []byte, bytes int) []byte {
	longer := allocate(mem, bytes)
	copy(longer, memory)
	mem.Free(memory)
	return longer
}

// buffer returns a buffer of the first bytes of memory, which it frees.
func buffer(memory []byte, bytes int, mem arrowmemory.Allocator) *arrowmemory.Buffer {
	b := arrowmemory.NewBufferWithAllocator(memory, mem)
	b.ResizeNoShrink(bytes)
	return b
}

// growing is memory of an array whose length is not known before.
type growing struct {
	mem    arrowmemory.Allocator
	memory []byte
}

// reserve makes room for some bytes.
func (g *growing) reserve(bytes int) {
	if bytes > len(g.memory) {
		g.memory = reallocate(g.mem, g.memory, max(bytes, 2*len(g.memory), 64))
	}
}

// take returns a buffer of the first bytes, and gives the memory up.
func (g *growing) take(bytes int) *arrowmemory.Buffer {
	memory := g.memory
	g.memory = nil
	return buffer(memory, bytes, g.mem)
}

// drop frees the memory.
func (g *growing) drop() {
	g.mem.Free(g.memory)
	g.memory = nil
}

// bitmap is a validity that grows.
type bitmap struct{ growing }

// reserve makes room for some bits.
func (b *bitmap) reserve(count int) { b.growing.reserve((count + 7) / 8) }

// put writes the bit behind those before. A byte is cleared with its first bit.
func (b *bitmap) put(at int, set bool) {
	bit := byte(0)
	if set {
		bit = 1
	}
	if at&7 == 0 {
		b.memory[at>>3] = bit
	} else {
		b.memory[at>>3] |= bit << (at & 7)
	}
}

// offsets are those of a list that grow.
type offsets struct{ growing }

// reserve makes room for some offsets.
func (o *offsets) reserve(count int) []int32 {
	o.growing.reserve(4 * count)
	return arrow.GetData[int32](o.memory[:len(o.memory)&^3])
}
