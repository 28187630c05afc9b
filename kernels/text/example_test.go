package text_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/text"
	"github.com/gpuframe/gpuframe/memory"
)

// Regular expressions are parts of expressions.
func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// is address [true false (null)]
	// name ["ADA" (null) (null)]
}

func example(ctx context.Context) error {
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		return err
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer mgr.Close()
	people, err := load(mgr, `[{"contact": "ada@example.com"}, {"contact": "none"}, {"contact": null}]`,
		arrow.Field{Name: "contact", Type: arrow.BinaryTypes.String, Nullable: true})
	if err != nil {
		return err
	}
	defer people.Release()

	contact := expr.Col("contact")
	table, err := expr.Project(ctx, people, []expr.Expr{
		text.Matches(contact, `@[a-z]+\.com$`).As("is address"),
		text.Extract(contact, `^([a-z]+)@`, 1).Upper().As("name"),
	})
	if err != nil {
		return err
	}
	defer table.Release()
	record, err := table.Record(ctx)
	if err != nil {
		return err
	}
	defer record.Release()
	for i, column := range record.Columns() {
		fmt.Println(record.ColumnName(i), column)
	}
	return nil
}

// load makes a table of rows in JSON.
func load(mgr *memory.Manager, rows string, fields ...arrow.Field) (*buffer.Buffer, error) {
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(rows))
	if err != nil {
		return nil, err
	}
	defer record.Release()
	return buffer.FromRecord(mgr, record)
}
