package world

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/schemajson"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/kernels/exchange/internal/pack"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// outgoing is a table to send, to one rank or to several.
type outgoing struct {
	table *buffer.Buffer
	rows  int64
	// schema describes the columns.
	schema schemajson.Schema
	// columns have as many rows as the table. They are released in the end.
	columns []*column.Column
	// bytes is an upper bound of the size without dictionaries.
	bytes uint64
	// local is a copy of the table on the manager's device, if the table is on another one and
	// the ranks use NCCL.
	local *buffer.Buffer
}

// localize copies a table to the manager's device.
func (o *outgoing) localize(ctx context.Context, mgr *memory.Manager) (err error) {
	if o.table.Device() == nil || o.table.Device().Same(mgr.Device()) {
		return nil
	}
	o.local, err = exchange.Copy(ctx, o.table, mgr, exchange.Options{Tag: op.ScratchTag})
	o.table = o.local
	return err
}

// newOutgoing prepares a table. If local is not nil, the columns are on its device.
func newOutgoing(ctx context.Context, table *buffer.Buffer, local *memory.Manager) (o *outgoing, err error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	o = &outgoing{table: table}
	defer func() { o, err = release.OnError(o, err) }()
	if local != nil {
		if err := o.localize(ctx, local); err != nil {
			return o, err
		}
		table = o.table
	}
	if o.rows, err = table.NumRows(ctx); err != nil {
		return o, err
	}
	for i := range table.NumColumns() {
		c, err := table.Column(i).WithHostRows(ctx)
		if err != nil {
			return o, err
		}
		if c.Len() > int(o.rows) { // the memory has room for more
			cut, err := c.Slice(0, int(o.rows))
			if c, err = release.OnError(cut, err, c.Release()); err != nil {
				return o, err
			}
		}
		o.columns = append(o.columns, c)
		var p pack.Plan
		if _, err := p.All(c); err != nil {
			return o, fmt.Errorf("column %q: %w", table.Schema().Field(i).Name, err)
		}
		o.bytes += p.Bytes
	}
	return o, nil
}

// Release releases the columns and the copy.
func (o *outgoing) Release() error {
	if o == nil {
		return nil
	}
	err := release.All(o.columns)
	if o.local != nil {
		err = errors.Join(err, o.local.Release())
	}
	return err
}

// packed is some columns of a table as one block.
type packed struct {
	plan         pack.Plan
	descriptions []column.Description
	// copies of slices, which are released in the end.
	copies []*column.Column
	// pieces are the parts of the block that NCCL sends, and staged the memory of some of them,
	// or nil.
	pieces []piece
	staged *memory.Block
}

// Release releases the copies.
func (p *packed) Release() error {
	if p == nil {
		return nil
	}
	err := release.All(p.copies)
	if p.staged != nil {
		err = errors.Join(err, p.staged.Release())
	}
	return err
}

// pack plans a block with the columns from first to the one before last.
func (o *outgoing) pack(ctx context.Context, first, last int) (block *packed, err error) {
	block = &packed{}
	defer func() { block, err = release.OnError(block, err) }()
	dictionaries := map[*column.Column]*column.Description{}
	for i := first; i < last; i++ {
		c, err := block.compact(ctx, o.columns[i])
		if err != nil {
			return block, fmt.Errorf("column %q: copy a slice on %s: %w", o.table.Schema().Field(i).Name, o.columns[i].Device(), err)
		}
		shape, err := block.plan.All(c)
		if err != nil {
			return block, err
		}
		d, err := describe(shape, &block.plan, dictionaries)
		if err != nil {
			return block, err
		}
		block.descriptions = append(block.descriptions, d)
	}
	return block, nil
}

// compact returns a copy of a slice with strings or lists, in memory of its size. It returns the
// column itself if it is no slice, or if the device has no room for a copy.
func (p *packed) compact(ctx context.Context, c *column.Column) (*column.Column, error) {
	var trial pack.Plan
	if _, err := trial.All(c); err != nil || !trial.Sliced {
		return c, err
	}
	copied, err := selection.CompactColumn(ctx, c, kernels.Options{Tag: op.ScratchTag})
	if errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory) {
		return c, nil
	}
	if err == nil {
		p.copies = append(p.copies, copied)
	}
	return copied, err
}

// describe describes a column in the block of a plan. Dictionaries, each of them once, are added
// to the plan.
func describe(s *pack.Shape, p *pack.Plan, dictionaries map[*column.Column]*column.Description) (d column.Description, err error) {
	d = column.Description{Length: s.Data.Length, Offset: s.Data.Offset, NullCount: s.Data.NullCount, Unique: s.Of.Known().Unique == column.Yes}
	for _, number := range s.Regions {
		place := column.Place{Block: pack.Absent}
		if number != pack.Absent {
			r := p.Regions[number]
			place = column.Place{Offset: r.At, Bytes: r.Source.Len()}
		}
		d.Buffers = append(d.Buffers, place)
	}
	for _, child := range s.Children {
		described, err := describe(child, p, dictionaries)
		if err != nil {
			return d, err
		}
		d.Children = append(d.Children, described)
	}
	if s.Dictionary == nil {
		return d, nil
	}
	if d.Dictionary = dictionaries[s.Dictionary]; d.Dictionary == nil {
		shape, err := p.All(s.Dictionary)
		if err != nil {
			return d, fmt.Errorf("dictionary: %w", err)
		}
		dictionary, err := describe(shape, p, dictionaries)
		if err != nil {
			return d, fmt.Errorf("dictionary: %w", err)
		}
		d.Dictionary = &dictionary
		dictionaries[s.Dictionary] = &dictionary
	}
	return d, nil
}
