package window

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Real is a number or a time, counted in its unit, as float64: the distance of two keys of an
// order of any type.
func Real(e expr.Expr) expr.Expr { return expr.Apply(real{}, e) }

type real struct{}

func (real) Name() string { return "real" }

func (real) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if _, ok := number(operands[0]); !ok && !isTime(operands[0]) {
		return nil, layout.Refuse(operands[0], "numbers or times", device.ErrNotSupported)
	}
	return arrow.PrimitiveTypes.Float64, nil
}

func isTime(t arrow.DataType) bool {
	l, err := layout.Of(t)
	return err == nil && l.Class == layout.Temporal
}

func (real) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	c := operands[0]
	value := expr.Col("value")
	switch bits := c.Type().(arrow.FixedWidthDataType).BitWidth(); {
	case isTime(c.Type()) && bits == 32:
		value = value.Cast(arrow.PrimitiveTypes.Int32)
	case isTime(c.Type()):
		value = value.Cast(arrow.PrimitiveTypes.Int64)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "value", Type: c.Type(), Nullable: true}}, nil)
	table, err := buffer.New(schema, []*column.Column{c}, buffer.Rows{Count: int64(c.Len()), Shared: c.RowCount(), Manager: options.Manager})
	if err != nil {
		return nil, err
	}
	reals, err := expr.Evaluate(ctx, table, []expr.Expr{value.Cast(arrow.PrimitiveTypes.Float64)}, options)
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, release.All(reals))
	}
	return reals[0], nil
}
