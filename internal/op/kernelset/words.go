package kernelset

import (
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// NewWords returns words without values, with memory for some number of them.
func NewWords(capacity int) *kernels.Words {
	made := new(struct {
		kernels.Words
		blocks [4]*memory.Block
	})
	made.Values, made.Blocks = make([]uint64, 0, capacity), made.blocks[:0]
	return &made.Words
}

// AddSlice adds the address of memory to words: a null pointer if it is empty.
func AddSlice(w *kernels.Words, s memory.Slice[uint8]) {
	if s.Len() == 0 {
		w.Add(0)
		return
	}
	w.AddAddress(s.Pointer(), s.Block())
}
