package group

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// fusedWords is a number of words that arguments of few inputs have.
const fusedWords = 24

const valuesFile, valuesEntry = "tile_values", "add_values"

// fusion is the launches that compute the values which they add up.
type fusion struct {
	launches []fusedLaunch
	// accumulators are the numbers of those that they add up.
	accumulators map[int]bool
	// terms are the extents of the terms of sums of integers, by the number of the accumulator.
	terms map[int]extent
	limit int
	// presence is the number of the accumulator that counts the rows of each group, or negative. present is the number of
	// groups with rows, or unknown until a launch that the host waits for has counted them.
	presence int
	present  int64
	// reader makes columns of the inputs of an accumulator.
	reader func(accumulator) (reader, error)
	owned  release.Stack
}

// fusedLaunch is a launch of tiles with a kernel of expressions.
type fusedLaunch struct {
	tileLaunch
	code   valueCode
	kernel *valueKernel
	// samples computes the samples of sums of floats.
	samples *valueKernel
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

// fuse plans launches that compute the deferred inputs of accumulators. It returns nil without such inputs, or if the
// slots of the groups do not fit; then it makes columns of the inputs.
func (r *aggregation) fuse(list []accumulator) (*fusion, error) {
	if len(r.deferred) == 0 {
		return nil, nil
	}
	f := &fusion{accumulators: map[int]bool{}, terms: map[int]extent{}, presence: r.presence, present: unknownGroups}
	f.reader = func(a accumulator) (reader, error) {
		for _, number := range a.inputs() {
			if _, deferred := r.deferred[number]; deferred {
				if err := r.compute([]int{number}); err != nil {
					return reader{}, err
				}
			}
		}
		return readerOf(&r.call, a, r.input)
	}
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
	return nil, errors.Join(err, f.owned.Release())
}

// others returns the deferred inputs that other accumulators read.
func (f *fusion) others(r *aggregation, list []accumulator) (numbers []int) {
	for i, a := range list {
		for _, number := range a.inputs() {
			if _, deferred := r.deferred[number]; deferred && !f.accumulators[i] && !slices.Contains(numbers, number) {
				numbers = append(numbers, number)
			}
		}
	}
	return numbers
}

// planFusion plans the launches. It returns false without launches.
func (r *aggregation) planFusion(f *fusion, list []accumulator) (ok bool, err error) {
	g := r.groups
	if r.call.OnHost() {
		return false, nil
	}
	f.limit = r.facts.slotLimit()
	launches, terms, ok := r.facts.fusedLaunches(list, g.capacity(), g.rows, g.kept)
	if !ok {
		return false, nil
	}
	f.terms = terms
	keyed, keys, err := r.keyedSource(f)
	if err != nil || keyed == nil {
		return false, err
	}
	for _, l := range launches {
		launch, expressions, err := r.planLaunch(f, l, list)
		if err != nil {
			return false, err
		}
		launch.code.keys = keys
		if ok, err = r.bindFused(f, &launch, keyed, expressions); !ok || err != nil {
			return false, err
		}
		f.launches = append(f.launches, launch)
	}
	return true, nil
}

// slotLimit is the bytes of the slots of a block that adds tiles.
func (f *facts) slotLimit() int {
	if f.SlotBytes > 0 {
		return f.SlotBytes
	}
	return f.shared - tileReserve
}

// fusedLaunches divides accumulators into launches of tiles that compute expressions, for a number of slots and of rows.
// terms are the ranges of the terms of sums of integers, by the number of the accumulator. It returns false if the
// launches compute no deferred input, or not all of them.
func (f *facts) fusedLaunches(list []accumulator, slots, rows int, bins bool) (launches []tileLaunch, terms map[int]extent, ok bool) {
	if slots == 0 || rows == 0 || !f.addsBy(tilesName, int64(rows)) {
		return nil, nil, false
	}
	layout := &tileLayout{bins: bins, slots: slots, limit: f.slotLimit(), derived: -1, rowsOfOne: rowsOfBlock(f.multiprocessors, mostSlices, rows)}
	var numbers []int
	terms = map[int]extent{}
	for i, a := range list {
		if !f.plan.fusible(a, f.waits) || !f.plan.readsNumbers(a) {
			continue
		}
		if a.kind == sumIntegers {
			terms[i], _, _ = a.extent(f.extentOf)
		}
		numbers = append(numbers, i)
		layout.add(a, terms[i], false)
	}
	launches, rest := layout.launches()
	if !slices.ContainsFunc(layout.list, f.readsDeferred) || slices.ContainsFunc(rest, func(i int) bool { return f.readsDeferred(layout.list[i]) }) {
		return nil, nil, false
	}
	for _, l := range launches {
		if l.slices > mostValueSlices {
			return nil, nil, false
		}
		for j, i := range l.accumulators {
			l.accumulators[j] = numbers[i]
		}
	}
	return launches, terms, true
}

// readsDeferred reports whether an input of an accumulator has no column yet.
func (f *facts) readsDeferred(a accumulator) bool {
	return slices.ContainsFunc(a.inputs(), func(number int) bool { return f.inputs[number].deferred })
}

// readsNumbers reports whether all inputs of an accumulator are numbers or bools. The validity of other columns
// is read by the other kernels.
func (p *plan) readsNumbers(a accumulator) bool {
	return !slices.ContainsFunc(a.inputs(), func(number int) bool {
		stored, err := formOfType(p.inputs[number].dataType)
		return err != nil || stored == fromNothing
	})
}

// planLaunch returns a launch and the expressions that it computes, with the accumulators of a list by their
// numbers.
func (r *aggregation) planLaunch(f *fusion, l tileLaunch, list []accumulator) (launch fusedLaunch, expressions []expr.Expr, err error) {
	launch = fusedLaunch{tileLaunch: l, code: valueCode{dense: r.groups.dense != nil}}
	expressions = r.keyExpressions()
	outputs := map[int]int{-1: -1}
	output := func(number int) int {
		if _, known := outputs[number]; !known {
			outputs[number] = len(expressions)
			expressions = append(expressions, r.plan.inputs[number].expression)
		}
		return outputs[number]
	}
	words, extremes := 0, 0
	for _, number := range l.accumulators {
		a, terms := list[number], f.terms[number]
		f.accumulators[number] = true
		n, wide, _ := a.tileWords(r.groups.kept, terms.words(r.rowsOfBlock()))
		reader := valueReader{kind: a.kind, least: a.least, marks: a.marks, signed: terms.isSigned, words: n, word: words,
			value: output(a.value), other: output(a.other), onlyFor: output(a.where)}
		if wide > 0 {
			reader.word = extremes
		}
		if a.value >= 0 {
			if reader.form, err = formOfType(r.plan.inputs[a.value].dataType); err != nil {
				return launch, nil, err
			}
		}
		words, extremes = words+n, extremes+wide
		launch.code.readers = append(launch.code.readers, reader)
	}
	return launch, expressions, nil
}

// rowsOfBlock returns the most rows that a block adds up.
func (r *aggregation) rowsOfBlock() int {
	return rowsOfBlock(r.call.Stream.Device().Info().Multiprocessors, mostSlices, r.groups.rows)
}

// formOfType is formOf of the layout of a type.
func formOfType(t arrow.DataType) (form, error) {
	l, err := layout.Of(t)
	return formOf(l), err
}

// keyedSource returns the table that deferred inputs are computed of, with the dense keys, and the forms of these. It
// returns nil for keys that are not integers.
func (r *aggregation) keyedSource(f *fusion) (keyed *buffer.Buffer, forms []form, err error) {
	keyed = r.source
	if r.groups.dense == nil {
		return keyed, nil, nil
	}
	for i := range r.groups.dense.keys {
		k := &r.groups.dense.keys[i]
		if k.constant {
			continue
		}
		if k.form.bytes() == 0 || k.form.isFloat() || k.column.Dictionary() != nil {
			return nil, nil, nil
		}
		if keyed, err = keyed.AppendColumn(arrow.Field{Name: fusedKeyName(i), Type: k.column.Type(), Nullable: true}, k.column); err != nil {
			return nil, nil, err
		}
		f.owned.Add(keyed)
		forms = append(forms, k.form)
	}
	return keyed, forms, nil
}

func fusedKeyName(i int) string { return "\x00" + keyName(i) }

// fusedKeys are the dense keys as expressions. The same ones are used again, so that their bound forms are found.
var fusedKeys = func() (list [mostDenseKeys]expr.Expr) {
	for i := range list {
		list[i] = expr.Col(fusedKeyName(i))
	}
	return list
}()

// keyExpressions returns the dense keys as columns of the table of keyedSource.
func (r *aggregation) keyExpressions() (list []expr.Expr) {
	if r.groups.dense == nil {
		return nil
	}
	for i := range r.groups.dense.keys {
		if !r.groups.dense.keys[i].constant {
			list = append(list, fusedKeys[i])
		}
	}
	return list
}

// bindFused finds the kernel of a launch. It returns false for expressions that the kernel cannot compute.
func (r *aggregation) bindFused(f *fusion, l *fusedLaunch, keyed *buffer.Buffer, expressions []expr.Expr) (ok bool, err error) {
	bound, err := expr.Bind(keyed.Schema(), expressions...)
	if err != nil {
		return false, err
	}
	program := (*exprtree.Bound)(bound).Program()
	if (*exprtree.Bound)(bound).HasSteps() || codegen.MakesStrings(program) {
		return false, nil
	}
	inputs := make([]*column.Column, len(program.Inputs))
	for i, number := range program.Inputs {
		inputs[i] = keyed.Column(number)
	}
	resolved, columns, releaseMade, err := codegen.Resolve(r.call, program, inputs, r.groups.rows)
	if err != nil {
		return false, err
	}
	f.owned.Add(release.Func(releaseMade))
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
		return l.newKernel(dev, l.program, shape, valuesEntry, (*valueCode).text)
	})
	if err != nil || l.kernel.function == nil {
		return false, err
	}
	l.samples, err = l.samplesOf(&r.call, prefix)
	return err == nil, err
}

// add adds all rows to the states of the accumulators, and returns the readers of the others.
func (f *fusion) add(call *op.Call, g *grouping, readers []reader) (others []reader, err error) {
	if f == nil {
		return readers, nil
	}
	for i := range f.launches {
		if err := f.addLaunch(call, g, &f.launches[i], readers); err != nil {
			return nil, err
		}
	}
	for i := range readers {
		if !f.accumulators[i] {
			others = append(others, readers[i])
		}
	}
	return others, nil
}

func (f *fusion) addLaunch(call *op.Call, g *grouping, l *fusedLaunch, readers []reader) (err error) {
	t := &tiling{slots: g.capacity(), slices: l.slices, words: l.words, extremes: l.extremes}
	for i, number := range l.accumulators {
		t.readers = append(t.readers, tileReader{reader: &readers[number], word: l.code.readers[i].word, words: l.code.readers[i].words})
	}
	t.shape(call.Stream.Device().Info().Multiprocessors, g.rows, f.limit)
	w, err := l.chooseWindows(call, g, t)
	if w != nil {
		defer func() { err = errors.Join(err, w.block.Release()) }()
	}
	if err != nil {
		return err
	}
	arguments := kernelset.NewWords(fusedWords)
	if err := l.kernel.generator.Arguments(arguments, l.program, l.inputs); err != nil {
		return err
	}
	l.code.addWords(arguments, g)
	err = l.kernel.function.Launch(call.Stream, device.Dim3{X: uint32(t.blocks)}, device.Dim3{X: tileThreads}, uint32(t.entries()*t.slotBytes()),
		g.counted, int64(g.rows), g.keys.DeviceRows(), int64(t.slots), uint32(l.code.tile), t.argument(), arguments)
	if err != nil || w == nil {
		return err
	}
	counting := slices.Index(l.accumulators, f.presence)
	overflowed, present, err := w.foldWindows(call, g, counting)
	if err != nil {
		return err
	}
	if counting >= 0 {
		f.present = present
	}
	return f.addAgain(call, g, l, readers, overflowed)
}

// addAgain adds up sums of floats of which the windows overflow, of columns.
func (f *fusion) addAgain(call *op.Call, g *grouping, l *fusedLaunch, readers []reader, overflowed []int) error {
	var again []reader
	for _, i := range overflowed {
		number := l.accumulators[i]
		r, err := f.reader(readers[number].accumulator)
		if err != nil {
			return err
		}
		r.states, r.stride = readers[number].states, readers[number].stride
		again = append(again, r)
	}
	for stage := range uint32(2) {
		if len(again) == 0 {
			break
		}
		if err := g.launch(call, again, stage); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether the launches add to an accumulator.
func (f *fusion) has(number int) bool { return f != nil && f.accumulators[number] }
