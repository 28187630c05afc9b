package kernels

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Words are numbers and addresses of eight bytes each that a kernel takes by value,
// one after another. A *Words is an argument of [Function.Launch], or a field of a
// [Struct], as C++'s struct of as many uint64_t is. It does what a Struct of eight
// byte fields does without an allocation for each, so that it can be filled anew for
// every launch. The launch copies it. It is not safe for concurrent changes.
type Words struct {
	// Values are the words, at least one.
	Values []uint64
	// Blocks are the memory that the addresses among the words lie in, in any
	// order. The launch holds them and records their use. Nil ones are skipped.
	Blocks []*memory.Block
}

// Add appends a number.
func (w *Words) Add(value uint64) { w.Values = append(w.Values, value) }

// AddAddress appends an address and the block that it lies in.
func (w *Words) AddAddress(address device.Pointer, block *memory.Block) {
	w.Values = append(w.Values, uint64(address))
	// Often the buffers of a result lie in one block.
	if last := len(w.Blocks) - 1; last < 0 || w.Blocks[last] != block {
		w.Blocks = append(w.Blocks, block)
	}
}

// Reset empties w, which keeps its room.
func (w *Words) Reset() {
	clear(w.Blocks)
	w.Values, w.Blocks = w.Values[:0], w.Blocks[:0]
}

func (w *structWriter) addWords(words *Words) error {
	if words == nil || len(words.Values) == 0 {
		return fmt.Errorf("no words: %w", device.ErrInvalidValue)
	}
	for _, block := range words.Blocks {
		if block != nil {
			w.note(region{index: w.index, block: block})
		}
	}
	w.align(8)
	w.slots = append(w.slots, words.Values...)
	w.bytes += 8 * len(words.Values)
	return nil
}
