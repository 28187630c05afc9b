package gpubeam

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Distinct keeps one of equal rows of all batches, by the step "distinct" of a document. The step
// compares all columns: a step "select" before it leaves out others.
//
// # Errors
//
// The errors are those of [GroupBy].
func Distinct(s beam.Scope, options Options, document string, batches beam.PCollection) (beam.PCollection, error) {
	return reduce(s, "Distinct", "distinct", options, document, batches)
}

// distinct is the reduction of a step "distinct".
type distinct struct{ parts, whole, final string }

func newDistinct(document string) (*distinct, error) {
	d, err := parse(document, 1)
	if err != nil {
		return nil, err
	}
	w, err := d.divide("distinct")
	if err != nil {
		return nil, err
	}
	if columns, _ := w.wide["columns"].([]any); len(columns) > 0 {
		return nil, fmt.Errorf("the step \"distinct\" has columns, and would keep the first row of each group, but a collection has no order: select the columns before: %w", ErrStep)
	}
	step := object{"verb": "distinct", "inputs": []int{0}}
	return &distinct{
		parts: text(append(slices.Clone(w.before), w.wide)),
		whole: text([]object{given(0), step}),
		final: text(afterStep(step, w.after)),
	}, nil
}

// afterStep returns the steps of a wide step on the given input 0, and the later steps.
func afterStep(step object, after []object) []object {
	steps := []object{given(0), step}
	for _, later := range after[1:] {
		steps = append(steps, shifted(later, 1))
	}
	return steps
}

// keys implements reduction.
func (d *distinct) keys(schema *arrow.Schema) (list []expr.Expr) {
	for _, f := range schema.Fields() {
		list = append(list, expr.Col(f.Name))
	}
	return list
}

// part implements reduction.
func (d *distinct) part(ctx context.Context, e *gpuframe.Engine, batch arrow.Record) (arrow.Record, error) {
	return wholeResult(ctx, e, d.parts, []arrow.Record{batch})
}

// combine implements reduction.
func (d *distinct) combine(ctx context.Context, e *gpuframe.Engine, parts []arrow.Record) (arrow.Record, error) {
	return wholeResult(ctx, e, d.whole, parts)
}

// finish implements reduction.
func (d *distinct) finish(ctx context.Context, e *gpuframe.Engine, parts []arrow.Record) ([]arrow.Record, error) {
	return answer(ctx, e, "", d.final, parts)
}

// wholeResult returns the whole result of a document as one record.
func wholeResult(ctx context.Context, e *gpuframe.Engine, document string, inputs ...[]arrow.Record) (arrow.Record, error) {
	q, err := onRecords(e, document, inputs...)
	if err != nil {
		return nil, err
	}
	return oneOf(ctx, q)
}
