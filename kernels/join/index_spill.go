package join

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
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
	return errors.Join(s.rows.Release(), release.All(s.parts))
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
		part, err := numberedTable(columns, buffer.Rows{Count: int64(columns[0].Len())})
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
	columns := append(columnsOf(ix.sides.right), ix.sides.rightKeys...)
	return numberedTable(columns, buffer.Rows{Count: int64(rowsOf(ix.sides.right)), Manager: ix.sides.Manager})
}

// numberedTable returns a table of columns of one length.
func numberedTable(columns []*column.Column, rows buffer.Rows) (*buffer.Buffer, error) {
	names := make([]string, len(columns))
	for i := range names {
		names[i] = fmt.Sprint("column ", i)
	}
	return tableOf(names, columns, rows)
}

// acquire returns the memory for a call, which held releases. It brings it back if it was
// moved.
func (ix *Index) acquire(ctx context.Context, held *release.Stack) (m indexMemory, err error) {
	if ix.spilled == nil {
		m = indexMemory{right: ix.sides.right, keys: ix.sides.rightKeys, built: ix.built}
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
