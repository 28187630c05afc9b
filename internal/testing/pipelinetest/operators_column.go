package pipelinetest

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// scans add a column to the table.
var scans = []Operator{
	onColumn("cumulative", numericOrTemporal, func(ctx context.Context, choice int, in Inputs, c *column.Column, as string) (*buffer.Buffer, error) {
		functions := []func(context.Context, *column.Column, ...window.Options) (*column.Column, error){
			window.CumulativeSum, window.CumulativeProduct, window.CumulativeMin, window.CumulativeMax, window.CumulativeXor,
		}
		cumulated, err := functions[choice%5](ctx, c, window.Options{Options: in.Options, SkipNulls: choice%2 == 0})
		return appended(in.Table, as, cumulated, err)
	}),
	onColumn("fill", Any, func(ctx context.Context, choice int, in Inputs, c *column.Column, as string) (*buffer.Buffer, error) {
		fill := window.FillForward
		if choice%2 == 0 {
			fill = window.FillBackward
		}
		filled, err := fill(ctx, c, window.Options{Options: in.Options})
		return appended(in.Table, as, filled, err)
	}),
}

// dictionaries are the operators of package dictionary.
var dictionaries = []Operator{
	onColumn("encode", Any, func(ctx context.Context, _ int, in Inputs, c *column.Column, as string) (*buffer.Buffer, error) {
		recoded, err := dictionary.Encode(ctx, c, in.Options)
		return appended(in.Table, as, recoded, err)
	}),
	onColumn("decode", Is(arrow.DICTIONARY), func(ctx context.Context, _ int, in Inputs, c *column.Column, as string) (*buffer.Buffer, error) {
		decoded, err := dictionary.Decode(ctx, c, in.Options)
		return appended(in.Table, as, decoded, err)
	}),
	onColumn("unique", Any, func(ctx context.Context, choice int, in Inputs, c *column.Column, as string) (*buffer.Buffer, error) {
		if choice%2 == 0 {
			return group.ValueCounts(ctx, c, in.Options)
		}
		return group.Unique(ctx, c, in.Options)
	}),
	onColumn("encode alone", textual, func(ctx context.Context, _ int, in Inputs, c *column.Column, as string) (*buffer.Buffer, error) {
		encoded, err := dictionary.Encode(ctx, c, in.Options)
		if err != nil {
			return nil, err
		}
		decoded, err := dictionary.Decode(ctx, encoded, in.Options)
		table, err := alone(as, decoded, err)
		return table, errors.Join(err, encoded.Release())
	}),
}
