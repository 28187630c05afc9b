package kernelset

import (
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// NewWords returns words without values, with memory for some number of them.
func NewWords(capacity int) *kernels.Words {
	words := new(struct {
		kernels.Words
		blocks [4]*memory.Block
	})
	words.Values, words.Blocks = make([]uint64, 0, capacity), words.blocks[:0]
	return &words.Words
}

// AddSlice adds the address of memory to words: a null pointer if it is empty.
func AddSlice(w *kernels.Words, s memory.Slice[uint8]) {
	if s.Len() == 0 {
		w.Add(0)
		return
	}
	w.AddAddress(s.Pointer(), s.Block())
}
