package gpubeam

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// TopN keeps the first n rows of all batches in an order, by the step "top" of a document. Of rows
// with equal keys it takes those with the least values in the other columns, from the first
// column on, nulls last; nested and dictionary-encoded columns are not compared. The rows of the result
// are in order, in one batch or more.
//
// # Errors
//
// The errors are those of [GroupBy].
func TopN(s beam.Scope, options Options, document string, batches beam.PCollection) (beam.PCollection, error) {
	return reduce(s, "TopN", "top", options, document, batches)
}

// top is the reduction of a step "top".
type top struct {
	before []object
	wide   object
	after  []object
}

func newTop(document string) (*top, error) {
	d, err := parse(document, 1)
	if err != nil {
		return nil, err
	}
	w, err := d.divide("top")
	if err != nil {
		return nil, err
	}
	return &top{w.before, w.wide, w.after}, nil
}

// keys implements reduction: all rows are in one partition.
func (t *top) keys(*arrow.Schema) []expr.Expr { return nil }

// step returns the step "top" that compares all columns of its input.
func (t *top) step(schema *arrow.Schema, inputs any) object {
	step := maps.Clone(t.wide)
	keys := slices.Clone(expressionsOf(t.wide, "keys"))
	for _, f := range schema.Fields() {
		if hasOrder(f.Type) {
			keys = append(keys, object{"value": column(f.Name)})
		}
	}
	step["keys"], step["inputs"] = keys, inputs
	return step
}

// hasOrder reports whether rows can be sorted by a type.
func hasOrder(t arrow.DataType) bool {
	if arrow.IsNested(t.ID()) {
		return false
	}
	switch t.ID() {
	case arrow.NULL, arrow.DICTIONARY, arrow.EXTENSION, arrow.RUN_END_ENCODED, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTHS,
		arrow.INTERVAL_MONTH_DAY_NANO, arrow.DECIMAL256, arrow.STRING_VIEW, arrow.BINARY_VIEW:
		return false
	}
	return true
}

// part implements reduction.
func (t *top) part(ctx context.Context, e *gpuframe.Engine, batch arrow.Record) (arrow.Record, error) {
	before, err := onRecords(e, text(t.before), []arrow.Record{batch})
	if err != nil {
		return nil, err
	}
	// The step reads the last step before it, or an earlier one.
	inputs := inputsOf(t.wide)
	if inputs[0] != len(t.before)-1 {
		before, err = onRecords(e, text(t.before[:inputs[0]+1]), []arrow.Record{batch})
		if err != nil {
			return nil, err
		}
	}
	schema, err := before.Schema(ctx)
	if err != nil {
		return nil, err
	}
	return wholeResult(ctx, e, text(append(slices.Clone(t.before), t.step(schema, t.wide["inputs"]))), []arrow.Record{batch})
}

// combine implements reduction.
func (t *top) combine(ctx context.Context, e *gpuframe.Engine, parts []arrow.Record) (arrow.Record, error) {
	return wholeResult(ctx, e, text([]object{given(0), t.step(parts[0].Schema(), []int{0})}), parts)
}

// finish implements reduction.
func (t *top) finish(ctx context.Context, e *gpuframe.Engine, parts []arrow.Record) ([]arrow.Record, error) {
	return answer(ctx, e, "", text(afterStep(t.step(parts[0].Schema(), []int{0}), t.after)), parts)
}

// oneOf returns the whole result of a query as one record.
func oneOf(ctx context.Context, q gpuframe.Query) (arrow.Record, error) {
	frame, err := q.Collect(ctx)
	if err != nil {
		return nil, err
	}
	record, err := frame.Record(ctx)
	return record, errors.Join(err, frame.Release())
}
