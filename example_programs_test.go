package gpuframe_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// scoring is a function of two columns, with options of the caller.
func scoring(options ...gpuframe.FunctionOption) gpuframe.UserFunction {
	return gpuframe.GoFunc2("score", func(_ context.Context, price []float64, qty []int32, score []float64) error {
		for i := range score {
			score[i] = price[i] / (1 + float64(qty[i]))
		}
		return nil
	}, options...)
}

// Functions of two columns (score, by GoFunc2) and of three (label, by GoFunc3). Pointers take nulls.
func ExampleGoFunc2() {
	gpu := hostEngine()
	defer gpu.Close()
	label := gpuframe.GoFunc3("label", func(_ context.Context, city, product []string, qty []*int32, label []string) error {
		for i := range label {
			pieces := "?"
			if qty[i] != nil {
				pieces = fmt.Sprint(*qty[i])
			}
			label[i] = fmt.Sprintf("%s/%s ×%s", city[i], product[i], pieces)
		}
		return nil
	}, gpuframe.Pure())
	city, product, qty := gpuframe.Col("city"), gpuframe.Col("product"), gpuframe.Col("qty")
	few := gpuframe.If(qty.Lt(5), qty, nil)
	show(gpuframe.From(gpu, exampleSales()).Top(2, gpuframe.Col("price").Asc()).
		Select(label.Of(city, product, few), scoring(gpuframe.Pure()).Of(gpuframe.Col("price"), qty).RoundDigits(2)))
	// Output:
	// label,score
	// Rome/jam ×?,2
	// Oslo/ink ×1,25.5
}

// A function of arrays, for arguments and results of any type. The arrays have their nulls.
func ExampleArrowFunc() {
	gpu := hostEngine()
	defer gpu.Close()
	words := gpuframe.Signature{Arguments: []arrow.DataType{arrow.BinaryTypes.String}, Result: arrow.BinaryTypes.String, Pure: true}
	initials := gpuframe.ArrowFunc("initials", words, func(_ context.Context, arguments []arrow.Array) (arrow.Array, error) {
		names, results := arguments[0].(*array.String), array.NewStringBuilder(arrowmemory.DefaultAllocator)
		defer results.Release()
		for i := range names.Len() {
			if names.IsNull(i) {
				results.AppendNull()
			} else {
				results.Append(strings.ToUpper(names.Value(i)[:1]))
			}
		}
		return results.NewArray(), nil
	})
	show(gpuframe.From(gpu, exampleSales()).Select("city", initials.Of(gpuframe.Col("city"))).Distinct())
	// Output:
	// city,initials
	// Oslo,O
	// Bern,B
	// Rome,R
}

// A function of columns in device memory, for libraries that compute there: here the operators of package kernels/expr.
func ExampleColumnFunc() {
	gpu := hostEngine()
	defer gpu.Close()
	square := gpuframe.ColumnFunc("square", gpuframe.Signature{Result: arrow.PrimitiveTypes.Float64, Pure: true}, func(ctx context.Context, arguments *buffer.Buffer) (*column.Column, error) {
		results, err := expr.Evaluate(ctx, arguments, []expr.Expr{expr.Col("0").Mul(expr.Col("0"))})
		if err != nil {
			return nil, err
		}
		return results[0], nil
	})
	show(gpuframe.From(gpu, exampleSales()).Select("price", square.Of(gpuframe.Col("price"))).Head(2))
	// Output:
	// price,square
	// 60,3600
	// 55,3025
}

// An error and a panic of a function end the query, and the program goes on.
func ExampleFunctionError() {
	gpu := hostEngine()
	defer gpu.Close()
	broken := gpuframe.GoFunc1("broken", func(_ context.Context, city []string, results []int64) error {
		results[len(city)] = 1 // beyond the end
		return nil
	})
	_, err := gpuframe.From(gpu, exampleSales()).Select(broken.Of(gpuframe.Col("city"))).Collect(context.Background())
	var failure *gpuframe.FunctionError
	var panicked *gpuframe.PanicError
	if errors.As(err, &failure) && errors.As(err, &panicked) {
		fmt.Println(failure.Function+":", panicked.Value)
	}
	// Output:
	// broken: runtime error: index out of range [6] with length 6
}
