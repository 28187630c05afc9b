package world_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/exchange/world"
	"github.com/gpuframe/gpuframe/memory"
)

// Each rank has two numbers, and rank 0 gets all of them. The ranks are goroutines here; in
// programs each is a process with a GPU, and rank and size come from its launcher.
func Example() {
	folder, err := os.MkdirTemp("", "world")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	var all sync.WaitGroup
	for rank := range 3 {
		all.Go(func() {
			if err := rankMain(rank, 3, "unix:"+filepath.Join(folder, "s")); err != nil {
				fmt.Println(err)
			}
		})
	}
	all.Wait()
	// Output: rank 0 has [0 10 1 11 2 12]
}

func rankMain(rank, size int, address string) error {
	ctx := context.Background()
	dev, err := device.Open("host") // in programs, "cuda:0" and so on
	if err != nil {
		return err
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{Budget: 1 << 20})
	if err != nil {
		return err
	}
	defer mgr.Close()
	w, err := world.Open(ctx, world.Config{Rank: rank, Size: size, Address: address, Manager: mgr})
	if err != nil {
		return err
	}
	defer w.Close()

	c, err := column.FromSlice(ctx, mgr, []int64{int64(rank), int64(rank + 10)}, column.SliceOptions{})
	if err != nil {
		return err
	}
	defer c.Release()
	table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "number", Type: c.Type()}}, nil), []*column.Column{c}, buffer.Rows{Count: 2})
	if err != nil {
		return err
	}
	defer table.Release()
	gathered, err := w.Gather(ctx, table, 0)
	if err != nil || gathered == nil {
		return err
	}
	defer gathered.Release()
	values, err := gathered.Column(0).Array(ctx)
	if err != nil {
		return err
	}
	defer values.Release()
	fmt.Println("rank 0 has", values)
	return nil
}
