package hosteval_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

func Example() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "delay", Type: arrow.PrimitiveTypes.Int8}}, nil)
	delay, _, err := array.FromJSON(arrowmemory.DefaultAllocator, schema.Field(0).Type, strings.NewReader("[20, null, 3]"))
	if err != nil {
		log.Fatal(err)
	}
	bound, err := expr.Bind(schema, expr.Col("delay").Gt(expr.Lit(15)))
	if err != nil {
		log.Fatal(err)
	}
	program := (*exprtree.Bound)(bound).Program()
	results, err := hosteval.Evaluate(context.Background(), program, []arrow.Array{delay}, delay.Len())
	if err != nil {
		log.Fatal(err)
	}
	defer results[0].Release()
	fmt.Println(results[0])
	// Output: [true (null) false]
}
