package pipelinetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// mostRight is the number of rows of the right side of a join, so that results stay small.
const mostRight = 12

// withHead runs an operator on a table and its first rows.
func withHead(ctx context.Context, in Inputs, run func(right *buffer.Buffer) (*buffer.Buffer, error)) (*buffer.Buffer, error) {
	right, err := selection.Head(ctx, in.Table, mostRight, in.Options)
	if err != nil {
		return nil, err
	}
	combined, err := run(right)
	return combined, errors.Join(err, right.Release())
}

// joins join a table with its first rows.
var joins = []Operator{
	{"join", func(d *Draw) (string, Run, bool) {
		var on []join.On
		for range 1 + d.IntN(2) {
			i, ok := d.Column(Ordered)
			if !ok {
				return "", nil, false
			}
			on = append(on, join.Using(d.Schema.Field(i).Name)...)
		}
		options := join.Options{Kind: join.Kind(d.IntN(int(join.Cross))), Order: join.Order(d.IntN(2)), NullsEqual: d.IntN(2) == 0, Suffix: d.Name()}
		if d.IntN(3) == 0 {
			options.Where = d.Condition(1)
		}
		return fmt.Sprintf("join(%v, %+v)", on, options), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			options.Options = in.Options
			return withHead(ctx, in, func(right *buffer.Buffer) (*buffer.Buffer, error) {
				return join.Tables(ctx, in.Table, right, on, options)
			})
		}, true
	}},
	{"as of", func(d *Draw) (string, Run, bool) {
		i, ok := d.Column(func(t arrow.DataType) bool { return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID()) || temporal(t) })
		if !ok {
			return "", nil, false
		}
		options := join.AsOfOptions{Direction: join.Direction(d.IntN(3)), NotEqual: d.IntN(2) == 0, MatchedOnly: d.IntN(2) == 0, Suffix: d.Name()}
		if by, ok := d.Column(Ordered); ok && d.IntN(2) == 0 {
			options.By = join.Using(d.Schema.Field(by).Name)
		}
		on := join.Using(d.Schema.Field(i).Name)[0]
		return fmt.Sprintf("as of(%v, %+v)", on, options), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			options.Options = in.Options
			return withHead(ctx, in, func(right *buffer.Buffer) (*buffer.Buffer, error) {
				return join.AsOf(ctx, in.Table, right, on, options)
			})
		}, true
	}},
}
