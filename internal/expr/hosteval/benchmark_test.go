package hosteval_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// BenchmarkOperation measures one operation over two nullable columns. The bytes are
// the size of one column.
func BenchmarkOperation(b *testing.B) {
	i8, i32, i64 := arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	f32, f64 := arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64
	x, y := expr.Col("a"), expr.Col("b")
	cases := []struct {
		name  string
		e     expr.Expr
		types []arrow.DataType
	}{
		{"Add", x.Add(y), []arrow.DataType{i8, i32, i64, f64}},
		{"Multiply", x.Mul(y), []arrow.DataType{i8, i32, i64, f64}},
		{"AddLiteral", x.Add(expr.Lit(1)), []arrow.DataType{i32, f64}},
		{"Divide", x.Div(y), []arrow.DataType{f32, f64}},
		{"Negate", x.Neg(), []arrow.DataType{i32, f64}},
		{"Abs", x.Abs(), []arrow.DataType{i32, f64}},
		{"Sqrt", x.Sqrt(), []arrow.DataType{f32, f64}},
		{"Floor", x.Floor(), []arrow.DataType{f64}},
		{"Truncate", x.Trunc(), []arrow.DataType{f64}},
		{"Less", x.Lt(y), []arrow.DataType{i8, i32, i64, f64}},
		{"EqualLiteral", x.Eq(expr.Lit(7)), []arrow.DataType{i32}},
		{"CastToFloat64", x.Cast(f64), []arrow.DataType{i32, i64, f32}},
		{"CastToInt64", x.Cast(i64), []arrow.DataType{i8, i32, f64}},
		{"CastToFloat32", x.Cast(f32), []arrow.DataType{f64}},
	}
	for _, rows := range []int{1_000, 100_000, 4_000_000} {
		for _, c := range cases {
			for _, dataType := range c.types {
				b.Run(fmt.Sprintf("%s/%v/%d", c.name, dataType, rows), func(b *testing.B) {
					schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dataType}, {Name: "b", Type: dataType}}, nil)
					program := exprtest.Program(b, schema, c.e)
					values := exprtest.NewValues(1)
					arrays := []arrow.Array{values.Array(dataType, rows), values.Array(dataType, rows)}
					inputs := make([]arrow.Array, len(program.Inputs))
					for i, place := range program.Inputs {
						inputs[i] = arrays[place]
					}
					b.SetBytes(int64(rows * dataType.(arrow.FixedWidthDataType).Bytes()))
					for b.Loop() {
						got, err := hosteval.Evaluate(context.Background(), program, inputs, rows)
						if err != nil {
							b.Fatal(err)
						}
						got[0].Release()
					}
				})
			}
		}
	}
}
