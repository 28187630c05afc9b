package order

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// topInstances are the kernels of a number format, made from the templates in cuda/top.cu.
type topInstances struct{ sample, gather, count, collect, sort kernelset.Instance }

// topKernels has the kernels by class and width, and nanFirstKernels those of floats that
// put NaN first.
var (
	topKernels      = newTopKernels(false)
	nanFirstKernels = newTopKernels(true)
)

func newTopKernels(nanFirst bool) (all [numbers.Classes][numbers.Widths]topInstances) {
	for class := range all {
		for width := range all[class] {
			number := numbers.Type{Class: numbers.Class(class), Bytes: 1 << width}
			// With the bits of the flip mask inverted, signed and unsigned integers have one
			// order and one kernel.
			suffix, key, high := fmt.Sprint(number.Bits()), wholeKey(number), wholeKey(numbers.Type{Class: number.Class, Bytes: 4})
			if number.Class == numbers.Float {
				suffix, key, high = number.String(), floatKey(number, nanFirst), floatHigh(nanFirst)
				if nanFirst {
					suffix += "_nan_first"
				}
			}
			instance := func(name string) kernelset.Instance {
				return kernelset.Instance{
					Template: fmt.Sprintf("%s_%d", name, number.Bits()), Entry: name + "_" + suffix,
					Holes: func() map[string]ptx.Hole {
						return map[string]ptx.Hole{
							"key":  ptx.Function{Results: 1, Arguments: 2, Code: key}.Hole(),
							"high": ptx.Function{Results: 1, Arguments: 2, Code: high}.Hole(),
						}
					},
				}
			}
			all[class][width] = topInstances{instance("top_sample"), instance("top_gather"), instance("top_count"), instance("top_collect"), instance("top_sort")}
		}
	}
	return all
}

func (s *topSelection) kernels() *topInstances {
	if s.nanFirst {
		return &nanFirstKernels[s.number.Class][s.number.Index()]
	}
	return &topKernels[s.number.Class][s.number.Index()]
}

// wordOf returns the class and the bits of the word that holds values and keys.
func wordOf(number numbers.Type) (ptx.Class, int) {
	if number.Bytes == 8 {
		return ptx.Word64, 64
	}
	return ptx.Word32, 32
}

// wholeKey orders integers with the bits of the flip mask inverted.
func wholeKey(number numbers.Type) ptx.Code {
	_, bits := wordOf(number)
	return func(b *ptx.Builder, results, arguments []ptx.Register) {
		b.Move(fmt.Sprintf("xor.b%d", bits), results[0], arguments...)
	}
}

// floatKey orders NaN after all numbers in both directions, or before them. −0 is equal to
// 0. The bits of a negative number are inverted, of others the sign bit.
func floatKey(number numbers.Type, nanFirst bool) ptx.Code {
	class, bits := wordOf(number)
	sign := uint64(1) << (number.Bits() - 1)
	nan := 2*sign - 2
	if nanFirst {
		nan = 0 // no number has it: those with all exponent bits are infinities
	}
	infinity := map[int]uint64{2: 0x7c00, 4: 0x7f800000, 8: 0x7ff0000000000000}[number.Bytes]
	immediate := func(x uint64) ptx.Register { return ptx.Register(fmt.Sprintf("%#x", x)) }
	return func(b *ptx.Builder, results, arguments []ptx.Register) {
		op := func(name string, operands ...ptx.Register) ptx.Register {
			return b.Op(class, fmt.Sprintf("%s%d", name, bits), operands...)
		}
		compare := func(name string, x, y ptx.Register) ptx.Register {
			return b.Op(ptx.Predicate, fmt.Sprintf("setp.%s.u%d", name, bits), x, y)
		}
		magnitude := op("and.b", arguments[0], immediate(sign-1))
		x := op("selp.b", "0", arguments[0], compare("eq", magnitude, "0"))
		var flips ptx.Register
		if number.Bytes == 2 {
			flips = op("and.b", op("bfe.s", x, "15", "1"), immediate(sign-1))
		} else {
			flips = op("shr.s", x, ptx.Register(fmt.Sprint(bits-1)))
		}
		key := op("xor.b", op("xor.b", x, op("or.b", flips, immediate(sign))), arguments[1])
		b.Move(fmt.Sprintf("selp.b%d", bits), results[0], immediate(nan), key, compare("gt", magnitude, immediate(infinity)))
	}
}

// floatHigh is about the high half of the key of a float64, from the high half of the value. −0
// gives one more or one less than the key. NaN gives no more than the key: as a number behind
// the infinities it does, and in front of all values it is 0.
func floatHigh(nanFirst bool) ptx.Code {
	return func(b *ptx.Builder, results, arguments []ptx.Register) {
		flips := b.Op(ptx.Word32, "or.b32", b.Op(ptx.Word32, "shr.s32", arguments[0], "31"), "0x80000000")
		high := b.Op(ptx.Word32, "xor.b32", b.Op(ptx.Word32, "xor.b32", arguments[0], flips), arguments[1])
		if !nanFirst {
			b.Move("mov.b32", results[0], high)
			return
		}
		magnitude := b.Op(ptx.Word32, "and.b32", arguments[0], "0x7fffffff")
		b.Move("selp.b32", results[0], high, "0", b.Op(ptx.Predicate, "setp.lt.u32", magnitude, "0x7ff00000"))
	}
}
