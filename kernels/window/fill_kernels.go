package window

import (
	"fmt"
	"math/bits"
	"strconv"

	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/ptx"
	"github.com/gpuframe/gpuframe/kernels"
)

// fillKernels are the kernels for values of 8 to 256 bits, indexed by the logarithm of
// their size in bytes.
var fillKernels = func() (all [6]kernelset.Instance) {
	for log := range all {
		template := "fill_word"
		if 1<<log > 8 {
			template = "fill_words"
		}
		all[log] = kernelset.Instance{
			Template: template, Entry: fmt.Sprintf("fill_%d", 8<<log),
			Holes: func() map[string]ptx.Hole { return fillHoles(1 << log) },
		}
	}
	return all
}()

// fillHoles returns the holes of the template in cuda/fill.cu. Values of 128 and 256 bits
// are aligned to 8 bytes, as in Arrow, and are loaded as words.
func fillHoles(bytes int) map[string]ptx.Hole {
	words, used, size := 1, (bytes+7)/8, fmt.Sprintf("u%d", 8*min(bytes, 8))
	if bytes > 8 {
		words = 4
	}
	place := func(address ptx.Register, offset int) ptx.Register {
		return ptx.Register(fmt.Sprintf("[%s+%d]", address, offset))
	}
	return map[string]ptx.Hole{
		"bytes": ptx.Function{Results: 1, Code: func(b *ptx.Builder, results, _ []ptx.Register) {
			b.Move("mov.b64", results[0], immediate(uint64(bytes)))
		}}.Hole(),
		"load": ptx.Function{Results: words, Arguments: 1, Code: func(b *ptx.Builder, results, arguments []ptx.Register) {
			for word, result := range results {
				if word < used {
					b.Move("ld.global."+size, result, place(arguments[0], 8*word))
				} else {
					b.Move("mov.b64", result, "0")
				}
			}
		}}.Hole(),
		"store": func(b *ptx.Builder, operands []string) error {
			if len(operands) != 2+words {
				return fmt.Errorf("its operands are %q, not an address, a number and %d words", operands, words)
			}
			index, err := strconv.Atoi(operands[1])
			if err != nil {
				return fmt.Errorf("the number of the value is no constant: %w", err)
			}
			for word, value := range operands[2 : 2+used] {
				b.Void("st.global."+size, place(ptx.Register(operands[0]), index*bytes+8*word), ptx.Register(value))
			}
			return nil
		},
	}
}

// fillKernel returns the kernel for values of a width in bits. Booleans are bits.
func fillKernel(call *op.Call, width int) (*kernels.Function, error) {
	if width == 1 {
		return call.Kernel(&set, "fill", "fill_1")
	}
	return call.Instance(&set, &fillKernels[bits.TrailingZeros(uint(width/8))])
}
