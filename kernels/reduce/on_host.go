package reduce

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
)

func (r *run) onHost(ctx context.Context, aggregates []Aggregate) (*buffer.Buffer, error) {
	p, err := newPlan(r.program, r.wanted, r.rows)
	if err != nil {
		return nil, err
	}
	partials, err := r.partialsOnHost(ctx, p)
	if err != nil {
		return nil, err
	}
	block, slices, err := r.call.Allocate(p.resultBytes())
	if err != nil {
		return nil, err
	}
	bytes, err := slices[0].Host()
	var result *buffer.Buffer
	if err == nil {
		for i, planned := range p.results {
			value, valid := p.finishHost(planned, partials)
			copy(bytes[i*resultStride:], value[:width(planned.kind)])
			bytes[i*resultStride+validityOffset] = 0
			if valid {
				bytes[i*resultStride+validityOffset] = 1
			}
		}
		var names resultSchema
		result, err = p.resultTable(names.schema(p, r.program, aggregates), slices[0], r.call.Manager)
	}
	if err = errors.Join(err, block.Release()); err != nil {
		return nil, errors.Join(err, result.Release())
	}
	return result, nil
}

// partialsOnHost evaluates the expressions for all rows, and reduces them.
func (r *run) partialsOnHost(ctx context.Context, p *plan) ([][]uint64, error) {
	inputs, err := hostarray.Views(r.inputs)
	if err != nil {
		return nil, err
	}
	defer hostarray.Release(inputs)
	var outputs []arrow.Array
	if len(r.program.Outputs) > 0 {
		if outputs, err = hosteval.Evaluate(ctx, r.program, inputs, int(r.rows)); err != nil {
			if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
				err = cancel.Error(ctx) // arrow-go's error has no cause
			}
			return nil, err
		}
		defer hostarray.Release(outputs)
	}
	return p.partialsOnHost(ctx, outputs, r.rows)
}
