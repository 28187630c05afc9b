package group

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// realKernels compare values as floats, by class and width; wholeKernels compare
// integers, by width. All are instances of the templates in cuda/histogram.cu.
var realKernels, wholeKernels = func() (real [numbers.Classes][numbers.Widths]kernelset.Instance, whole [numbers.Widths]kernelset.Instance) {
	kernel := func(number numbers.Type, name string, bin ptx.Code) kernelset.Instance {
		return kernelset.Instance{
			Template: fmt.Sprintf("histogram_%d", number.Bits()), Entry: "histogram_" + name,
			Holes: func() map[string]ptx.Hole {
				return map[string]ptx.Hole{"bin": ptx.Function{Results: 1, Arguments: binArguments, Code: bin}.Hole()}
			},
		}
	}
	for width := range whole {
		for class := range real {
			number := numbers.Type{Class: numbers.Class(class), Bytes: 1 << width}
			real[class][width] = kernel(number, number.String(), realBin(number))
		}
		number := numbers.Type{Class: numbers.Unsigned, Bytes: 1 << width}
		whole[width] = kernel(number, fmt.Sprintf("whole_%d", number.Bits()), wholeBin(number))
	}
	return real, whole
}()

// The arguments of the hole bin, which finds the bin of a value: see BinFinder in
// cuda/histogram.cuh.
const (
	argumentValue = iota
	argumentFlip
	argumentOffset
	argumentLowest
	argumentA
	argumentB
	argumentC
	argumentD
	argumentEdges
	argumentSize
	argumentMapping
	argumentLast
	argumentBelow
	argumentAbove
	binArguments
)

// wholeBin compares integers. b is the largest distance from the lowest value that is
// counted, c the width of a bin, and d is ⌊(2³²−1)/c⌋, or ⌊(2⁶⁴−1)/c⌋ for values of 64
// bits. A quotient computed with d is at most one too small.
func wholeBin(number numbers.Type) ptx.Code {
	return func(b *ptx.Builder, results, arguments []ptx.Register) {
		var key ptx.Register
		if number.Bytes == 8 {
			key = b.Op(ptx.Word64, "xor.b64", arguments[argumentValue], arguments[argumentFlip])
		} else {
			flipped := b.Op(ptx.Word32, "xor.b32", arguments[argumentValue], arguments[argumentFlip])
			key = b.Op(ptx.Word64, "cvt.u64.u32", flipped)
		}
		key = b.Op(ptx.Word64, "add.u64", key, arguments[argumentOffset])
		below := b.Op(ptx.Predicate, "setp.lt.u64", key, arguments[argumentLowest])
		distance := b.Op(ptx.Word64, "sub.u64", key, arguments[argumentLowest])
		above := b.Op(ptx.Predicate, "setp.gt.u64", distance, arguments[argumentB])
		var quotient ptx.Register
		if number.Bytes == 8 {
			high := b.Op(ptx.Word64, "mul.hi.u64", distance, arguments[argumentD])
			product := b.Op(ptx.Word64, "mul.lo.u64", high, arguments[argumentC])
			rest := b.Op(ptx.Word64, "sub.u64", distance, product)
			quotient = oneMore(b, b.Op(ptx.Word32, "cvt.u32.u64", high), b.Op(ptx.Predicate, "setp.ge.u64", rest, arguments[argumentC]))
		} else {
			short := b.Op(ptx.Word32, "cvt.u32.u64", distance)
			width := b.Op(ptx.Word32, "cvt.u32.u64", arguments[argumentC])
			high := b.Op(ptx.Word32, "mul.hi.u32", short, b.Op(ptx.Word32, "cvt.u32.u64", arguments[argumentD]))
			rest := b.Op(ptx.Word32, "sub.u32", short, b.Op(ptx.Word32, "mul.lo.u32", high, width))
			quotient = oneMore(b, high, b.Op(ptx.Predicate, "setp.ge.u32", rest, width))
		}
		bin := b.Op(ptx.Word32, "min.u32", quotient, arguments[argumentLast])
		clampBin(b, results[0], arguments, bin, below, above)
	}
}

// oneMore returns x + 1 if p holds, and otherwise x.
func oneMore(b *ptx.Builder, x, p ptx.Register) ptx.Register {
	return b.Op(ptx.Word32, "add.u32", x, b.Op(ptx.Word32, "selp.u32", "1", "0", p))
}

// clampBin writes the bin of a value that may be outside of the bins. The code selects without branches, because the lanes of a warp would diverge.
func clampBin(b *ptx.Builder, result ptx.Register, arguments []ptx.Register, bin, below, above ptx.Register) {
	bin = b.Op(ptx.Word32, "selp.b32", arguments[argumentAbove], bin, above)
	b.Move("selp.b32", result, arguments[argumentBelow], bin, below)
}

// realBin compares floats. a and b are the bits of the lowest and the highest value. The
// bin of x is found by edges, or is ⌊(x − a) · c⌋ with each operation rounded.
func realBin(number numbers.Type) ptx.Code {
	return func(b *ptx.Builder, results, arguments []ptx.Register) {
		value := asFloat(b, number, arguments[argumentValue])
		low, last := arguments[argumentA], arguments[argumentLast]
		bin := b.Register(ptx.Word32)
		byWidth, end := b.Label(), b.Label()
		b.Branch(b.Op(ptx.Predicate, "setp.ne.u32", arguments[argumentMapping], ptx.Register(fmt.Sprint(uint32(betweenEdges)))), byWidth)
		bits := b.Register(ptx.Word64)
		b.Call("histogram_bin_by_edges", []ptx.Register{bits}, value, arguments[argumentEdges], b.Op(ptx.Word64, "cvt.u64.u32", last))
		b.Move("cvt.u32.u64", bin, bits)
		b.Branch("", end)
		b.Place(byWidth)
		position := b.Op(ptx.Word64, "mul.rn.f64", b.Op(ptx.Word64, "sub.rn.f64", value, low), arguments[argumentC])
		inside := b.Op(ptx.Predicate, "setp.lt.f64", position, arguments[argumentSize])
		b.Move("selp.b32", bin, b.Op(ptx.Word32, "cvt.rzi.u32.f64", position), last, inside)
		b.Place(end)
		below := b.Op(ptx.Predicate, "setp.lt.f64", value, low)
		above := b.Op(ptx.Predicate, "setp.gt.f64", value, arguments[argumentB])
		chosen := b.Register(ptx.Word32)
		clampBin(b, chosen, arguments, bin, below, above)
		// NaN is in no bin.
		b.Move("selp.b32", results[0], "0xffffffff", chosen, b.Op(ptx.Predicate, "setp.nan.f64", value, value))
	}
}

// asFloat returns a value, which is in a word of 32 or 64 bits with zeros above, as a
// float of 64 bits.
func asFloat(b *ptx.Builder, number numbers.Type, x ptx.Register) ptx.Register {
	switch number {
	case numbers.Type{Class: numbers.Float, Bytes: 8}:
		return x
	case numbers.Type{Class: numbers.Float, Bytes: 4}:
		return b.Op(ptx.Word64, "cvt.f64.f32", x)
	case numbers.Type{Class: numbers.Float, Bytes: 2}:
		return b.Op(ptx.Word64, "cvt.f64.f16", b.Op(ptx.Word16, "cvt.u16.u32", x))
	case numbers.Type{Class: numbers.Signed, Bytes: 1}, numbers.Type{Class: numbers.Signed, Bytes: 2}:
		x = b.Op(ptx.Word32, fmt.Sprintf("cvt.s32.s%d", number.Bits()), x)
	}
	sign := "s"
	if number.Class == numbers.Unsigned {
		sign = "u"
	}
	return b.Op(ptx.Word64, fmt.Sprintf("cvt.rn.f64.%s%d", sign, max(number.Bits(), 32)), x)
}
