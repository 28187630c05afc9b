package codegen_test

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// A custom kernel: -x of the first row, left in a register.
func Example() {
	f32 := arrow.PrimitiveTypes.Float32
	x := &exprtree.Node{Op: exprtree.Column, Type: f32}
	program := exprtree.NewProgram([]int{0}, []arrow.DataType{f32}, []*exprtree.Node{{Op: exprtree.Negate, Type: f32, Arguments: []*exprtree.Node{x}}})
	shape := codegen.Shape{Inputs: make([]codegen.Input, 1)} // without a bitmap
	g, err := codegen.New(program, shape, "arguments")
	if err != nil {
		fmt.Println(err)
		return
	}
	b := ptx.New("k")
	rows := []ptx.Register{b.Op(ptx.Word64, "mov.u64", "0")}
	values, err := g.Rows(b, rows)
	fmt.Println(values[0][0].Registers, values[0][0].Valid == "", err)
	fmt.Print(strings.ReplaceAll(b.Code(), "\t", ""))
	// Output:
	// [%k_f1] true <nil>
	// mov.u64 %k_d0, 0;
	// shl.b64 %k_d1, %k_d0, 2;
	// ld.param.u64 %k_d2, [arguments];
	// add.s64 %k_d3, %k_d2, %k_d1;
	// ld.global.nc.f32 %k_f0, [%k_d3];
	// // negate(input 0)
	// neg.f32 %k_f1, %k_f0;
}
