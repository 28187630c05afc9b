package group

import (
	"context"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Expressions that only sums of numbers, extremes and counts read need no columns, if
// there are few groups on a GPU: the kernel that adds up tiles computes them (tile_values.cu). It loads
// each column once, and nothing writes or reads the values of the expressions. Until it is known how
// the groups are found, such inputs are deferred. If the groups are added up in another way, the first
// that reads a deferred input computes all of them.

// fusible reports whether the kernel of expressions adds to an accumulator. waits is set if the host may wait
// for the windows of sums of floats.
func (p *plan) fusible(a accumulator, waits bool) bool {
	if a.merges || a.term != linear {
		return false
	}
	switch a.kind {
	case countRows, sumIntegers, sumDecimals:
		return true
	case sumFloats:
		stored, err := formOfType(p.inputs[a.value].dataType)
		return err == nil && stored.isFloat() && waits
	case greatest:
		return a.value >= 0
	}
	return false
}

// waits reports whether the host may wait for the windows of sums of floats of expressions. Partial results read
// columns of such expressions.
func (r *queryRows) waits() bool {
	return r.options.MaxGroups == 0 && !r.asStates && !(r.call.Stream != nil && r.call.Stream.Capturing())
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
func (p *plan) deferrable(waits bool) map[int]bool {
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
		if !p.fusible(a, waits) {
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
func (r *queryRows) deferInputs(ctx context.Context, q Query) error {
	t := tuningOf(ctx)
	if q.table.Device() == nil || q.table.Device().Kind() == device.Host || t.Without.Has(fusedExpressions) || t.Find == partitionsName ||
		!t.addsBy(tilesName, q.table.Capacity()) {
		return nil
	}
	r.source, r.deferred = q.table, map[int]bool{}
	for _, number := range slices.Sorted(maps.Keys(r.plan.deferrable(r.waits()))) {
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
		for _, read := range b.Program().Inputs {
			r.reads = append(r.reads, q.table.Column(read))
		}
	}
	return nil
}

// mayBeNull reports whether an input may have nulls.
func (r *queryRows) mayBeNull(number int) bool {
	if nullable, ok := r.deferred[number]; ok {
		return nullable
	}
	c, err := r.rows.ColumnByName(inputName(number))
	return err != nil || op.Nullable(c)
}

// compute makes the columns of deferred inputs.
func (r *queryRows) compute(numbers []int) error {
	if len(numbers) == 0 {
		return nil
	}
	expressions := make([]expr.Expr, len(numbers))
	for i, number := range numbers {
		expressions[i] = r.plan.inputs[number].expression
	}
	columns, err := expr.Evaluate(r.call.Context(), r.source, expressions, r.scratch())
	for _, c := range columns {
		r.owned.Add(c)
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
func (r *queryRows) computeAll() error { return r.compute(slices.Sorted(maps.Keys(r.deferred))) }

// embed makes the columns of all deferred inputs a part of the rows, which are to be filtered.
func (r *queryRows) embed() error {
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

// extentOf returns the range of the values of an input: see extent.
func (r *queryRows) extentOf(number int) (extent, bool) {
	if _, deferred := r.deferred[number]; deferred {
		return extentOfType(r.plan.inputs[number].dataType)
	}
	c, err := r.input(number)
	if err != nil {
		return wholeRange, false
	}
	return extentOf(&r.call, c)
}
