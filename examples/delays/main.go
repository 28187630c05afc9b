// Delays computes one number from real data on every device: the mean delay of flights
// longer than 1,000 miles. Filter and mean are one kernel, which gpuframe generates at
// run time.
//
//	go run ./examples/delays
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow/scalar"
	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/examples/internal/flights"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// answer is the result of one device.
type answer struct {
	mean  float64
	count int64
}

func run(ctx context.Context) error {
	devices, err := device.List()
	if err != nil {
		return err
	}
	var first *answer
	for _, listed := range devices {
		// The results of all devices must be equal to the host's.
		said, err := answerOn(ctx, listed.Name)
		if err != nil {
			return fmt.Errorf("%s: %w", listed.Name, err)
		}
		if first == nil {
			first = &said
		}
		if math.Float64bits(said.mean) != math.Float64bits(first.mean) || said.count != first.count {
			return fmt.Errorf("%s returns %v, the first device %v", listed.Name, said, *first)
		}
	}
	fmt.Println("all devices give the same answer, to the last bit")
	return nil
}

// answerOn loads the flights onto a device and computes the answer there.
func answerOn(ctx context.Context, name string) (_ answer, err error) {
	dev, err := device.Open(name)
	if err != nil {
		return answer{}, err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	mgr, err := memory.NewManager(dev, memory.Options{Budget: 1 << 30})
	if err != nil {
		return answer{}, err
	}
	defer func() { err = errors.Join(err, mgr.Close()) }()
	table, err := load(ctx, mgr)
	if err != nil {
		return answer{}, err
	}
	defer func() { err = errors.Join(err, table.Release()) }()

	long := expr.Col("distance").Gt(expr.Lit(1000))
	question := []reduce.Aggregate{
		reduce.Mean(expr.Col("delay")).Where(long),
		reduce.Count(expr.Col("delay")).Where(long),
	}
	options := kernels.Options{Stream: mgr.Stream()}
	values, err := reduce.Scalars(ctx, table, question, options)
	if err != nil {
		return answer{}, err
	}
	mean, isFloat := values[0].(*scalar.Float64)
	count, isInt := values[1].(*scalar.Int64)
	if !isFloat || !isInt {
		return answer{}, fmt.Errorf("the answers are a %v and a %v", values[0].DataType(), values[1].DataType())
	}
	took, err := repeat(ctx, mgr, table, question, options)
	if err != nil {
		return answer{}, err
	}
	rows, err := table.NumRows(ctx)
	if err != nil {
		return answer{}, err
	}
	fmt.Printf("%-7s %s of %s flights are longer than 1,000 miles; their mean delay is %.6f minutes; %v, %.2f Grows/s\n",
		name, humanize.Comma(count.Value), humanize.Comma(rows), mean.Value, took.Round(100*time.Nanosecond), float64(rows)/took.Seconds()/1e9)
	return answer{mean.Value, count.Value}, nil
}

// load reads the larger file if it exists, and otherwise the smaller one.
func load(ctx context.Context, mgr *memory.Manager) (_ *buffer.Buffer, err error) {
	path, err := flights.Find(flights.Large)
	if errors.Is(err, os.ErrNotExist) {
		path, err = flights.Find(flights.Small)
	}
	if err != nil {
		return nil, err
	}
	gpu, err := gpuframe.Managed(mgr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, gpu.Close()) }()
	query := gpu.IPC(path)
	if strings.HasSuffix(path, ".parquet") {
		query = gpu.Parquet(path)
	}
	frame, err := query.Collect(ctx)
	if err != nil {
		return nil, err
	}
	return frame.Table(), nil
}

// repeat returns the median time from the call until the result is complete on the
// device.
func repeat(ctx context.Context, mgr *memory.Manager, table *buffer.Buffer, question []reduce.Aggregate, options kernels.Options) (time.Duration, error) {
	var times []time.Duration
	for range 21 {
		began := time.Now()
		result, err := reduce.Table(ctx, table, question, options)
		if err != nil {
			return 0, err
		}
		err = mgr.Stream().Synchronize(ctx)
		times = append(times, time.Since(began))
		if err := errors.Join(err, result.Release()); err != nil {
			return 0, err
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}
