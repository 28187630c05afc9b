package reduce

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// compiled is the kernel for aggregates of one shape.
type compiled struct {
	plan     *plan
	g        *codegen.Generator
	function *kernels.Function
	// words is the number of words in a part's partials.
	words  int
	schema resultSchema
}

var compiledKernels kernelset.Generated[*compiled]

// launch is the arguments of one launch.
type launch struct {
	key            []byte
	own, arguments kernels.Words
}

var launches = sync.Pool{New: func() any { return new(launch) }}

func (l *launch) giveBack() {
	l.own.Reset()
	l.arguments.Reset()
	launches.Put(l)
}

func (r *run) onGPU(aggregates []Aggregate) (*buffer.Buffer, error) {
	l := launches.Get().(*launch)
	defer l.giveBack()
	k, err := r.compiled(l)
	if err != nil {
		return nil, err
	}
	if err := k.g.Arguments(&l.arguments, r.program, r.inputs); err != nil {
		return nil, err
	}
	block, slices, err := r.call.Allocate(k.plan.resultBytes())
	if err != nil {
		return nil, err
	}
	err = r.launch(k, l, slices[0])
	var result *buffer.Buffer
	if err == nil {
		result, err = k.plan.resultTable(k.schema.schema(k.plan, r.program, aggregates), slices[0], r.call.Manager)
	}
	if err = errors.Join(err, block.Release()); err != nil {
		return nil, errors.Join(err, result.Release())
	}
	return result, nil
}

// counted reports whether only the device knows the number of rows.
func (r *run) counted() bool { return r.count.Block() != nil }

// launch enqueues the kernel.
func (r *run) launch(k *compiled, l *launch, results memory.Slice[uint8]) error {
	blocks := r.blocks(k.words)
	if r.counted() {
		l.own.AddAddress(r.count.Pointer(), r.count.Block())
	} else {
		l.own.Add(0)
	}
	l.own.Add(uint64(r.rows))
	l.own.AddAddress(results.Pointer(), results.Block())
	var scratch *memory.Block
	if blocks == 1 {
		l.own.Add(0)
		l.own.Add(0)
	} else {
		var err error
		if scratch, err = r.scratch(l, partialBytes(blocks, k.words)); err != nil {
			return err
		}
	}
	err := k.function.Launch(r.call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: lanes}, 0, &l.own, &l.arguments)
	return errors.Join(err, scratch.Release())
}

// blocks returns the number of blocks of a kernel whose partials have a number of words.
func (r *run) blocks(words int) int64 {
	if words == 0 {
		return 1 // the result needs only the number of rows
	}
	return blocksFor(r.rows, r.counted())
}

// partialBytes returns the size of the partials of a number of parts.
func partialBytes(parts int64, words int) uint64 { return 8 * uint64(parts) * uint64(words) }

// counterBytes is the size of a counter in scratch memory, which a launch uses if its
// stream has no counter in the module.
const counterBytes = 4

// estimate records the sizes that onHost and onGPU allocate.
func (r *run) estimate() error {
	if r.call.OnHost() {
		p, err := newPlan(r.program, r.wanted, r.rows)
		if err != nil {
			return err
		}
		return r.call.Estimate([]uint64{p.resultBytes()}, nil)
	}
	shape, err := codegen.ShapeOf(r.program, r.inputs)
	if err != nil {
		return err
	}
	k := new(compiled) // the text of the kernel takes no time of the driver
	if _, err := k.write(r.program, shape, r.wanted, r.rows, blocksFor(r.rows, r.counted()) == 1); err != nil {
		return err
	}
	var scratch []uint64
	if blocks := r.blocks(k.words); blocks > 1 {
		scratch = append(scratch, partialBytes(blocks, k.words))
		if _, ok := counterOf(r.call.Stream); !ok {
			scratch = append(scratch, counterBytes)
		}
	}
	return r.call.Estimate([]uint64{k.plan.resultBytes()}, scratch)
}

// scratch allocates memory for the parts' partials and appends it and a zeroed counter
// to the arguments.
func (r *run) scratch(l *launch, bytes uint64) (*memory.Block, error) {
	number, ok := counterOf(r.call.Stream)
	counter := uint64(0)
	if !ok {
		counter = counterBytes // no free number: this counter is zeroed before each launch
	}
	block, slices, err := r.call.Scratch(bytes, counter)
	if err != nil {
		return nil, err
	}
	if !ok {
		if err := slices[1].Fill(r.call.Stream, 0); err != nil {
			return nil, errors.Join(err, block.Release())
		}
		number = uint64(slices[1].Pointer())
	}
	l.own.AddAddress(slices[0].Pointer(), block)
	l.own.Add(number)
	return block, nil
}

// compiled returns the kernel for the aggregates and the shape of the columns.
func (r *run) compiled(l *launch) (*compiled, error) {
	shape, err := codegen.ShapeOf(r.program, r.inputs)
	if err != nil {
		return nil, err
	}
	l.key = shape.Append(append(l.key[:0], r.program.Key...))
	for _, t := range r.program.Types {
		l.key = appendType(l.key, t)
	}
	single := blocksFor(r.rows, r.counted()) == 1
	if single {
		l.key = append(l.key, 's')
	} else if isMany(r.rows) {
		l.key = append(l.key, 'm')
	}
	for _, w := range r.wanted {
		l.key = append(l.key, byte(w.function))
		l.key = binary.LittleEndian.AppendUint32(l.key, uint32(w.value))
		l.key = binary.LittleEndian.AppendUint32(l.key, uint32(w.where))
		l.key = binary.LittleEndian.AppendUint64(l.key, uint64(w.freedom))
	}
	dev := r.call.Stream.Device()
	return compiledKernels.Get(r.call.Context(), dev, l.key, func() (*compiled, error) {
		return compile(dev, r.program, shape, r.wanted, r.rows, single)
	})
}

// appendType appends to a key the properties of a type that the kernel or the plan
// depends on. A program's key does not distinguish types that expressions cannot use.
// Reductions must distinguish them: float16 can be summed, lists can only be counted.
func appendType(key []byte, t arrow.DataType) []byte {
	t = layout.Storage(t)
	key = append(key, byte(t.ID()))
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return appendType(appendType(key, t.IndexType), t.ValueType)
	case arrow.FixedWidthDataType:
		return binary.LittleEndian.AppendUint64(key, uint64(t.BitWidth()))
	}
	return key
}

func compile(dev *device.Device, program *exprtree.Program, shape codegen.Shape, aggregates []wanted, rows int64, single bool) (*compiled, error) {
	k := new(compiled)
	text, err := k.write(program, shape, aggregates, rows, single)
	if err != nil {
		return nil, err
	}
	k.function, err = kernelset.Load(dev, text, kernelName)
	return k, err
}

// write makes the plan and the text of the kernel.
func (k *compiled) write(program *exprtree.Program, shape codegen.Shape, aggregates []wanted, rows int64, single bool) (text string, err error) {
	if k.plan, err = newPlan(program, aggregates, rows); err != nil {
		return "", err
	}
	if k.g, err = codegen.New(program, shape, "arguments"); err != nil {
		return "", err
	}
	text, k.words, err = writeKernel(k.plan, k.g, program, single)
	return text, err
}

const (
	// bytesInFlight is the number of bytes that a lane loads before the first use, for
	// all columns together. Two thirds of an H200's lanes then keep 80 KiB or more in
	// flight. With 32 the sum of float32 loses 4 % and its kernel compiles 2 ms faster.
	bytesInFlight = 64
	mostRows      = 16
	// mostOperations limits the code per iteration, to limit the driver's compile time.
	mostOperations = 400
)

// rowsOfLane returns the number of rows per lane and iteration: a power of two, so that
// all parts except the last consist of whole steps.
func rowsOfLane(program *exprtree.Program, operations int) int {
	bytes := 0
	for _, t := range program.Types {
		bytes += width(t)
	}
	rows := mostRows
	for rows > 1 && (rows*bytes > bytesInFlight || rows*operations > mostOperations) {
		rows /= 2
	}
	return rows
}
