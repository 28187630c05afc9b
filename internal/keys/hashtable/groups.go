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

// Wanted is the purpose of the groups.
type Wanted uint8

const (
	// OnlyValues are the values of the groups. Null is one of them if it occurs.
	OnlyValues Wanted = iota
	// WithCounts are the values and the number of rows of each.
	WithCounts
	// WithCodes are the values without null, and the number of the group of each row.
	WithCodes
)

// Groups are the groups of rows of a column that have equal values, numbered in the
// order of their first rows.
type Groups struct {
	call   op.Call
	wanted Wanted
	column *column.Column
	// keys are the values that are compared: the column itself or, for a dictionary,
	// codes that are equal if the values are.
	keys *column.Column
	// others are the values of further columns that are compared, on the host.
	others []*column.Column
	// rows is the row count if only the device knows it.
	rows memory.Slice[int64]
	// distinct is the largest possible number of different keys, most that of groups.
	distinct, most int

	// valid is the validity bitmap of the keys, empty if the keys have none. bit is the
	// position of the first row in it.
	valid memory.Slice[uint8]
	bit   int

	// marks holds firstBits, with a bit for each row, set for the first row of each
	// group, and firsts, the number of these in each word of 32 bits. Only GPUs use
	// firsts.
	marks     *memory.Block
	firstBits memory.Slice[uint8]
	firsts    memory.Slice[int32]
	// ranks has for each word of firstBits the number of first rows up to its end.
	ranks *column.Column
	// coded holds the codes: for each row, on a GPU, the slot of its key, then the
	// first row of its group, then its code. padded is codes with bit unused elements
	// before it, so that codes and validity bits have one offset.
	coded         *memory.Block
	padded, codes memory.Slice[uint32]
}

// Find finds the groups of a column. Only the rows of the column are read, also if only
// the device knows their number. The caller releases the groups.
//
// # Waiting
//
// On a GPU Find waits only for the row count of a column that is to be encoded, because
// its caller waits for the number of groups anyway.
func Find(ctx context.Context, c *column.Column, wanted Wanted, options kernels.Options) (*Groups, error) {
	g, err := begin(ctx, wanted, options, c)
	if err != nil {
		return nil, err
	}
	if g.call.Estimating() {
		return nil, errors.Join(g.estimate(), g.Release())
	}
	if err := g.find(ctx); err != nil {
		return nil, errors.Join(err, g.Release())
	}
	return g, nil
}

// begin returns groups of the first column that are not found yet. The call waits for all columns.
func begin(ctx context.Context, wanted Wanted, options kernels.Options, columns ...*column.Column) (*Groups, error) {
	c := columns[0]
	if err := c.Check(); err != nil {
		return nil, err
	}
	call, err := op.Begin(ctx, options, columns...)
	if err != nil {
		return nil, err
	}
	if c.Len() > math.MaxInt32 {
		return nil, fmt.Errorf("the column has %d rows, at most %d can be numbered: %w", c.Len(), math.MaxInt32, ErrTooLong)
	}
	g := &Groups{call: call, wanted: wanted}
	g.column, err = g.withRows(ctx, c)
	return g, err
}

// FindTogether finds the groups of rows that have equal values in several columns of the host. A null is a
// value. The groups are [WithCounts], and only their numbers and their list may be used: Values are those
// of the first column, of which the bounds of the numbers of groups are too: the host reads no bounds. The caller releases
// the groups.
func FindTogether(ctx context.Context, columns []*column.Column, options kernels.Options) (*Groups, error) {
	g, err := begin(ctx, WithCounts, options, columns...)
	if err != nil {
		return nil, err
	}
	for _, c := range columns[1:] {
		other := &Groups{call: g.call, wanted: WithCounts, column: c}
		keys, err := other.comparable(ctx)
		if err != nil {
			return nil, errors.Join(err, g.Release())
		}
		g.others = append(g.others, keys)
	}
	if err := g.find(ctx); err != nil {
		return nil, errors.Join(err, g.Release())
	}
	return g, nil
}

// withRows returns the column with its row count, if it has one, in device memory. If
// the host knows the number of rows, and the result need not have the column's capacity,
// the column has exactly these rows and no count. The caller releases it.
func (g *Groups) withRows(ctx context.Context, c *column.Column) (*column.Column, error) {
	_, known := c.HostRows()
	switch {
	case c.RowCount() == nil, g.call.Estimating() && !known:
		return c, c.Retain()
	case known && g.wanted != WithCodes, c.DeviceRows().Len() == 0:
		return c.WithHostRows(ctx)
	case !known && g.wanted == WithCodes:
		if _, err := c.NumRows(ctx); err != nil { // the host then knows it
			return nil, err
		}
	}
	return c, c.Retain()
}

// Release releases what the groups hold.
func (g *Groups) Release() error {
	var err error
	for _, c := range g.others {
		err = errors.Join(err, c.Release())
	}
	return errors.Join(err, g.ranks.Release(), g.keys.Release(), g.column.Release(), g.marks.Release(), g.coded.Release())
}

// Options returns the stream, manager and tag of the call, for operators that work on
// the groups.
func (g *Groups) Options() kernels.Options {
	return kernels.Options{Stream: g.call.Stream, Manager: g.call.Manager, Tag: g.call.Tag}
}

// scratchOptions are the options of operators with results that the groups hold.
func (g *Groups) scratchOptions() kernels.Options {
	return kernels.Options{Stream: g.call.Stream, Manager: g.call.Manager, Tag: op.ScratchTag}
}

func (g *Groups) find(ctx context.Context) (err error) {
	if g.keys, err = g.comparable(ctx); err != nil {
		return err
	}
	g.rows = g.column.DeviceRows()
	if err := g.findFirsts(); err != nil || !g.ranked() || g.column.Len() == 0 {
		return err
	}
	if err := g.rank(ctx); err != nil || g.wanted == OnlyValues {
		return err
	}
	return g.encode()
}

// nullKey reports whether the null rows are one more group.
func (g *Groups) nullKey() bool { return g.wanted != WithCodes }

// listed reports whether the values are taken by a list of the first rows. It is shorter
// than the column if the type, or a dictionary, has fewer values than the column rows.
// All others are filtered.
func (g *Groups) listed() bool { return !g.call.OnHost() && g.most < g.column.Len() }

// ranked reports whether the ranks of first rows are needed: on a GPU, for codes and for
// lists.
func (g *Groups) ranked() bool {
	return !g.call.OnHost() && (g.wanted != OnlyValues || g.listed())
}

// findFirsts marks the first row of each group. If codes are requested it writes the first
// row of each row's group to them; on the host it writes the codes. It refuses types
// that cannot be compared also if there are no rows: the host may know that, but a GPU
// would not.
func (g *Groups) findFirsts() error {
	k, err := keysOf(g.keys)
	if err != nil {
		return err
	}
	g.bound(&k)
	g.valid, g.bit = validityOf(g.keys)
	if err := g.allocate(); err != nil || g.column.Len() == 0 {
		return err
	}
	if g.call.OnHost() {
		return g.findFirstsOnHost(g.call.Context(), k)
	}
	return g.findFirstsOnDevice(k)
}

// bound finds the largest possible numbers of keys and of groups: what the type can
// represent, the values of the dictionary, and the rows. Codes outside of the
// dictionary are treated like nulls, so that they cannot fill the table.
func (g *Groups) bound(k *keys) {
	rows := g.column.Len()
	if known, ok := g.column.HostRows(); ok {
		rows = min(known, rows)
	}
	distinct := k.distinct()
	if values := g.column.Dictionary(); values != nil {
		codes := uint64(max(values.Len(), 1))
		distinct, k.last = min(distinct, codes), codes-1
	}
	g.distinct = int(min(distinct, uint64(rows)))
	g.most = g.distinct
	if g.nullKey() {
		g.most = min(g.most+1, rows)
	}
}

// words returns the number of words of bits for the rows.
func (g *Groups) words() int { return (g.column.Len() + 31) / 32 }

// markSizes returns the sizes of firstBits and firsts.
func (g *Groups) markSizes() []uint64 {
	sizes := []uint64{4 * uint64(g.words()), 0}
	if g.ranked() {
		sizes[1] = sizes[0]
	}
	return sizes
}

// codeBytes returns the size of the codes.
func (g *Groups) codeBytes() uint64 {
	if g.wanted == OnlyValues {
		return 0
	}
	return 4 * uint64(g.bit+g.column.Len())
}

// allocate allocates the marks and, if requested, the codes. Codes are part of the result
// of an encoding.
func (g *Groups) allocate() (err error) {
	var slices []memory.Slice[uint8]
	if g.marks, slices, err = g.call.Scratch(g.markSizes()...); err != nil {
		return err
	}
	g.firstBits = slices[0]
	if g.firsts, err = memory.Reinterpret[int32](slices[1]); err != nil {
		return err
	}
	if g.wanted == WithCodes {
		g.coded, slices, err = g.call.Allocate(g.codeBytes())
	} else {
		g.coded, slices, err = g.call.Scratch(g.codeBytes())
	}
	if err != nil {
		return err
	}
	if g.padded, err = memory.Reinterpret[uint32](slices[0]); err != nil || g.padded.Len() == 0 {
		return err
	}
	g.codes, err = g.padded.Slice(g.bit, g.padded.Len())
	return err
}

// rank computes the ranks of the words of firstBits.
func (g *Groups) rank(ctx context.Context) error {
	firsts, err := column.New(column.Data{
		Type: arrow.PrimitiveTypes.Int32, Length: g.words(), Buffers: []column.Bytes{{}, g.firsts.AsBytes()}, Manager: g.call.Manager,
	})
	if err != nil {
		return err
	}
	g.ranks, err = window.CumulativeSum(ctx, firsts, window.Options{Options: g.scratchOptions()})
	return errors.Join(err, firsts.Release())
}
