package order

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Runs are the runs of rows with equal keys in a sorted table.
type Runs struct {
	// Numbers has, for each row in order, the number of its run, from 0.
	Numbers memory.Slice[uint32]
	// Begins has the place of the first row of each run, and behind the last run the
	// number of rows. The rest is undefined.
	Begins memory.Slice[uint32]
	block  *memory.Block
}

// Release releases the memory. The runs may be nil.
func (r *Runs) Release() error {
	if r == nil {
		return nil
	}
	return r.block.Release()
}

// FindRuns finds the runs of rows with equal keys. rows are the numbers of the rows in
// order, as [Indices] returns them, or empty if the table itself is in order. The keys
// may be fewer than those of the order: the first ones, with any directions. The order is
// not checked. A table without capacity has no memory. The caller releases the result.
//
// # Waiting
//
// FindRuns waits when [Indices] does.
//
// # Errors
//
// The errors are those of [Sort]. Numbers of rows for another table are an error that wraps
// device.ErrInvalidValue.
func FindRuns(ctx context.Context, table *buffer.Buffer, rows memory.Slice[uint32], keys []Key, options ...Options) (*Runs, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("order: find runs: %w", err)
	}
	runs, err := findRuns(ctx, table, rows, keys, only)
	if err != nil {
		return nil, fmt.Errorf("order: find runs: %w", err)
	}
	return runs, nil
}

func findRuns(ctx context.Context, table *buffer.Buffer, rows memory.Slice[uint32], keys []Key, options kernels.Options) (*Runs, error) {
	if options.Estimate != nil {
		return nil, errNoEstimate
	}
	o, err := begin(ctx, table, keys, options)
	if err != nil {
		return nil, err
	}
	runs, err := o.runs(rows)
	return release.OnError(runs, err, o.release())
}

// runs finds the runs of rows, which are in order.
func (o *ordering) runs(rows memory.Slice[uint32]) (*Runs, error) {
	if rows.Len() > 0 && rows.Len() != o.capacity {
		return nil, fmt.Errorf("%d numbers of rows for a table of %d: %w", rows.Len(), o.capacity, device.ErrInvalidValue)
	}
	if o.capacity == 0 {
		return &Runs{}, nil
	}
	n := uint64(o.capacity)
	block, slices, err := o.call.Allocate(4*n, 4*n+4)
	if err != nil {
		return nil, err
	}
	runs := &Runs{block: block}
	numbers, numbersErr := memory.Reinterpret[uint32](slices[0])
	begins, beginsErr := memory.Reinterpret[uint32](slices[1])
	runs.Numbers, runs.Begins = numbers, begins
	err = errors.Join(numbersErr, beginsErr)
	switch {
	case err != nil || o.rows == 0:
	case o.call.OnHost():
		err = o.runsOnHost(rows, runs)
	default:
		err = o.runsOnDevice(rows, runs)
	}
	return release.OnError(runs, err)
}

func (o *ordering) runsOnDevice(rows memory.Slice[uint32], runs *Runs) error {
	n := uint64(o.rows)
	tiles := (o.rows + tieRows - 1) / tieRows
	encoder, block, scratch, err := o.encoder(append(o.plan.DeviceScratch(), o.plan.WordsBytes(o.rows), n, lookback.Bytes(uint64(tiles), 4)))
	if err != nil {
		return err
	}
	return releasedAfter(block, func() error {
		words, orders, state := scratch[0], scratch[1], scratch[2]
		list := rowkey.DeviceRows{Listed: rows, Rows: o.rows, Counted: o.counted}
		if err := encoder.Neighbours(list, words, orders); err != nil {
			return err
		}
		return o.groups(runs.Numbers.AsBytes(), runs.Begins.AsBytes(), orders, state)
	})
}

// groups numbers the groups of equal rows by the orders of neighbours.
func (o *ordering) groups(numbers, begins, orders, state memory.Slice[uint8]) error {
	if err := state.Fill(o.call.Stream, 0); err != nil {
		return err
	}
	f, err := o.call.Kernel(&tieKernels, "ties", "order_groups")
	if err != nil {
		return err
	}
	tiles := (o.rows + tieRows - 1) / tieRows
	return f.Launch(o.call.Stream, device.Dim3{X: uint32(tiles)}, device.Dim3{X: tieThreads}, 0,
		numbers, begins, orders, o.counted, int64(o.rows), state)
}

// runsOnHost divides the rows among goroutines, which first count the runs.
func (o *ordering) runsOnHost(rows memory.Slice[uint32], runs *Runs) error {
	host, err := rowkey.NewHost(o.plan)
	if err != nil {
		return err
	}
	list, listErr := rows.Host()
	numbers, numbersErr := runs.Numbers.Host()
	begins, beginsErr := runs.Begins.Host()
	if err := errors.Join(listErr, numbersErr, beginsErr); err != nil {
		return err
	}
	if len(list) == 0 {
		list = nil // the rows are in order
	}
	count := parallel.Parts(o.rows)
	counts := make([]uint32, count)
	err = parallel.Run(o.call.Context(), o.rows, count, func(part, begin, end int) {
		pairs := host.Neighbours(rowkey.Rows{Listed: list}, o.rows)
		for i := begin; i < end; i++ {
			if i == 0 || pairs.Differ(i) {
				counts[part]++
			}
			numbers[i] = counts[part]
		}
	})
	if err != nil {
		return err
	}
	total := uint32(0)
	for part := range counts {
		counts[part], total = total, total+counts[part]
	}
	begins[total] = uint32(o.rows)
	return parallel.Run(o.call.Context(), o.rows, count, func(part, begin, end int) {
		// Within a part the numbers begin with 0 or 1; the first row of a run has a
		// greater number than the row before it in the part.
		last := uint32(0)
		for i := begin; i < end; i++ {
			number := numbers[i]
			numbers[i] = counts[part] + number - 1
			if number != last {
				begins[numbers[i]] = uint32(i)
			}
			last = number
		}
	})
}
