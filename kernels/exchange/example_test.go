package exchange_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/memory"
)

// Tables of two devices become one. The devices are the host, twice; on a machine with two GPUs
// open "cuda:0" and "cuda:1".
func ExampleGather() {
	if err := gatherFromTwo(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// example:1 to example: peer copy
	// [1 2 3 4 5] on example
}

func gatherFromTwo(ctx context.Context) error {
	if err := device.Register("example", host.Driver{Count: 2}); err != nil {
		return err
	}
	var tables []*buffer.Buffer
	var managers []*memory.Manager
	for i, values := range [][]int64{{1, 2}, {3, 4, 5}} {
		dev, err := device.Open(fmt.Sprint("example:", i))
		if err != nil {
			return err
		}
		defer dev.Close()
		mgr, err := memory.NewManager(dev, memory.Options{})
		if err != nil {
			return err
		}
		defer mgr.Close()
		table, err := tableOfNumbers(ctx, mgr, values)
		if err != nil {
			return err
		}
		defer table.Release()
		tables, managers = append(tables, table), append(managers, mgr)
	}
	route, err := exchange.RouteBetween(managers[1].Device(), managers[0].Device())
	if err != nil {
		return err
	}
	fmt.Println(route)
	all, err := exchange.Gather(ctx, tables, managers[0])
	if err != nil {
		return err
	}
	defer all.Release()
	values, err := all.Column(0).Array(ctx)
	if err != nil {
		return err
	}
	defer values.Release()
	fmt.Println(values, "on", all.Device())
	return nil
}

func tableOfNumbers(ctx context.Context, mgr *memory.Manager, values []int64) (*buffer.Buffer, error) {
	c, err := column.FromSlice(ctx, mgr, values, column.SliceOptions{})
	if err != nil {
		return nil, err
	}
	defer c.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "number", Type: c.Type()}}, nil)
	return buffer.New(schema, []*column.Column{c}, buffer.Rows{Count: int64(len(values))})
}
