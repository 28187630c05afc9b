package group

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/ptx"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Sums of floats of expressions have windows (fixed_point.go). A kernel computes a sample of the values, of
// which choose_windows chooses them. After the rows the host waits, for one word of each sum: if a window
// overflows, the expression becomes a column, and its sum is computed in two passes. Queries that must not
// wait compute sums of floats of columns.

const samplesEntry = "sample_values"

// addFloat writes the addition of a float to the window of a sum, as add_floats of tiles_add.cuh does.
func (c *valueCode) addFloat(number int, slot, address ptx.Register) {
	b, r := c.b, &c.readers[number]
	window := func(offset int) ptx.Register {
		return b.Op(ptx.Word32, "ld.shared.u32", ptx.Register(fmt.Sprintf("[%s+%d]", c.windows, windowBytes*number+offset)))
	}
	x := c.double(c.row.values[r.value])
	bits := b.Op(ptx.Word64, "mov.b64", x)
	exponent := b.Op(ptx.Word32, "and.b32", b.Op(ptx.Word32, "shr.u32", c.halves(bits)[1], "20"), "0x7ff")
	shift := b.Op(ptx.Word32, "add.u32", b.Op(ptx.Word32, "sub.u32", exponent, window(0)), "1")
	fits := b.Op(ptx.Predicate, "setp.le.u32", b.Op(ptx.Word32, "sub.u32", shift, "2"), c.span)
	trash := b.Op(ptx.Word32, "mad.lo.u32", c.apart, immediate(r.word), b.Op(ptx.Word32, "add.u32", c.trash, c.sums))
	at := b.Op(ptx.Word32, "selp.b32", address, trash, fits)
	// Word 0 has two bits below the sum: which of the two bins of the window the values begin in.
	high := b.Op(ptx.Predicate, "setp.ge.u32", shift, b.Op(ptx.Word32, "add.u32", window(4), "2"))
	flag := b.Op(ptx.Word32, "selp.b32", "2", "1", high)
	sign := b.Op(ptx.Word64, "shr.s64", bits, "63")
	significand := b.Op(ptx.Word64, "or.b64", b.Op(ptx.Word64, "and.b64", bits, "0xfffffffffffff"), "0x10000000000000")
	whole := b.Op(ptx.Word64, "sub.s64", b.Op(ptx.Word64, "xor.b64", significand, sign), sign)
	low := c.halves(b.Op(ptx.Word64, "shl.b64", whole, b.Op(ptx.Word32, "and.b32", shift, "31")))
	top := b.Op(ptx.Word32, "shr.s32", c.halves(whole)[1], b.Op(ptx.Word32, "and.b32", b.Op(ptx.Word32, "sub.u32", "32", shift), "31"))

	old := b.Op(ptx.Word32, "atom.shared.add.u32", "["+at+"]", low[0])
	missing := b.Op(ptx.Word32, "and.b32", flag, b.Op(ptx.Word32, "not.b32", old))
	carry := c.carry(old, low[0])
	middle := b.Op(ptx.Word32, "add.u32", low[1], carry)
	top = b.Op(ptx.Word32, "add.u32", top, b.Op(ptx.Word32, "selp.u32", "1", "0", b.Op(ptx.Predicate, "setp.lt.u32", middle, carry)))
	next := b.Op(ptx.Word32, "add.u32", at, c.apart)
	above := b.Op(ptx.Word32, "atom.shared.add.u32", "["+next+"]", middle)
	top = b.Op(ptx.Word32, "add.u32", top, c.carry(above, middle))
	last := b.Op(ptx.Word32, "add.u32", next, c.apart)
	b.Op(ptx.Word32, "atom.shared.add.u32", "["+last+"]", top)
	b.Emit("@%s atom.shared.or.b32 %s, [%s], %s", b.Op(ptx.Predicate, "setp.ne.u32", missing, "0"), b.Register(ptx.Word32), at, missing)

	end := b.Label()
	b.Branch(fits, end)
	b.Branch(b.Op(ptx.Predicate, "setp.eq.u32", slot, c.trash), end)
	b.Branch(b.Op(ptx.Predicate, "setp.eq.u64", b.Op(ptx.Word64, "shl.b64", bits, "1"), "0"), end)
	group := b.Op(ptx.Word64, "cvt.u64.u32", b.Op(ptx.Word32, "shr.u32", slot, c.shift))
	b.Call("add_outside_value", nil, c.batch, b.Op(ptx.Word64, "mov.u64", immediate(number)), group, bits)
	b.Place(end)
}

// carry returns 1 if the sum of an old word and a term has a carry, or else 0.
func (c *valueCode) carry(old, term ptx.Register) ptx.Register {
	carries := c.b.Op(ptx.Predicate, "setp.lt.u32", c.b.Op(ptx.Word32, "add.u32", old, term), term)
	return c.b.Op(ptx.Word32, "selp.u32", "1", "0", carries)
}

// floats returns the numbers of the sums of floats among the readers.
func (c *valueCode) floats() (numbers []int) {
	for i := range c.readers {
		if c.readers[i].kind == sumFloats {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// samplesText returns the module of the kernel that computes samples. The words behind those of the program are the
// addresses of the samples.
func (c *valueCode) samplesText(g *codegen.Generator) (string, error) {
	template, err := aggregateSet.Entry(valuesFile, samplesEntry)
	if err != nil {
		return "", err
	}
	c.g = g
	return g.SpliceRows(template, samplesEntry, "samples", len(c.floats()), func(b *ptx.Builder, operands []string) error {
		if len(operands) != 2 {
			return fmt.Errorf("it has %d operands, expected 2", len(operands))
		}
		c.b = b
		rows, err := g.Rows(b, []ptx.Register{ptx.Register(operands[0])})
		if err != nil {
			return err
		}
		offset := b.Op(ptx.Word64, "shl.b64", ptx.Register(operands[1]), "3")
		for i, number := range c.floats() {
			v := rows[0][c.readers[number].value]
			bits := b.Op(ptx.Word64, "mov.b64", c.double(v))
			if v.Valid != "" {
				bits = b.Op(ptx.Word64, "selp.b64", bits, "0", v.Valid)
			}
			b.Void("st.global.u64", "["+b.Op(ptx.Word64, "add.s64", c.word(i), offset)+"]", bits)
		}
		return nil
	})
}

// windowed are the sums of floats of a launch.
type windowed struct {
	tiling *tiling
	block  *memory.Block
	// states are the windows of all sums, one after another.
	states memory.Slice[uint8]
	// numbers are those of the readers.
	numbers []int
}

// chooseWindows allocates windows for the sums of floats of a launch, and chooses them. The caller releases the
// block. It returns nil without such sums.
func (l *fusedLaunch) chooseWindows(call *op.Call, g *grouping, t *tiling) (w *windowed, err error) {
	numbers := l.code.floats()
	if len(numbers) == 0 {
		return nil, nil
	}
	room := tuningOf(call.Context()).Outside
	if room == 0 {
		room = max(g.rows/outsideShare, fewestOutside)
	}
	sizes := []uint64{windowBytes * uint64(len(numbers)), 8 * valueSamples * uint64(len(numbers))}
	for range numbers {
		sizes = append(sizes, 8*windowWords*uint64(t.slots), outsideBytes*uint64(room))
	}
	w = &windowed{tiling: t, numbers: numbers}
	var slices []memory.Slice[uint8]
	if w.block, slices, err = call.Scratch(sizes...); err != nil {
		return nil, err
	}
	w.states = slices[0]
	arguments := kernelset.NewWords(fusedWords)
	if err = l.samples.generator.Arguments(arguments, l.program, l.inputs); err != nil {
		return w, err
	}
	for i, number := range numbers {
		window := sumWindow{limbs: slices[2+2*i], list: slices[3+2*i], room: room}
		if window.state, err = slices[0].Slice(windowBytes*i, windowBytes*(i+1)); err != nil {
			return w, err
		}
		if window.overflowed, err = window.state.Slice(overflowedByte, overflowedByte+4); err != nil {
			return w, err
		}
		sample, err := slices[1].Slice(8*valueSamples*i, 8*valueSamples*(i+1))
		if err != nil {
			return w, err
		}
		r := &t.readers[number]
		r.window, r.in = window, source{values: sample, form: fromF64, width: 8}
		arguments.AddAddress(sample.Pointer(), sample.Block())
	}
	if err = l.samples.function.Launch(call.Stream, kernels.GridFor(valueSamples, sampleThreads), device.Dim3{X: sampleThreads}, 0, g.counted, int64(g.rows), arguments); err != nil {
		return w, err
	}
	return w, t.launchKernel(call, "tiles", "choose_windows", len(t.readers), windowThreads, 0, g.counted, int64(min(g.rows, valueSamples)), int64(t.slots), t.argument())
}

// foldWindows adds the windows to the states. It waits, and returns the numbers of the sums of which the windows overflow,
// and the number of groups with rows if a reader counts these; counting is its number, or negative.
func (w *windowed) foldWindows(call *op.Call, g *grouping, counting int) (overflowed []int, present int64, err error) {
	t := w.tiling
	var counter memory.Slice[uint8]
	if counting >= 0 {
		if counter, err = w.states.Slice(presentByte, presentByte+4); err != nil {
			return nil, 0, err
		}
	}
	blocks := min((t.slots-1)/foldThreads+1, foldBlocks*max(1, call.Stream.Device().Info().Multiprocessors))
	if err := t.launchKernel(call, "tiles", "settle_sums", blocks, foldThreads, 0, g.keys.DeviceRows(), int64(t.slots), counter, uint32(max(counting, 0)), t.argument()); err != nil {
		return nil, 0, err
	}
	words, err := memory.Reinterpret[uint32](w.states)
	if err != nil {
		return nil, 0, err
	}
	var few [4 * windowBytes / 4]uint32
	states := few[:]
	if words.Len() > len(few) {
		states = make([]uint32, words.Len())
	}
	states = states[:words.Len()]
	if err := words.Download(call.Context(), call.Stream, states); err != nil {
		return nil, 0, err
	}
	for i, number := range w.numbers {
		if states[(windowBytes*i+overflowedByte)/4] != 0 {
			overflowed = append(overflowed, number)
		}
	}
	return overflowed, int64(states[presentByte/4]), nil
}

// samplesOf returns the kernel of a launch's samples, or nil without sums of floats.
func (l *fusedLaunch) samplesOf(call *op.Call, prefix string) (*valueKernel, error) {
	if len(l.code.floats()) == 0 {
		return nil, nil
	}
	return valueKernels.Get(call.Context(), call.Stream.Device(), "samples of "+prefix, l.program, l.inputs, func(dev *device.Device, shape codegen.Shape) (*valueKernel, error) {
		return l.newKernel(dev, l.program, shape, samplesEntry, (*valueCode).samplesText)
	})
}

// newKernel fills a template with the code of a program.
func (l *fusedLaunch) newKernel(dev *device.Device, program *exprtree.Program, shape codegen.Shape, entry string, text func(*valueCode, *codegen.Generator) (string, error)) (*valueKernel, error) {
	k := new(valueKernel)
	var err error
	if k.generator, err = codegen.New(program, shape, "arguments"); err != nil {
		return nil, err
	}
	code := l.code
	if valueParameters+8*(k.generator.Words()+code.moreWords()+mostReaders) > kernelBytes {
		return k, nil
	}
	ptxText, err := text(&code, k.generator)
	if err != nil {
		return nil, err
	}
	k.function, err = kernelset.Load(dev, ptxText, entry)
	return k, err
}
