// Demo runs a query on real data, on the first GPU or on the host. It prints the plan, the
// result and the work of each operation, and hands a column over by DLPack.
//
//	make demo
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/examples/internal/flights"
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
	options := []gpuframe.Option{gpuframe.Budget(budget)}
	if name != "" {
		options = append(options, gpuframe.Device(name))
	}
	gpu, err := gpuframe.Open(options...)
	if err != nil {
		return err
	}
	defer closing(&err, gpu)

	// The small file is in the repository. It is loaded into device memory once.
	path, err := flights.Find(flights.Small)
	if err != nil {
		return err
	}
	loaded, err := load(ctx, gpu, path)
	if err != nil {
		return err
	}
	hour := gpuframe.Col("time").Floor().As("hour")
	if err := query(ctx, gpu, path+", in device memory", loaded.Query(), hour); err != nil {
		return err
	}
	if err := loaded.Release(); err != nil {
		return err
	}
	// The large one is read by the query itself, as far as it needs it.
	if path, err = flights.Find(flights.Large); err != nil {
		fmt.Printf("\n%s is not here: `make data` fetches it\n", flights.Large)
		return nil
	}
	return query(ctx, gpu, path, gpu.Parquet(path), gpuframe.Col("origin"))
}

// query finds the hours or airports with the most late flights.
func query(ctx context.Context, gpu *gpuframe.Engine, title string, all gpuframe.Query, key gpuframe.Expr) error {
	delay := gpuframe.Of[int]("delay")
	late := gpuframe.Count().Where(delay.Gt(15)).As("late")
	q := all.
		Filter(gpuframe.Of[int]("distance").Ge(200)).
		GroupBy(key).Agg(late, gpuframe.Count().As("flights"), delay.Mean().As("mean delay")).
		With(gpuframe.Col("late").Mul(100.0).Div(gpuframe.Col("flights")).As("percent")).
		Top(5, gpuframe.Col("late").Desc())
	plan, err := q.Explain(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\n\n%s", title, plan)
	var profile gpuframe.Profile
	begin := time.Now()
	result, err := q.Collect(ctx, gpuframe.Tag("demo"), gpuframe.Profiled(&profile))
	if err != nil {
		return err
	}
	defer result.Release()
	fmt.Printf("\nin %v:\n%s\n%v\n\n", time.Since(begin).Round(10*time.Microsecond), &profile, result)
	if err := handOver(gpu.Manager(), result.Column("mean delay")); err != nil {
		return err
	}
	fmt.Printf("memory     %v\n", gpu.Manager().Stats())
	gpu.Manager().ResetPeak()
	gpu.Manager().ResetCounts()
	return nil
}

// load copies an Arrow file to device memory.
func load(ctx context.Context, gpu *gpuframe.Engine, path string) (frame *gpuframe.Frame, err error) {
	// Records in pinned memory need no staging.
	allocator := memory.NewPinnedAllocator(gpu.Device(), 0)
	defer closing(&err, allocator)
	reader, err := flights.Open(path, allocator)
	if err != nil {
		return nil, err
	}
	defer closing(&err, reader)
	return gpu.Reader(reader).Collect(ctx, gpuframe.Tag("flights"))
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

// handOver exports a column as another library would receive it, and imports it again.
func handOver(mgr *memory.Manager, c *column.Column) error {
	values, err := c.Values() // DLPack has no nulls
	if err != nil {
		return err
	}
	defer values.Release()
	tensor, err := dlpack.Export(values)
	if err != nil {
		return err
	}
	fmt.Printf("exported   DLManagedTensorVersioned at %p, data at %v\n", tensor.Pointer(), values.Pointer())
	back, err := dlpack.Import(mgr, tensor.Detach())
	if err != nil {
		return err
	}
	defer back.Release()
	same := back.Pointer() == values.Pointer() && back.Block() == values.Block()
	fmt.Printf("imported   %v: data at %v, the same memory: %v\n", back, back.Pointer(), same)
	return nil
}

// closing closes a resource and keeps the first error.
func closing(err *error, closer io.Closer) {
	if failure := closer.Close(); *err == nil {
		*err = failure
	}
}
