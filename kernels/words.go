package kernels

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Words are consecutive numbers and addresses of eight bytes each that a kernel takes by
// value. A *Words is an argument of [Function.Launch], or a field of a [Struct], like a
// C++ struct of uint64_t fields. It replaces a Struct of eight-byte fields without an
// allocation for each, and can be refilled for every launch. The launch copies it. It is
// not safe for concurrent changes.
type Words struct {
	// Values are the words, at least one.
	Values []uint64
	// Blocks are the blocks of the addresses among the words, in any order. The launch
	// holds them and records their use. Nil blocks are skipped.
	Blocks []*memory.Block
	// zeros is the number of zeros behind the Values.
	zeros int
}

// Add appends a number. Layouts call it for each of their fields: inlined, it would take 0.1 MB of a program.
//
//go:noinline
func (w *Words) Add(value uint64) {
	if w.zeros > 0 {
		w.Values = append(w.Values, make([]uint64, w.zeros)...)
		w.zeros = 0
	}
	w.Values = append(w.Values, value)
}

// AddZeros appends n zeros. They take no memory, unless other words follow.
func (w *Words) AddZeros(n int) { w.zeros += max(n, 0) }

// AddAddress appends an address and its block.
func (w *Words) AddAddress(address device.Pointer, block *memory.Block) {
	w.Add(uint64(address))
	// The buffers of a result are often in one block.
	if last := len(w.Blocks) - 1; last < 0 || w.Blocks[last] != block {
		w.Blocks = append(w.Blocks, block)
	}
}

// Reset empties w and keeps its capacity.
func (w *Words) Reset() {
	clear(w.Blocks)
	w.Values, w.Blocks, w.zeros = w.Values[:0], w.Blocks[:0], 0
}

func (w *structWriter) addWords(words *Words) error {
	if words == nil || len(words.Values)+words.zeros == 0 {
		return fmt.Errorf("no words: %w", device.ErrInvalidValue)
	}
	for _, block := range words.Blocks {
		if block != nil {
			w.note(region{index: w.index, block: block})
		}
	}
	w.align(8)
	w.slots = append(w.slots, words.Values...)
	for range words.zeros {
		w.slots = append(w.slots, 0)
	}
	w.bytes += 8 * (len(words.Values) + words.zeros)
	return nil
}
