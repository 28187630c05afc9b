package group_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// The mean and the number of large delays of each day.
func ExampleQuery_Aggregate() {
	if err := delaysByDay(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [1 2]
	// [23.5 8.5]
	// [1 0]
}

func delaysByDay(ctx context.Context) error {
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
	day, err := column.FromSlice(ctx, mgr, []int32{2, 1, 2, 1, 2}, column.SliceOptions{})
	if err != nil {
		return err
	}
	defer day.Release()
	delay, err := column.FromSlice(ctx, mgr, []float64{5, 40, 0, 7, 12}, column.SliceOptions{Valid: []bool{true, true, false, true, true}})
	if err != nil {
		return err
	}
	defer delay.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "day", Type: day.Type()}, {Name: "delay", Type: delay.Type(), Nullable: true}}, nil)
	flights, err := buffer.New(schema, []*column.Column{day, delay}, buffer.Rows{Count: 5})
	if err != nil {
		return err
	}
	defer flights.Release()

	delays := expr.Col("delay")
	byDay, err := group.By(flights, group.Columns("day")...).Aggregate(ctx, []group.Aggregate{
		group.Mean(delays),
		group.CountAll().Where(delays.Gt(expr.Lit(30))).As("late"),
	}, group.ByOptions{Order: group.ByKey})
	if err != nil {
		return err
	}
	defer byDay.Release()
	record, err := byDay.Record(ctx)
	if err != nil {
		return err
	}
	defer record.Release()
	for _, c := range record.Columns() {
		fmt.Println(c)
	}
	return nil
}
