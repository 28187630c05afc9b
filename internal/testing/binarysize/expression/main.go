// Command expression loads a record and computes an expression, with as few packages
// as that takes.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/binarysize"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

func main() {
	binarysize.PrintResident()
	if len(os.Args) == 1 {
		return
	}
	if err := compute(nil); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func compute(record arrow.Record) error {
	dev, err := device.Open("")
	if err != nil {
		return err
	}
	m, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	table, err := buffer.FromRecord(m, record)
	if err != nil {
		return err
	}
	columns, err := expr.Evaluate(context.Background(), table, []expr.Expr{expr.Col("a").Add(expr.Lit(1))})
	fmt.Println(columns)
	return err
}
