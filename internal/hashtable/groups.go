package hashtable

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// ErrTooLong is wrapped by errors about columns of more than 2³¹−1 rows, the most that
// 32-bit codes can number.
var ErrTooLong = errors.New("too many rows")

// Request selects the results of [Find] other than the first row of each group.
type Request struct {
	// NullKey makes the null rows one more group.
	NullKey bool
	// Codes requests the group of each row.
	Codes bool
}

// Groups are the groups of rows of a column that have equal values, numbered in the
// order of their first rows.
type Groups struct {
	call   op.Call
	column *column.Column
	// keys are the values that are compared: the column itself or, for a dictionary,
	// codes that are equal if the values are.
	keys *column.Column
	// rows is the row count if only the device knows it.
	rows    memory.Slice[int64]
	nullKey bool

	// valid is the validity bitmap of the keys, empty if the keys have none. bit is the
	// position of the first row in it.
	valid memory.Slice[uint8]
	bit   int

	// block holds the slices below. firstBits has a bit for each row, set for the first
	// row of each group. The other slices exist only if codes are requested.
	block     *memory.Block
	firstBits memory.Slice[uint8]
	// codes holds for each row the slot of its key, then the first row of its group,
	// then its code. padded is codes with bit unused elements before it, so that codes
	// and validity bits have one offset.
	padded memory.Slice[uint32]
	codes  memory.Slice[uint32]
	// isFirst has a 1 for the first row of each group and 0 for the others.
	isFirst memory.Slice[int32]
	// ranks has for each row the number of first rows up to and including it.
	ranks *column.Column
}

// Find finds the groups of a column. The row count of the column must be known to the
// host, or be in device memory: see [WithDeviceRows]. The caller releases the groups.
func Find(ctx context.Context, c *column.Column, request Request, options kernels.Options) (*Groups, error) {
	call, err := op.Begin(ctx, options, c)
	if err != nil {
		return nil, err
	}
	if c.Len() > math.MaxInt32 {
		return nil, fmt.Errorf("the column has %d rows, at most %d can be numbered: %w", c.Len(), math.MaxInt32, ErrTooLong)
	}
	g := &Groups{call: call, column: c, nullKey: request.NullKey}
	if err := g.find(ctx, request.Codes); err != nil {
		return nil, errors.Join(err, g.Release())
	}
	return g, nil
}

// WithDeviceRows returns the column with its row count, if it has one, in device memory,
// as [Find] needs it. If exact is true and the host knows the number of rows, the
// column has exactly these rows and no count. The caller releases it.
func WithDeviceRows(ctx context.Context, c *column.Column, exact bool) (*column.Column, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	_, known := c.HostRows()
	if c.RowCount() != nil && (known && exact || c.DeviceRows().Len() == 0) {
		return c.WithHostRows(ctx)
	}
	return c, c.Retain()
}

// Release releases what the groups hold.
func (g *Groups) Release() error {
	err := errors.Join(g.ranks.Release(), g.keys.Release())
	if g.block != nil {
		err = errors.Join(err, g.block.Release())
	}
	return err
}

// Options returns the stream, manager and tag of the call, for operators that work on
// the groups.
func (g *Groups) Options() kernels.Options {
	return kernels.Options{Stream: g.call.Stream, Manager: g.call.Manager, Tag: g.call.Tag}
}

func (g *Groups) find(ctx context.Context, codes bool) (err error) {
	if g.keys, err = g.comparable(ctx); err != nil {
		return err
	}
	if valid, bit, err := g.keys.Validity(); err == nil { // else there is no bitmap
		g.valid, g.bit = valid, bit
	}
	g.rows = g.column.DeviceRows()
	if err := g.findFirsts(codes); err != nil || !codes {
		return err
	}
	if err := g.rank(ctx); err != nil {
		return err
	}
	return g.encode()
}

// findFirsts marks the first row of each group. If codes are requested it writes the
// first row of each row's group to them. It refuses types that cannot be compared also
// if there are no rows: the host may know that, but a GPU would not.
func (g *Groups) findFirsts(codes bool) error {
	k, err := keysOf(g.keys)
	if err != nil {
		return err
	}
	n := uint64(g.column.Len())
	if err := g.allocate(n, codes); err != nil || n == 0 {
		return err
	}
	if g.call.OnHost() {
		return g.findFirstsOnHost(k)
	}
	return g.findFirstsOnDevice(k, codes)
}

// allocate allocates the marks of n rows and, if requested, the codes.
func (g *Groups) allocate(n uint64, codes bool) error {
	sizes := []uint64{(n + 31) / 32 * 4, 0, 0}
	if codes {
		sizes[1], sizes[2] = 4*(uint64(g.bit)+n), 4*n
	}
	block, slices, err := g.call.Allocate(sizes...)
	if err != nil {
		return err
	}
	g.block, g.firstBits = block, slices[0]
	if g.padded, err = memory.Reinterpret[uint32](slices[1]); err != nil {
		return err
	}
	if codes {
		if g.codes, err = g.padded.Slice(g.bit, g.padded.Len()); err != nil {
			return err
		}
	}
	g.isFirst, err = memory.Reinterpret[int32](slices[2])
	return err
}

// rank computes the ranks of the first rows.
func (g *Groups) rank(ctx context.Context) error {
	isFirst, err := column.New(column.Data{
		Type: arrow.PrimitiveTypes.Int32, Length: g.column.Len(),
		Buffers: []column.Bytes{{}, g.isFirst.AsBytes()}, Manager: g.call.Manager,
	})
	if err != nil {
		return err
	}
	g.ranks, err = window.CumulativeSum(ctx, isFirst, window.Options{Options: g.Options()})
	return errors.Join(err, isFirst.Release())
}

// encode replaces the first rows in codes by the codes.
func (g *Groups) encode() error {
	if g.column.Len() == 0 {
		return nil
	}
	if g.call.OnHost() {
		return g.encodeOnHost()
	}
	return g.encodeOnDevice()
}
