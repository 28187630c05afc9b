package kernelset

import (
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// AddSlice adds the address of memory to words: a null pointer if it is empty.
func AddSlice(w *kernels.Words, s memory.Slice[uint8]) {
	if s.Len() == 0 {
		w.Add(0)
		return
	}
	w.AddAddress(s.Pointer(), s.Block())
}
