package join

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// spilledIndex is the memory of an index that a spiller moves: the right columns and keys,
// and the parts of the build side, each a table of columns of one length.
type spilledIndex struct {
	rows  *spill.Table
	parts []*spill.Table
}

// Release releases the tables.
func (s *spilledIndex) Release() error {
	if s == nil {
		return nil
	}
	failures := []error{s.rows.Release()}
	for _, part := range s.parts {
		failures = append(failures, part.Release())
	}
	return errors.Join(failures...)
}

// Spill lets a spiller move the memory of the index to the host while no call uses it. A
// call then brings it back first, or fails with the error of an allocation. The spiller is
// one of the index's manager or of one above it. The index keeps its table: memory that
// the caller's table or a result shares, such as that of a dictionary, stays in place until they
// are released.
//
// Spill waits until no call uses the index. A second call does nothing.
func (ix *Index) Spill(spiller *spill.Spiller) error {
	ix.using.Lock()
	defer ix.using.Unlock()
	if ix.spilled != nil {
		return nil
	}
	if err := ix.spill(spiller); err != nil {
		return fmt.Errorf("join: spill the index: %w", err)
	}
	return nil
}

func (ix *Index) spill(spiller *spill.Spiller) error {
	rows, err := ix.rowsTable()
	if err != nil {
		return err
	}
	s := &spilledIndex{}
	if s.rows, err = spiller.Add(rows); err != nil {
		return errors.Join(err, rows.Release())
	}
	for _, columns := range ix.parts {
		part, err := numberedTable(columns)
		if err != nil {
			return errors.Join(err, s.Release())
		}
		added, err := spiller.Add(part)
		if err != nil {
			return errors.Join(err, part.Release(), s.Release())
		}
		s.parts = append(s.parts, added)
	}
	// The spiller moves memory that it alone holds.
	ix.spilled = s
	return ix.releaseMemory()
}

// rowsTable returns a table of the right columns and the keys.
func (ix *Index) rowsTable() (*buffer.Buffer, error) {
	columns := append(columnsOf(ix.run.right), ix.run.rightKeys...)
	names := make([]string, len(columns))
	for i := range names {
		names[i] = fmt.Sprint("column ", i)
	}
	return tableOf(names, columns, buffer.Rows{Count: int64(rowsOf(ix.run.right)), Manager: ix.run.call.Manager})
}

// numberedTable returns a table of columns of one length.
func numberedTable(columns []*column.Column) (*buffer.Buffer, error) {
	names := make([]string, len(columns))
	for i := range names {
		names[i] = fmt.Sprint("column ", i)
	}
	return tableOf(names, columns, buffer.Rows{Count: int64(columns[0].Len())})
}

// indexMemory is the memory of an index for one call.
type indexMemory struct {
	right *buffer.Buffer
	keys  []*column.Column
	built *built
	// parts are the columns that the build side is made of.
	parts []*column.Column
}

// acquire returns the memory for a call, which held releases. It brings it back if it was
// moved.
func (ix *Index) acquire(ctx context.Context, held *release.Stack) (m indexMemory, err error) {
	if ix.spilled == nil {
		m = indexMemory{right: ix.run.right, keys: ix.run.rightKeys, built: ix.built}
		for _, part := range ix.parts {
			m.parts = append(m.parts, part...)
		}
		return m, nil
	}
	rows, err := ix.spilled.rows.Acquire(ctx)
	if err != nil {
		return m, err
	}
	held.Add(rows)
	all, width := columnsOf(rows), ix.rightSchema.NumFields()
	if m.right, err = op.Table(ix.rightSchema, all[:width], rows.Rows()); err != nil {
		return m, err
	}
	held.Add(m.right)
	m.keys = all[width:]
	var parts [][]*column.Column
	for _, part := range ix.spilled.parts {
		acquired, err := part.Acquire(ctx)
		if err != nil {
			return m, err
		}
		held.Add(acquired)
		parts = append(parts, columnsOf(acquired))
		m.parts = append(m.parts, columnsOf(acquired)...)
	}
	m.built, err = ix.built.withMemory(held, parts, m.keys)
	return m, err
}

// parts returns the memory of a build side as columns, in lists of columns of one length.
// The caller releases them.
func (b *built) parts(mgr *memory.Manager) (parts [][]*column.Column, err error) {
	if b == nil {
		return nil, nil
	}
	if s := b.sorted; s != nil {
		columns := append(columnsOf(s.table), s.rows)
		for i, c := range columns {
			if err := c.Retain(); err != nil {
				return nil, errors.Join(err, release.All(columns[:i]))
			}
		}
		return [][]*column.Column{columns}, nil
	}
	t := b.table
	t.sharesKey = t.keys != nil && t.keys.column != nil
	values := t.values
	if t.sharesKey {
		values = memory.Slice[uint8]{} // the column is among the keys
	}
	t.regions = nil
	for i, bytes := range []memory.Slice[uint8]{slotRegion: t.memory, listRegion: t.list.AsBytes(), spanRegion: t.spans.AsBytes(), valueRegion: values} {
		if bytes.Len() == 0 {
			continue
		}
		t.regions = append(t.regions, i)
		c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Uint8, Length: bytes.Len(), Buffers: []column.Bytes{{}, bytes}, Manager: mgr})
		if err != nil {
			for _, part := range parts {
				err = errors.Join(err, release.All(part))
			}
			return nil, err
		}
		parts = append(parts, []*column.Column{c})
	}
	return parts, nil
}

// Regions of the memory of a table, each a part of a spilled index if it is not empty.
const (
	slotRegion = iota
	listRegion
	spanRegion
	valueRegion
)

// withMemory returns a build side like b in other memory: that of parts and keys, which are held.
func (b *built) withMemory(held *release.Stack, parts [][]*column.Column, keys []*column.Column) (*built, error) {
	if b == nil {
		return nil, nil
	}
	if b.sorted != nil {
		columns := parts[0]
		keys := columns[:len(columns)-1]
		names := make([]string, len(keys))
		for i, key := range orderKeys(len(keys)) {
			names[i] = key.Column
		}
		table, err := tableOf(names, keys, buffer.Rows{Count: int64(columns[0].Len())})
		if err != nil {
			return nil, err
		}
		held.Add(table)
		return &built{sorted: &sortedRows{table: table, rows: columns[len(keys)]}}, nil
	}
	from := b.table
	t := &table{
		size: from.size, seed: from.seed, factor: from.factor, least: from.least, places: from.places, room: from.room,
		sign: from.sign, mask: from.mask, rows: from.rows, wide: from.wide, decided: true, distinct: from.distinct,
	}
	var err error
	if from.sharesKey {
		if t.values, err = keys[0].ValuesRegion(); err != nil {
			return nil, err
		}
	}
	for i, part := range parts {
		bytes := part[0].Buffer(1)
		switch from.regions[i] {
		case slotRegion:
			t.memory = bytes
		case listRegion:
			t.list, err = memory.Reinterpret[uint32](bytes)
		case spanRegion:
			t.spans, err = memory.Reinterpret[uint64](bytes)
		case valueRegion:
			t.values = bytes
		}
		if err != nil {
			return nil, err
		}
	}
	return &built{table: t}, nil
}
