package order

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Method is the rank of rows with equal keys.
type Method int

// The methods. For rows in the order 10, 20, 20, 30:
const (
	// Min is the lowest place: 1, 2, 2, 4. It is SQL's rank.
	Min Method = iota
	// Max is the highest place: 1, 3, 3, 4.
	Max
	// Dense counts distinct keys: 1, 2, 2, 3. It is SQL's dense_rank.
	Dense
	// First is the place in the stable order: 1, 2, 3, 4. It is SQL's row_number.
	First
	// Average is the mean of the places: 1, 2.5, 2.5, 4.
	Average
)

var methodNames = [...]string{"min", "max", "dense", "first", "average"}

// String returns the name of the method.
func (m Method) String() string {
	if m < 0 || int(m) >= len(methodNames) {
		return fmt.Sprintf("method %d", int(m))
	}
	return methodNames[m]
}

// RankOptions configure [Rank].
type RankOptions struct {
	kernels.Options
	Method Method
}

// Rank returns the rank of each row in the order of the keys, from 1: uint32 or, for
// [Average], float64. Rows with a null key have a rank too. The column has the table's
// row count. The caller releases it.
//
// # Waiting
//
// Rank waits when [Indices] does.
//
// # Errors
//
// The errors are those of [Sort]. An unknown method is an error that wraps
// device.ErrInvalidValue.
func Rank(ctx context.Context, table *buffer.Buffer, keys []Key, options ...RankOptions) (*column.Column, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("order: rank: %w", err)
	}
	if only.Method < Min || only.Method > Average {
		return nil, fmt.Errorf("order: rank: %v, expected min, max, dense, first or average: %w", only.Method, device.ErrInvalidValue)
	}
	ranks, err := rank(ctx, table, keys, only)
	if err != nil {
		return nil, fmt.Errorf("order: rank: %w", err)
	}
	return ranks, nil
}

func rank(ctx context.Context, table *buffer.Buffer, keys []Key, options RankOptions) (*column.Column, error) {
	o, err := begin(ctx, table, keys, options.Options)
	if err != nil {
		return nil, err
	}
	ranks, err := o.ranks(ranking{method: options.Method})
	return release.OnError(ranks, err, o.release())
}

// ranking is how rows are ranked.
type ranking struct {
	method Method
	// nullsZero gives nulls, which come first, the rank 0. It is set only for dense ranks
	// by one column that may have nulls: their first bit is then 0.
	nullsZero bool
}

// ranks returns the ranks of the rows.
func (o *ordering) ranks(r ranking) (*column.Column, error) {
	result := o.result(arrow.PrimitiveTypes.Uint32)
	if r.method == Average {
		result.Type = arrow.PrimitiveTypes.Float64
	}
	s := o.chooseSort()
	scratch := append(s.scratch(), 4*uint64(o.capacity))
	if o.call.Estimating() {
		if unforeseen(s) {
			return nil, errNoEstimate
		}
		sizes := result.Sizes()
		return nil, o.call.Estimate(sizes[:], append(scratch, o.rankScratch()...))
	}
	return o.newColumn(result, func(out op.Buffers) error {
		block, buffers, err := o.call.Scratch(scratch...)
		if err != nil {
			return err
		}
		last := len(buffers) - 1
		return releasedAfter(block, func() error {
			sorted, err := memory.Reinterpret[uint32](buffers[last])
			if err != nil {
				return err
			}
			if err := s.run(sorted, buffers[:last]); err != nil {
				return err
			}
			if o.call.OnHost() {
				return o.ranksOnHost(r, sorted, out)
			}
			return o.ranksOnDevice(r, sorted, out)
		})
	})
}
