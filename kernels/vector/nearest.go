package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// NearestOptions configure a search.
type NearestOptions struct {
	kernels.Options
	Metric Metric
	// First is the number of the first row of a batch. Indices count from it.
	First int64

	tuning tuning
}

// Neighbours are the nearest rows of each query. Both columns have K rows for each query, from its nearest row on: Indices are
// int64 and Distances float32. An index is −1, and its distance NaN, if the query has fewer neighbours.
type Neighbours struct {
	Indices, Distances *column.Column
	Queries, K         int
}

// Nearest finds the k nearest rows of each query. The caller releases the neighbours.
//
// # Errors
//
// The error wraps [device.ErrInvalidValue] if k is less than 1, or if the vectors of both sides differ in length,
// memory.ErrOverflow if the neighbours are more than memory can have, and on a GPU [device.ErrNotSupported] if k is above
// 1,024 or a batch has 2³² rows.
func Nearest(ctx context.Context, queries, rows *Dense, k int, options NearestOptions) (*Neighbours, error) {
	n, err := nearest(ctx, queries, rows, k, options)
	if err != nil {
		return nil, fmt.Errorf("vector: nearest: %w", err)
	}
	return n, nil
}

func nearest(ctx context.Context, queries, rows *Dense, k int, options NearestOptions) (*Neighbours, error) {
	call, err := begin(ctx, queries, rows, k, options)
	if err != nil {
		return nil, err
	}
	high, cells := bits.Mul64(uint64(queries.Rows), uint64(k))
	if high != 0 || cells > math.MaxInt/8 {
		return nil, fmt.Errorf("%d neighbours of %d queries: %w", k, queries.Rows, memory.ErrOverflow)
	}
	count := int(cells)
	if call.Estimating() {
		return nil, call.Estimate([]uint64{8 * uint64(count), 4 * uint64(count)}, scratchSizes(&call, queries, rows, k))
	}
	block, buffers, err := call.Allocate(8*uint64(count), 4*uint64(count))
	if err != nil {
		return nil, err
	}
	n := &Neighbours{Queries: queries.Rows, K: k}
	if err = n.search(&call, queries, rows, buffers, true, options); err == nil {
		n.Indices, err = newColumn(&call, arrow.PrimitiveTypes.Int64, count, buffers[0])
	}
	if err == nil {
		n.Distances, err = newColumn(&call, arrow.PrimitiveTypes.Float32, count, buffers[1])
	}
	if err = errors.Join(err, block.Release()); err != nil {
		return nil, errors.Join(err, n.Release())
	}
	return n, nil
}

func newColumn(call *op.Call, t arrow.DataType, length int, values memory.Slice[uint8]) (*column.Column, error) {
	return column.New(column.Data{Type: t, Length: length, Manager: call.Manager, Buffers: []column.Bytes{{}, values}})
}

// Add merges the nearest rows of a further batch into the neighbours, in place: no other goroutine may read them. The
// queries, the metric and k are those that the neighbours were made with. The numbers of the batch, from options.First on, follow
// those of the batches before.
//
// # Errors
//
// As [Nearest]. The neighbours are undefined after an error.
func (n *Neighbours) Add(ctx context.Context, queries, rows *Dense, options NearestOptions) error {
	if err := n.add(ctx, queries, rows, options); err != nil {
		return fmt.Errorf("vector: nearest: %w", err)
	}
	return nil
}

func (n *Neighbours) add(ctx context.Context, queries, rows *Dense, options NearestOptions) error {
	call, err := begin(ctx, queries, rows, n.K, options)
	if err != nil {
		return err
	}
	if queries.Rows != n.Queries {
		return fmt.Errorf("%d queries, expected the %d of the neighbours: %w", queries.Rows, n.Queries, device.ErrInvalidValue)
	}
	if call.Estimating() {
		return call.Estimate(nil, scratchSizes(&call, queries, rows, n.K))
	}
	if n.Queries == 0 || rows.Rows == 0 {
		return nil
	}
	for _, c := range []*column.Column{n.Indices, n.Distances} {
		for block := range c.Blocks {
			if err := call.OrderBehind(block); err != nil {
				return err
			}
		}
	}
	if call.OnHost() {
		if err := call.WaitIdle(ctx); err != nil {
			return err
		}
	}
	indices, err := n.Indices.ValuesRegion()
	if err != nil {
		return err
	}
	distances, err := n.Distances.ValuesRegion()
	if err != nil {
		return err
	}
	return n.search(&call, queries, rows, []memory.Slice[uint8]{indices, distances}, false, options)
}

// Release releases both columns.
func (n *Neighbours) Release() error {
	if n == nil {
		return nil
	}
	return errors.Join(n.Indices.Release(), n.Distances.Release())
}

func begin(ctx context.Context, queries, rows *Dense, k int, options NearestOptions) (op.Call, error) {
	if err := queries.check(); err != nil {
		return op.Call{}, fmt.Errorf("queries: %w", err)
	}
	if err := rows.check(); err != nil {
		return op.Call{}, fmt.Errorf("rows: %w", err)
	}
	switch {
	case k < 1:
		return op.Call{}, fmt.Errorf("k is %d, expected 1 or more: %w", k, device.ErrInvalidValue)
	case queries.Dim != rows.Dim:
		return op.Call{}, fmt.Errorf("queries have %d elements, rows %d, expected the same: %w", queries.Dim, rows.Dim, device.ErrInvalidValue)
	case options.First < 0 || options.First > math.MaxInt64-int64(rows.Rows):
		return op.Call{}, fmt.Errorf("the first of %d rows has the number %d, expected 0 or more: %w", rows.Rows, options.First, device.ErrInvalidValue)
	case options.Metric > Dot:
		return op.Call{}, fmt.Errorf("%v is no metric: %w", options.Metric, device.ErrInvalidValue)
	}
	return op.Begin(ctx, options.Options, append(queries.columns(), rows.columns()...)...)
}

// search is the search of one batch of rows: what the host and a device compute.
type search struct {
	*op.Call
	metric Metric
	// k is the number of neighbours of a query, dim that of the elements of a vector.
	k, dim        int
	queries, rows matrix
	// first is the number of the first row.
	first int64
	// indices and distances have k elements for each query. They are read unless fresh is set: then their contents are
	// undefined. In any case all of them are written.
	indices   memory.Slice[int64]
	distances memory.Slice[float32]
	fresh     bool
	tuning    tuning
}

func (n *Neighbours) search(call *op.Call, queries, rows *Dense, out []memory.Slice[uint8], fresh bool, options NearestOptions) error {
	if n.Queries == 0 {
		return nil
	}
	s := search{Call: call, metric: options.Metric, k: n.K, dim: queries.Dim, first: options.First, fresh: fresh, tuning: options.tuning}
	var failures [4]error
	s.queries, failures[0] = queries.matrix()
	s.rows, failures[1] = rows.matrix()
	s.indices, failures[2] = memory.Reinterpret[int64](out[0])
	s.distances, failures[3] = memory.Reinterpret[float32](out[1])
	if err := errors.Join(failures[:]...); err != nil {
		return err
	}
	if call.OnHost() {
		return s.onHost()
	}
	return s.onDevice()
}

// scratchSizes returns what a search allocates while it runs.
func scratchSizes(call *op.Call, queries, rows *Dense, k int) []uint64 {
	if call.OnHost() {
		return nil
	}
	return deviceScratch(queries.Rows, rows.Rows, k)
}
