package group

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/codegen"
	"github.com/gpuframe/gpuframe/internal/exprtree"
	"github.com/gpuframe/gpuframe/internal/kernelset"
	"github.com/gpuframe/gpuframe/internal/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/strategy"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Expressions that only sums of integers and decimals, extremes and counts read need no columns, if
// there are few groups on a GPU: the kernel that adds up tiles computes them (tile_values.cu). It loads
// each column once, and nothing writes or reads the values of the expressions. Until it is known how
// the groups are found, such inputs are deferred. If the groups are added up in another way, the first
// that reads a deferred input computes all of them.
const (
	valuesFile, valuesEntry = "tile_values", "add_values"
	// valueBytes is the number of bytes that a thread loads before it computes. With 1024 threads on a
	// multiprocessor, 16 bytes of each are enough in flight.
	valueBytes = 64
	// mostRowBytes limits the bytes of a row, which are in registers.
	mostRowBytes = 128
	// mostValueSlices is the number of slices of the groups, each of which computes all rows.
	mostValueSlices = 2
	// kernelBytes is the size of the parameters of a kernel, valueParameters that of the ones before the
	// arguments of the expressions.
	kernelBytes     = 4096
	valueParameters = 5*8 + 10*4 + mostReaders*(10*4+3*32+4*8)
)

// fusible reports whether the kernel of expressions adds to an accumulator.
func (a accumulator) fusible() bool {
	if a.merges || a.term != linear {
		return false
	}
	switch a.kind {
	case countRows, sumIntegers, sumDecimals:
		return true
	case greatest:
		return a.value >= 0
	}
	return false
}

// inputs returns the inputs of an accumulator.
func (a accumulator) inputs() (list []int) {
	for _, number := range []int{a.value, a.other, a.where} {
		if number >= 0 {
			list = append(list, number)
		}
	}
	return list
}

// deferrable returns the inputs that are expressions and need no columns if all accumulators that read
// them compute them: none, if no accumulator adds up such values.
func (p *plan) deferrable() map[int]bool {
	list := map[int]bool{}
	for i, in := range p.inputs {
		if _, plain := plainColumn(in.expression); in.ranked < 0 && !plain {
			list[i] = true
		}
	}
	keep := func(numbers ...int) {
		for _, number := range numbers {
			delete(list, number)
		}
	}
	for _, in := range p.inputs {
		keep(in.ranked)
	}
	for _, a := range p.accumulators {
		if !a.fusible() {
			keep(a.inputs()...)
		}
	}
	for i := range p.outputs {
		if o := &p.outputs[i]; o.method != byState || o.findsRow() {
			keep(append([]int{o.value, o.where, o.rows}, o.others...)...)
		}
	}
	if !slices.ContainsFunc(p.accumulators, func(a accumulator) bool { return a.kind != countRows && list[a.value] }) {
		return nil
	}
	return list
}

// deferInputs chooses the inputs that are not computed with the keys.
func (r *run) deferInputs(ctx context.Context, q Query) error {
	choices := strategy.OfGroup(ctx)
	if q.table.Device() == nil || q.table.Device().Kind() == device.Host || choices.Computed || choices.Partition || choices.Records ||
		q.table.Capacity() < fewestTiledRows && !choices.Tiles {
		return nil
	}
	r.source, r.deferred = q.table, map[int]bool{}
	for number := range r.plan.deferrable() {
		bound, err := expr.Bind(q.table.Schema(), r.plan.inputs[number].expression)
		if err != nil {
			return err
		}
		b := (*exprtree.Bound)(bound)
		if b.HasSteps() || codegen.MakesStrings(b.Program()) {
			continue
		}
		nullable := b.Program().NullableInputs(func(input int) bool { return op.Nullable(q.table.Column(b.Program().Inputs[input])) })
		r.deferred[number] = nullable[0]
		for _, place := range b.Program().Inputs {
			r.reads = append(r.reads, q.table.Column(place))
		}
	}
	return nil
}

// mayBeNull reports whether an input may have nulls.
func (r *run) mayBeNull(number int) bool {
	if nullable, ok := r.deferred[number]; ok {
		return nullable
	}
	c, err := r.rows.ColumnByName(inputName(number))
	return err != nil || op.Nullable(c)
}

// compute makes the columns of deferred inputs.
func (r *run) compute(numbers []int) error {
	if len(numbers) == 0 {
		return nil
	}
	expressions := make([]expr.Expr, len(numbers))
	for i, number := range numbers {
		expressions[i] = r.plan.inputs[number].expression
	}
	columns, err := expr.Evaluate(r.call.Context(), r.source, expressions, r.scratch())
	for _, c := range columns {
		r.owned.add(c)
	}
	if err != nil {
		return err
	}
	if r.computed == nil {
		r.computed = map[int]*column.Column{}
	}
	for i, number := range numbers {
		if r.computed[number], err = r.validated(r.call.Context(), columns[i]); err != nil {
			return err
		}
		delete(r.deferred, number)
	}
	return nil
}

// computeAll makes the columns of all deferred inputs.
func (r *run) computeAll() error { return r.compute(slices.Sorted(maps.Keys(r.deferred))) }

// embed makes the columns of all deferred inputs a part of the rows, which are to be filtered.
func (r *run) embed() error {
	if err := r.computeAll(); err != nil {
		return err
	}
	for _, number := range slices.Sorted(maps.Keys(r.computed)) {
		c := r.computed[number]
		rows, err := r.rows.AppendColumn(arrow.Field{Name: inputName(number), Type: c.Type(), Nullable: true}, c)
		if err := r.replace(rows, err); err != nil {
			return err
		}
	}
	r.computed = nil
	return nil
}

// fusion is the launches that compute the values which they add up.
type fusion struct {
	launches []fusedLaunch
	// of are the numbers of their accumulators.
	of map[int]bool
	// terms are the extents of the terms of sums of integers, by the number of the accumulator.
	terms map[int]extent
	limit int
	owned owned
}

// fusedLaunch is a launch of tiles with a kernel of expressions.
type fusedLaunch struct {
	tileLaunch
	code    valueCode
	kernel  *valueKernel
	program *exprtree.Program
	inputs  []*column.Column
}

// valueKernel is the template with the code of some expressions and accumulators. The generator makes
// the arguments.
type valueKernel struct {
	generator *codegen.Generator
	// function is nil if a kernel has no room for the arguments.
	function *kernels.Function
}

var valueKernels codegen.Cache[*valueKernel]

// fuse plans launches that compute the deferred inputs of accumulators. It returns nil if there are none, or if the
// slots of the groups do not fit; then it makes columns of the inputs.
func (r *run) fuse(list []accumulator) (*fusion, error) {
	f := &fusion{of: map[int]bool{}, terms: map[int]extent{}}
	ok, err := r.planFusion(f, list)
	if err == nil {
		if ok {
			err = r.compute(f.others(r, list))
		} else {
			err = r.computeAll()
		}
	}
	if ok && err == nil {
		return f, nil
	}
	return nil, errors.Join(err, f.owned.release())
}

// others returns the deferred inputs that other accumulators read.
func (f *fusion) others(r *run, list []accumulator) (numbers []int) {
	for i, a := range list {
		for _, number := range a.inputs() {
			if _, is := r.deferred[number]; is && !f.of[i] && !slices.Contains(numbers, number) {
				numbers = append(numbers, number)
			}
		}
	}
	return numbers
}

func (r *run) planFusion(f *fusion, list []accumulator) (ok bool, err error) {
	g := r.groups
	if len(r.deferred) == 0 || r.call.OnHost() || g.capacity() == 0 || g.rows == 0 || g.rows < fewestTiledRows && !strategy.OfGroup(r.call.Context()).Tiles {
		return false, nil
	}
	keyed, keys, err := r.keyedSource(f)
	if err != nil || keyed == nil {
		return false, err
	}
	if f.limit, err = r.call.Stream.Device().Attribute(backend.MaxSharedMemoryPerBlockOptIn); err != nil {
		return false, err
	}
	f.limit -= tileReserve
	if bytes := strategy.OfGroup(r.call.Context()).SlotBytes; bytes > 0 {
		f.limit = bytes
	}
	var numbers []int
	var fused []accumulator
	for i, a := range list {
		if a.fusible() {
			numbers, fused = append(numbers, i), append(fused, a)
		}
	}
	rows := rowsOfBlock(r.call.Stream.Device().Info().Multiprocessors, mostSlices, g.rows)
	for i, a := range list {
		if a.kind == sumIntegers && a.fusible() {
			f.terms[i], _, _ = a.extent(r.extentOf)
		}
	}
	integers := func(i int) int { return f.terms[numbers[i]].words(rows) }
	launches, rest := tileLaunches(fused, integers, g.kept, g.capacity(), f.limit)
	for _, i := range rest {
		for _, number := range fused[i].inputs() {
			if _, is := r.deferred[number]; is {
				return false, nil
			}
		}
	}
	for _, l := range launches {
		if l.slices > mostValueSlices {
			return false, nil
		}
		made := fusedLaunch{tileLaunch: l, code: valueCode{dense: g.dense != nil, keys: keys}}
		expressions := r.keyExpressions()
		outputs := map[int]int{-1: -1}
		output := func(number int) int {
			if _, known := outputs[number]; !known {
				outputs[number] = len(expressions)
				expressions = append(expressions, r.plan.inputs[number].expression)
			}
			return outputs[number]
		}
		words, extremes := 0, 0
		made.accumulators = nil
		for _, i := range l.accumulators {
			a := fused[i]
			made.accumulators = append(made.accumulators, numbers[i])
			f.of[numbers[i]] = true
			n, wide, _ := a.tileWords(g.kept, integers(i))
			reader := valueReader{kind: a.kind, least: a.least, marks: a.marks, signed: f.terms[numbers[i]].isSigned, words: n, word: words,
				value: output(a.value), other: output(a.other), onlyFor: output(a.where)}
			if wide > 0 {
				reader.word = extremes
			}
			if a.value >= 0 {
				if reader.is, err = formOfType(r.plan.inputs[a.value].of); err != nil {
					return false, err
				}
			}
			words, extremes = words+n, extremes+wide
			made.code.readers = append(made.code.readers, reader)
		}
		if ok, err = r.bindFused(f, &made, keyed, expressions); !ok || err != nil {
			return false, err
		}
		f.launches = append(f.launches, made)
	}
	return len(f.launches) > 0, nil
}

func formOfType(t arrow.DataType) (form, error) {
	l, err := layout.Of(t)
	return formOf(l), err
}

// keyedSource returns the table that deferred inputs are computed of, with the dense keys, and the forms of these. It
// returns nil for keys that are not integers.
func (r *run) keyedSource(f *fusion) (keyed *buffer.Buffer, forms []form, err error) {
	keyed = r.source
	if r.groups.dense == nil {
		return keyed, nil, nil
	}
	for i := range r.groups.dense.keys {
		k := &r.groups.dense.keys[i]
		if k.constant {
			continue
		}
		if k.is.bytes() == 0 || k.is.isFloat() || k.column.Dictionary() != nil {
			return nil, nil, nil
		}
		if keyed, err = keyed.AppendColumn(arrow.Field{Name: fusedKeyName(i), Type: k.column.Type(), Nullable: true}, k.column); err != nil {
			return nil, nil, err
		}
		f.owned.add(keyed)
		forms = append(forms, k.is)
	}
	return keyed, forms, nil
}

func fusedKeyName(i int) string { return fmt.Sprint("\x00key ", i) }

// keyExpressions returns the dense keys as columns of the table of keyedSource.
func (r *run) keyExpressions() (list []expr.Expr) {
	if r.groups.dense == nil {
		return nil
	}
	for i := range r.groups.dense.keys {
		if !r.groups.dense.keys[i].constant {
			list = append(list, expr.Col(fusedKeyName(i)))
		}
	}
	return list
}

// bindFused finds the kernel of a launch. It returns false if there is none.
func (r *run) bindFused(f *fusion, l *fusedLaunch, keyed *buffer.Buffer, expressions []expr.Expr) (ok bool, err error) {
	bound, err := expr.Bind(keyed.Schema(), expressions...)
	if err != nil {
		return false, err
	}
	program := (*exprtree.Bound)(bound).Program()
	if (*exprtree.Bound)(bound).HasSteps() || codegen.MakesStrings(program) {
		return false, nil
	}
	inputs := make([]*column.Column, len(program.Inputs))
	for i, place := range program.Inputs {
		inputs[i] = keyed.Column(place)
	}
	resolved, columns, releaseMade, err := codegen.Resolve(r.call, program, inputs, r.groups.rows)
	if err != nil {
		return false, err
	}
	f.owned.add(releaser(releaseMade))
	l.program, l.inputs = resolved, columns
	bytes := 0
	for _, t := range resolved.Types {
		if width, err := layout.Of(t); err == nil {
			bytes += width.Width
		}
	}
	if bytes > mostRowBytes {
		return false, nil
	}
	l.code.tile = tileRows
	for l.code.tile > 1 && l.code.tile*bytes > valueBytes {
		l.code.tile /= 2
	}
	prefix := fmt.Sprintf("group %v %v %d %v ", l.code.dense, l.code.keys, l.code.tile, l.code.readers)
	l.kernel, err = valueKernels.Get(r.call.Context(), r.call.Stream.Device(), prefix, l.program, l.inputs, func(dev *device.Device, shape codegen.Shape) (*valueKernel, error) {
		k := new(valueKernel)
		var err error
		if k.generator, err = codegen.New(l.program, shape, "arguments"); err != nil {
			return nil, err
		}
		code := l.code
		if valueParameters+8*(k.generator.Words()+code.moreWords()) > kernelBytes {
			return k, nil
		}
		text, err := code.text(k.generator)
		if err != nil {
			return nil, err
		}
		k.function, err = kernelset.Load(dev, text, valuesEntry)
		return k, err
	})
	return err == nil && l.kernel.function != nil, err
}

// releaser is a function that releases memory.
type releaser func() error

// Release calls the function.
func (r releaser) Release() error { return r() }

// add adds all rows to the states of the accumulators, and returns the readers of the others.
func (f *fusion) add(call *op.Call, g *grouping, readers []reader) (others []reader, err error) {
	if f == nil {
		return readers, nil
	}
	for i := range f.launches {
		if err := f.launches[i].add(call, g, readers, f.limit); err != nil {
			return nil, err
		}
	}
	for i := range readers {
		if !f.of[i] {
			others = append(others, readers[i])
		}
	}
	return others, nil
}

func (l *fusedLaunch) add(call *op.Call, g *grouping, readers []reader, limit int) error {
	t := tiling{slots: g.capacity(), slices: l.slices, words: l.words, extremes: l.extremes}
	for i, number := range l.accumulators {
		t.readers = append(t.readers, tileReader{reader: &readers[number], word: l.code.readers[i].word, words: l.code.readers[i].words})
	}
	t.shape(call.Stream.Device().Info().Multiprocessors, g.rows, limit)
	arguments := new(kernels.Words)
	if err := l.kernel.generator.Arguments(arguments, l.program, l.inputs); err != nil {
		return err
	}
	l.code.addWords(arguments, g)
	return l.kernel.function.Launch(call.Stream, device.Dim3{X: uint32(t.blocks)}, device.Dim3{X: tileThreads}, uint32(t.entries()*t.slotBytes()),
		g.counted, int64(g.rows), g.keys.DeviceRows(), int64(t.slots), uint32(l.code.tile), t.argument(), arguments)
}

// extentOf returns the range of the values of an input: see extent.
func (r *run) extentOf(number int) (extent, bool) {
	if _, is := r.deferred[number]; is {
		return extentOfType(r.plan.inputs[number].of)
	}
	c, err := r.input(number)
	if err != nil {
		return wholeRange, false
	}
	return extentOf(&r.call, c)
}

// has reports whether the launches add to an accumulator.
func (f *fusion) has(number int) bool { return f != nil && f.of[number] }
