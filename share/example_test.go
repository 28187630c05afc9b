package share_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

func Example() {
	directory, err := os.MkdirTemp("", "share")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)
	if err := serveAndOpen(context.Background(), filepath.Join(directory, "socket")); err != nil {
		log.Fatal(err)
	}
	// Output:
	// published: numbers, 3 rows
	// opened: int64 column of 3, 0 nulls, read-only true
	// withdrawn: 0 tables
}

// serveAndOpen is both sides in one process, for the example's sake.
func serveAndOpen(ctx context.Context, path string) (err error) {
	dev, err := device.Open("host") // "" for the first GPU
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mgr.Close()) }()

	server, err := share.Listen(path, share.ServerOptions{})
	if errors.Is(err, device.ErrNotAvailable) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	numbers, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, numbersSchema, strings.NewReader(`[{"n":1},{"n":2},{"n":3}]`))
	if err != nil {
		return err
	}
	table, err := buffer.FromRecord(mgr, numbers)
	if err != nil {
		return err
	}
	// The table is copied into shareable memory, so this one is needed no more.
	if err := errors.Join(server.Publish(ctx, "numbers", table), table.Release()); err != nil {
		return err
	}

	client, err := share.Dial(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	infos, err := client.Tables(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("published: %s, %d rows\n", infos[0].Name, infos[0].Rows)
	opened, err := client.Open(ctx, mgr, "numbers")
	if err != nil {
		return err
	}
	fmt.Printf("opened: %v, read-only %v\n", opened.Column(0), opened.Column(0).Block().ReadOnly())
	if err := errors.Join(opened.Release(), server.Withdraw("numbers")); err != nil {
		return err
	}
	stats, err := server.Wait(ctx, func(s share.Stats) bool { return len(s.Tables) == 0 })
	fmt.Printf("withdrawn: %d tables\n", len(stats.Tables))
	return err
}
