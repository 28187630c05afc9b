// Demo loads real data onto a device, exports a column by DLPack, imports it again, and
// prints the memory statistics at every step.
//
//	make demo
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/examples/internal/flights"
	"github.com/gpuframe/gpuframe/examples/internal/flights/parquet"
	"github.com/gpuframe/gpuframe/memory"
)

func main() {
	name := flag.String("device", "", `device to use: "cuda:0", "host"; empty for the first GPU, or the host`)
	budget := flag.Uint64("budget", 1<<30, "most bytes to have in use on the device")
	flag.Parse()
	if err := run(context.Background(), *name, *budget); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, name string, budget uint64) (err error) {
	if err := list(); err != nil {
		return err
	}
	dev, err := device.Open(name)
	if err != nil {
		return err
	}
	defer closing(&err, dev)
	mgr, err := memory.NewManager(dev, memory.Options{Budget: budget})
	if err != nil {
		return err
	}
	defer closing(&err, mgr)

	// Columns that readers decode into pinned memory need no staging.
	allocator := memory.NewPinnedAllocator(dev, 0)
	defer closing(&err, allocator)
	for _, file := range []string{flights.Small, flights.Large} {
		path, err := flights.Find(file)
		if err != nil {
			fmt.Printf("\n%s is not here: `make data` fetches it\n", file)
			continue
		}
		if err := show(ctx, mgr, allocator, path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// list prints the devices that this process can use.
func list() error {
	listings, err := device.List()
	if err != nil {
		return err
	}
	fmt.Println("devices")
	for _, each := range listings {
		fmt.Printf("  %-8s %s, %s of %s free", each.Name, each.Info.Name,
			humanize.IBytes(each.FreeMemory), humanize.IBytes(each.Info.TotalMemory))
		if each.Info.Kind == device.CUDA {
			fmt.Printf(", compute capability %v, %v", each.Info.ComputeCapability, each.Info.UUID)
		}
		fmt.Println()
	}
	return nil
}

// show loads one file and runs all steps on it.
func show(ctx context.Context, mgr *memory.Manager, allocator *memory.PinnedAllocator, path string) (err error) {
	fmt.Printf("\n%s\n", path)
	table, err := load(ctx, mgr, allocator, path)
	if err != nil {
		return err
	}
	fmt.Println("  schema")
	for _, field := range table.Schema().Fields() {
		fmt.Printf("    %-12s %v\n", field.Name, field.Type)
	}
	fmt.Printf("  memory    %v\n", mgr.Stats())
	if err := handOver(mgr, table); err != nil {
		return err
	}
	if err := bringBack(ctx, table); err != nil {
		return err
	}
	if err := table.Release(); err != nil {
		return err
	}
	fmt.Printf("  released  %v\n", mgr.Stats())
	mgr.ResetPeak()
	mgr.ResetCounts()
	return nil
}

// load reads the file and copies it to the device.
func load(ctx context.Context, mgr *memory.Manager, allocator *memory.PinnedAllocator, path string) (table *buffer.Buffer, err error) {
	open := func() (*flights.Reader, error) { return flights.Open(path, allocator) }
	if strings.HasSuffix(path, ".parquet") {
		open = func() (*flights.Reader, error) { return parquet.Open(ctx, path, allocator) }
	}
	reader, err := open()
	if err != nil {
		return nil, err
	}
	defer closing(&err, reader)
	bar := progress(reader.Rows)
	start := time.Now()
	var read time.Duration
	table, err = buffer.FromReader(ctx, mgr, reader, buffer.LoadOptions{
		Tag: "flights",
		Progress: func(p buffer.Progress) {
			_ = bar.Set64(p.Rows)
			if !p.Moved {
				read = time.Since(start)
			}
		},
	})
	_ = bar.Finish()
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	moved := took - read
	fmt.Printf("  loaded    %s rows, %s on %s: read in %v, moved in %v (%s/s)\n",
		humanize.Comma(table.Capacity()), humanize.Bytes(table.Bytes()), mgr.Device(),
		read.Round(time.Millisecond), moved.Round(10*time.Microsecond), humanize.Bytes(uint64(float64(table.Bytes())/moved.Seconds())))
	return table, nil
}

// progress draws a bar if standard error is a terminal.
func progress(rows int64) *progressbar.ProgressBar {
	var where io.Writer = io.Discard
	if term.IsTerminal(int(os.Stderr.Fd())) {
		where = os.Stderr
	}
	return progressbar.NewOptions64(rows, progressbar.OptionSetWriter(where),
		progressbar.OptionSetDescription("  reading "), progressbar.OptionShowCount(), progressbar.OptionSetItsString("rows"),
		progressbar.OptionThrottle(50*time.Millisecond), progressbar.OptionClearOnFinish())
}

// handOver exports the first column with a type that DLPack supports, as another
// library would receive it, and imports it again.
func handOver(mgr *memory.Manager, table *buffer.Buffer) error {
	for i := range table.NumColumns() {
		c := table.Column(i)
		if !arrow.IsInteger(c.Type().ID()) && !arrow.IsFloating(c.Type().ID()) {
			continue
		}
		values, err := c.Values() // DLPack has no nulls
		if err != nil {
			return err
		}
		defer values.Release()
		tensor, err := dlpack.Export(values)
		if err != nil {
			return err
		}
		fmt.Printf("  exported  column %q: DLManagedTensorVersioned at %p, data at %v\n",
			table.Schema().Field(i).Name, tensor.Pointer(), values.Pointer())
		back, err := dlpack.Import(mgr, tensor.Detach())
		if err != nil {
			return err
		}
		defer back.Release()
		same := back.Pointer() == values.Pointer() && back.Block() == values.Block()
		fmt.Printf("  imported  %v: data at %v, the same memory: %v\n", back, back.Pointer(), same)
		fmt.Printf("  memory    %v\n", mgr.Stats())
		return nil
	}
	return nil
}

// bringBack copies the table to the host.
func bringBack(ctx context.Context, table *buffer.Buffer) error {
	start := time.Now()
	record, err := table.Record(ctx)
	if err != nil {
		return err
	}
	defer record.Release()
	took := time.Since(start)
	fmt.Printf("  back      a record of %s rows in %v (%s/s)\n", humanize.Comma(record.NumRows()),
		took.Round(10*time.Microsecond), humanize.Bytes(uint64(float64(table.Bytes())/took.Seconds())))
	return nil
}

// closing closes a resource and keeps the first error.
func closing(err *error, closer io.Closer) {
	if failure := closer.Close(); *err == nil {
		*err = failure
	}
}
