package order

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/kernels"
)

// IsSorted reports whether the rows of a table are in the order of the keys. A table
// without rows is sorted.
//
// # Waiting
//
// IsSorted waits for the work on the table, and for its own, until ctx is done.
//
// # Errors
//
// The errors are those of [Sort].
func IsSorted(ctx context.Context, table *buffer.Buffer, keys []Key, options ...Options) (bool, error) {
	only, err := op.Only(options)
	if err != nil {
		return false, fmt.Errorf("order: is sorted: %w", err)
	}
	row, err := unsorted(ctx, table, keys, only)
	if err != nil {
		return false, fmt.Errorf("order: is sorted: %w", err)
	}
	return row < 0, nil
}

// unsorted returns the first row that sorts before its predecessor, or −1.
func unsorted(ctx context.Context, table *buffer.Buffer, keys []Key, options kernels.Options) (int64, error) {
	o, err := begin(ctx, table, keys, options)
	if err != nil {
		return 0, err
	}
	if o.call.Estimating() {
		return 0, errors.Join(o.estimateSorted(), o.release())
	}
	row := int64(-1)
	if o.rows > 1 {
		if o.call.OnHost() {
			row, err = o.unsortedOnHost()
		} else {
			row, err = o.unsortedOnDevice()
		}
	}
	if _, err = release.OnError(o, err, nil); err != nil {
		return 0, err
	}
	return row, o.release()
}

// Release is release, for the package of that name. The ordering may be nil.
func (o *ordering) Release() error {
	if o == nil {
		return nil
	}
	return o.release()
}

// unsortedOnHost compares neighbours by their first words, and equal ones by the rest.
func (o *ordering) unsortedOnHost() (int64, error) {
	host, err := rowkey.NewHost(o.plan)
	if err != nil {
		return 0, err
	}
	count := parallel.Parts(o.rows)
	var lowest atomic.Int64
	lowest.Store(int64(o.rows))
	err = parallel.Run(o.call.Context(), o.rows, count, func(_, begin, end int) {
		if row := firstUnsorted(host, o.plan, begin, end, &lowest); row >= 0 {
			lower(&lowest, int64(row))
		}
	})
	if row := lowest.Load(); err == nil && row < int64(o.rows) {
		return row, nil
	}
	return -1, err
}

// lower replaces a number by a smaller one.
func lower(number *atomic.Int64, to int64) {
	for old := number.Load(); to < old; old = number.Load() {
		if number.CompareAndSwap(old, to) {
			return
		}
	}
}

// neighbours is the number of rows that are encoded at a time.
const neighbours = 4096

// firstUnsorted returns the first row of a range that sorts before its predecessor, or −1.
// It stops at a row that another range has found.
func firstUnsorted(host *rowkey.Host, plan *rowkey.Plan, begin, end int, lowest *atomic.Int64) int {
	exact := plan.Exact() && plan.Segments[0].Words() <= 1
	var words [neighbours]uint64
	for first := max(begin-1, 0); first < end-1 && int64(first) < lowest.Load(); first += neighbours - 1 {
		batch := words[:min(neighbours, end-first)]
		host.Encode(0, 0, rowkey.Rows{First: first}, batch)
		for i := 1; i < len(batch); i++ {
			if batch[i] < batch[i-1] ||
				batch[i] == batch[i-1] && !exact && host.Compare(first+i, first+i-1, rowkey.Position{Word: 1}) < 0 {
				return first + i
			}
		}
	}
	return -1
}
