package codegen

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// runner is a loaded elementwise kernel.
type runner struct {
	*elementwise
	function *kernels.Function
}

var runners Cache[*runner]

// form is one of the kernels for a program.
type form string

// The forms, with their prefixes of keys: for few rows, for many, and for many rows of
// narrow columns.
const (
	formFew    form = "few "
	formMany   form = ""
	formPacked form = "packed "
)

// build writes and loads a kernel for a program.
func build(program *exprtree.Program, as form) func(*device.Device, Shape) (*runner, error) {
	return func(dev *device.Device, shape Shape) (*runner, error) {
		g, err := New(program, shape, "arguments")
		if err != nil {
			return nil, err
		}
		var k *elementwise
		switch as {
		case formFew:
			k, err = newElementwise(g, 1)
		case formMany:
			k, err = newElementwise(g, rowsOfLane(g))
		case formPacked:
			k, err = newPacked(g, groupsOfLane(g))
		}
		if err != nil {
			return nil, err
		}
		r := &runner{elementwise: k}
		r.function, err = kernelset.Load(dev, k.text, KernelName)
		k.text = "" // the module keeps it
		return r, err
	}
}

// runnerOf returns a kernel, which is compiled on first use.
func runnerOf(call op.Call, program *exprtree.Program, inputs []*column.Column, few bool) (*runner, error) {
	as := formMany
	switch {
	case few:
		as = formFew
	case packs(program, inputs):
		as = formPacked
	}
	return runners.Get(call.Context(), call.Stream.Device(), string(as), program, inputs, build(program, as))
}

// scratch is the reusable memory of a launch.
type scratch struct {
	outputs, arguments kernels.Words
	bytes              []uint64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Run computes a program's outputs on a GPU, with one kernel and into one block of
// memory, and returns them; the caller releases them. Outputs with too many columns and
// literals for the arguments of a kernel are divided over several. The inputs are the call's, with
// at least capacity elements. rows is a single number on the device, or empty if there
// are capacity rows. The results have length capacity; their elements beyond the number
// of rows are undefined.
//
// Strings that are no parts of columns take additional kernels and wait for the number of
// their bytes. Subexpressions about the strings of a dictionary may take an additional kernel: see
// [Resolve]. A result that can be null has a bitmap and an unknown null count; other
// results have no bitmap. Run returns when the kernel is enqueued on the call's stream.
func Run(call op.Call, program *exprtree.Program, inputs []*column.Column, rows memory.Slice[int64], capacity int) ([]*column.Column, error) {
	if len(inputs) != len(program.Types) {
		return nil, fmt.Errorf("%d columns for a program of %d: %w", len(inputs), len(program.Types), device.ErrInvalidValue)
	}
	if nodes := staged(program); len(nodes) > 0 {
		return runStaged(call, program, nodes, inputs, rows, capacity)
	}
	if call.Estimating() {
		return nil, estimate(call, program, inputs, capacity)
	}
	if parts, err := divide(program, inputs); parts != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return runParts(call, parts, rows, capacity)
	}
	program, inputs, releaseMade, err := Resolve(call, program, inputs, capacity)
	if err != nil {
		return nil, err
	}
	results, err := runOne(call, program, inputs, rows, capacity, capacity <= fewRows)
	if err = errors.Join(err, releaseMade()); err != nil {
		return nil, errors.Join(err, release.All(results))
	}
	return results, nil
}

// runOne runs an unchanged program, with the kernel for few rows or the one for many.
func runOne(call op.Call, program *exprtree.Program, inputs []*column.Column, rows memory.Slice[int64], capacity int, few bool) ([]*column.Column, error) {
	r, err := runnerOf(call, program, inputs, few)
	if err != nil {
		return nil, err
	}
	s := scratches.Get().(*scratch)
	defer s.giveBack()
	s.bytes = r.appendSizes(s.bytes, program, inputs, capacity)
	block, buffers, err := call.Allocate(s.bytes...)
	if err != nil {
		return nil, err
	}
	if capacity > 0 {
		for _, buffer := range buffers {
			addAddress(&s.outputs, buffer, 0)
		}
		err = r.launch(call, s, program, inputs, rows, capacity)
	}
	var results []*column.Column
	if err == nil {
		results, err = r.columns(call, program, buffers, capacity)
	}
	if block != nil {
		err = errors.Join(err, block.Release())
	}
	if err != nil {
		return nil, errors.Join(err, release.All(results))
	}
	return results, nil
}

// appendSizes appends the sizes of the buffers of the outputs. The size of an absent
// bitmap is zero.
func (k *elementwise) appendSizes(sizes []uint64, program *exprtree.Program, inputs []*column.Column, capacity int) []uint64 {
	never := k.g.neverNull(program, inputs)
	for i, output := range k.outputs {
		sizes = append(sizes, bytesOf(output.kind, capacity))
		switch {
		case output.validity < 0:
		case never != nil && never[i]:
			sizes = append(sizes, 0)
		default:
			sizes = append(sizes, bitmapBytes(capacity))
		}
	}
	return sizes
}

// estimate records the sizes that Run allocates. Results about dictionaries are scratch
// memory. They do not change which outputs can be null: an index may always be outside
// its dictionary.
func estimate(call op.Call, program *exprtree.Program, inputs []*column.Column, capacity int) error {
	result, err := appendSizesOf(nil, program, inputs, capacity)
	if err != nil {
		return err
	}
	var scratch []uint64
	r := resolver{program: program, inputs: inputs, rows: capacity}
	if r.any() {
		r.ask()
	}
	for input, questions := range r.asked {
		dictionary := inputs[input].Dictionary()
		if scratch, err = appendSizesOf(scratch, programOf(questions, dictionary), []*column.Column{dictionary}, dictionary.Len()); err != nil {
			return err
		}
	}
	return call.Estimate(result, scratch)
}

// appendSizesOf appends the sizes of the outputs of a program on columns. It writes the
// shorter kernel, because the code decides which outputs can be null, and does not
// compile it.
func appendSizesOf(sizes []uint64, program *exprtree.Program, inputs []*column.Column, capacity int) ([]uint64, error) {
	parts, err := divide(program, inputs)
	for _, part := range parts {
		if sizes, err = appendSizesOf(sizes, part.program(), part.inputs, capacity); err != nil {
			return nil, err
		}
	}
	if parts != nil || err != nil {
		return sizes, err
	}
	shape, err := ShapeOf(program, inputs)
	if err != nil {
		return nil, err
	}
	g, err := New(program, shape, "arguments")
	if err != nil {
		return nil, err
	}
	k, err := newElementwise(g, 1)
	if err != nil {
		return nil, err
	}
	return k.appendSizes(sizes, program, inputs, capacity), nil
}

func (s *scratch) giveBack() {
	s.outputs.Reset()
	s.arguments.Reset()
	s.bytes = s.bytes[:0]
	scratches.Put(s)
}

func (r *runner) launch(call op.Call, s *scratch, program *exprtree.Program, inputs []*column.Column, rows memory.Slice[int64], capacity int) error {
	if err := r.g.Arguments(&s.arguments, program, inputs); err != nil {
		return err
	}
	return r.function.Launch(call.Stream, kernels.GridFor(capacity, threads*r.rows), device.Dim3{X: threads}, 0,
		rows, uint64(capacity), &s.outputs, &s.arguments)
}

// columns makes the results from the buffers, which are in the order of the words.
func (r *runner) columns(call op.Call, program *exprtree.Program, buffers []memory.Slice[uint8], capacity int) ([]*column.Column, error) {
	results := make([]*column.Column, 0, len(r.outputs))
	for i, output := range r.outputs {
		data := column.Data{Type: program.Outputs[i].Type, Length: capacity, Buffers: []column.Bytes{{}, buffers[output.values]}, Manager: call.Manager}
		if output.validity >= 0 && buffers[output.validity].Len() > 0 {
			data.Buffers[0], data.NullCount = buffers[output.validity], column.UnknownNullCount
		}
		c, err := column.New(data)
		if err != nil {
			return results, fmt.Errorf("output %d: %w", i, err)
		}
		results = append(results, c)
	}
	return results, nil
}

// bytesOf returns the size of a buffer of values.
func bytesOf(k kind, n int) uint64 {
	if k.family == boolean {
		return bitmapBytes(n)
	}
	return uint64(n) * uint64(k.bytes())
}

// bitmapBytes returns the size of a bitmap. The kernel writes whole words; Allocate
// pads buffers, so they fit.
func bitmapBytes(n int) uint64 { return (uint64(n) + 7) / 8 }
