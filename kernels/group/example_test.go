package group_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// The letters of a word and their counts.
func ExampleValueCounts() {
	if err := letters(context.Background(), "mississippi"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// m: 1
	// i: 4
	// s: 4
	// p: 2
}

func letters(ctx context.Context, word string) error {
	dev, err := device.Open("host")
	if err != nil {
		return err
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer mgr.Close()
	builder := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	defer builder.Release()
	builder.AppendValues(strings.Split(word, ""), nil)
	values := builder.NewArray()
	defer values.Release()
	c, err := column.FromArray(ctx, mgr, values, column.UploadOptions{})
	if err != nil {
		return err
	}
	defer c.Release()

	counted, err := group.ValueCounts(ctx, c)
	if err != nil {
		return err
	}
	defer counted.Release()
	record, err := counted.Record(ctx)
	if err != nil {
		return err
	}
	defer record.Release()
	for i := range int(record.NumRows()) {
		fmt.Printf("%s: %s\n", record.Column(0).ValueStr(i), record.Column(1).ValueStr(i))
	}
	return nil
}

// The delays in bins of ten minutes.
func ExampleHistogram() {
	if err := bins(context.Background(), []int32{5, 40, 7, 12, 40, 31}); err != nil {
		fmt.Println(err)
	}
	// Output: [2 1 0 3]
}

func bins(ctx context.Context, minutes []int32) error {
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
	builder := array.NewInt32Builder(arrowmemory.DefaultAllocator)
	defer builder.Release()
	builder.AppendValues(minutes, nil)
	values := builder.NewArray()
	defer values.Release()
	delays, err := column.FromArray(ctx, mgr, values, column.UploadOptions{})
	if err != nil {
		return err
	}
	defer delays.Release()

	counts, err := group.Histogram(ctx, delays, group.HistogramOptions{Bins: 4, Low: 0, High: 40})
	if err != nil {
		return err
	}
	defer counts.Release()
	downloaded, err := counts.Array(ctx)
	if err != nil {
		return err
	}
	defer downloaded.Release()
	fmt.Println(downloaded)
	return nil
}
