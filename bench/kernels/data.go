package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// wideColumns is the number of float64 columns for filters of many columns.
const wideColumns = 10

// generate makes a table of pseudo-random columns on the device: only the row numbers
// are uploaded.
func (b *bench) generate(ctx context.Context, rows int) (_ *buffer.Buffer, err error) {
	numbers, err := b.rowNumbers(ctx, rows)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, numbers.Release()) }()
	f32, f64, i32 := arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int32
	row := expr.Col("row")
	// No operation here can return null, as divisions and shifts can, so the columns
	// have no bitmaps.
	random := func(seed int, bits uint64) expr.Expr {
		return expr.Hash(row, expr.Lit(int64(seed))).BitAnd(expr.Lit(bits))
	}
	uniform := func(seed int) expr.Expr { return random(seed, 1<<53-1).CastWrap(f64).Mul(expr.Lit(0x1p-53)) }
	x := uniform(1)
	wide := uniform(3)
	tenth := random(4, 0xff).Lt(expr.Lit(uint64(26)))
	columns := []expr.Expr{
		row.As("sorted"),
		x.CastWrap(f32).As("x"),
		uniform(2).CastWrap(f32).As("y"),
		wide.As("v"),
		expr.If(tenth, expr.Null(f64), wide).As("v null"),
		expr.If(tenth, expr.Null(f32), x.CastWrap(f32)).As("x null"),
		random(5, 1).Eq(expr.Lit(uint64(0))).As("mask"),
		uniform(6).Mul(expr.Lit(float64(rows))).CastWrap(i32).As("random"),
		random(7, 255).CastWrap(arrow.PrimitiveTypes.Uint32).As("byte"),
		random(8, 3).Eq(expr.Lit(uint64(0))).As("other mask"),
	}
	for i, narrow := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16} {
		value := func(seed int) expr.Expr { return random(seed+i, 63).CastWrap(narrow) }
		columns = append(columns,
			value(30).As(fmt.Sprintf("a %v", narrow)), value(40).As(fmt.Sprintf("b %v", narrow)),
			expr.If(tenth, expr.Null(narrow), value(50)).As(fmt.Sprintf("a %v null", narrow)),
		)
	}
	for i := range wideColumns {
		columns = append(columns, uniform(10+i).As(fmt.Sprintf("w%d", i)))
	}
	table, err := expr.Project(ctx, numbers, columns, b.options())
	if err != nil {
		return nil, err
	}
	for i, field := range table.Schema().Fields() {
		_, _, err := table.Column(i).Validity()
		if hasNulls := strings.HasSuffix(field.Name, "null"); hasNulls != (err == nil) {
			return nil, errors.Join(fmt.Errorf("column %q has an unexpected bitmap", field.Name), table.Release())
		}
	}
	return table, nil
}

// rowNumbers uploads the row numbers as a column "row" of int32.
func (b *bench) rowNumbers(ctx context.Context, rows int) (*buffer.Buffer, error) {
	builder := array.NewInt32Builder(arrowmemory.DefaultAllocator)
	defer builder.Release()
	builder.Reserve(rows)
	for i := range rows {
		builder.UnsafeAppend(int32(i))
	}
	values := builder.NewArray()
	defer values.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "row", Type: arrow.PrimitiveTypes.Int32}}, nil)
	record := array.NewRecord(schema, []arrow.Array{values}, int64(rows))
	defer record.Release()
	return buffer.FromRecords(ctx, b.mgr, []arrow.Record{record}, buffer.LoadOptions{Stream: b.stream})
}
