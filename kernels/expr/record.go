package expr

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
)

// EvaluateRecord computes the expressions for every row of a record in host memory, on
// the host. It serves small inputs, such as statistics of files. The results are those
// of [Evaluate]. The caller releases the arrays.
//
// # Errors
//
// The error is that of [Bind] for expressions that do not fit the schema. The contents
// of the record are not checked.
func EvaluateRecord(ctx context.Context, record arrow.Record, expressions []Expr) ([]arrow.Array, error) {
	b, err := bind(record.Schema(), expressions)
	if err != nil {
		return nil, err
	}
	if len(b.steps) > 0 {
		return nil, fmt.Errorf("expr: evaluate a record: %s needs a table on a device: %w", b.steps[0].operator.Name(), device.ErrNotSupported)
	}
	var computed []arrow.Array
	if b.computed != nil {
		inputs := make([]arrow.Array, len(b.computed.Inputs))
		for i, place := range b.computed.Inputs {
			inputs[i] = record.Column(place)
		}
		if computed, err = hosteval.Evaluate(ctx, b.computed, inputs, int(record.NumRows())); err != nil {
			return nil, fmt.Errorf("expr: evaluate a record: %w", err)
		}
	}
	arrays := make([]arrow.Array, len(b.passed))
	for i, place := range b.passed {
		if place < 0 {
			arrays[i], computed = computed[0], computed[1:]
			continue
		}
		arrays[i] = record.Column(place)
		arrays[i].Retain()
	}
	return arrays, nil
}
