package buffer

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// Skeleton describes a table without its memory: the schema, the skeletons of the
// columns, and the number of rows or the block that holds it. It keeps no memory
// alive. When a table's blocks were moved to other memory and back, the skeleton
// rebuilds the table. A Skeleton is safe for concurrent use.
type Skeleton struct {
	schema   *arrow.Schema
	columns  []column.Skeleton
	capacity int64
	manager  *memory.Manager
	hostRows atomic.Int64
	// rowsBlock is the number of the block that holds the row count, or noBlock if
	// the host has set it.
	rowsBlock  int
	rowsOffset uint64
}

const (
	noBlock     = -1
	unknownRows = -1
)

// Skeleton returns the table without its memory, and the blocks of that memory, each
// once. The blocks are borrowed from the table.
func (b *Buffer) Skeleton() (*Skeleton, []*memory.Block, error) {
	if err := b.Check(); err != nil {
		return nil, nil, err
	}
	var blocks []*memory.Block
	numbers := make(map[*memory.Block]int)
	number := func(block *memory.Block) int {
		n, met := numbers[block]
		if !met {
			n = len(blocks)
			numbers[block], blocks = n, append(blocks, block)
		}
		return n
	}
	s := &Skeleton{schema: b.schema, columns: make([]column.Skeleton, len(b.columns)), capacity: b.capacity, manager: b.manager, rowsBlock: noBlock}
	s.hostRows.Store(unknownRows)
	s.Learn(b)
	for i, c := range b.columns {
		var err error
		if s.columns[i], err = c.Skeleton(number); err != nil {
			return nil, nil, fmt.Errorf("buffer: skeleton of column %q: %w", b.schema.Field(i).Name, err)
		}
	}
	if count := b.DeviceRows(); count.Block() != nil {
		s.rowsBlock, s.rowsOffset = number(count.Block()), count.Offset()
	}
	return s, blocks, nil
}

// Schema returns the table's schema.
func (s *Skeleton) Schema() *arrow.Schema { return s.schema }

// Buffers calls f with each buffer of the columns, and with the length of an element in it: see
// [column.Skeleton.Buffers].
func (s *Skeleton) Buffers(f func(place column.Place, element int)) {
	for i := range s.columns {
		s.columns[i].Buffers(f)
	}
}

// Learn takes the number of rows from a table of this skeleton that has fetched it,
// so that later tables know it. The table may be released already.
func (s *Skeleton) Learn(b *Buffer) {
	if rows, known := b.HostRows(); known {
		s.hostRows.Store(rows)
	}
}

// Buffer makes the table in the given blocks, in the order that Skeleton returned
// them. They must hold the same bytes as the original blocks. Buffer retains the
// blocks that it uses. The caller releases the table.
//
// # Errors
//
// The error wraps memory.ErrRange if a block is missing or too short, and
// memory.ErrReleased if one was released.
func (s *Skeleton) Buffer(blocks []*memory.Block) (b *Buffer, err error) {
	rows := Rows{Count: s.capacity, Manager: s.manager}
	if s.rowsBlock != noBlock {
		if rows.Shared, err = s.rows(blocks); err != nil {
			return nil, fmt.Errorf("buffer: rebuild: row count: %w", err)
		}
	}
	columns := make([]*column.Column, 0, len(s.columns))
	defer func() {
		// The table holds its own references.
		for _, c := range columns {
			err = errors.Join(err, c.Release())
		}
		if err = errors.Join(err, rows.Shared.Release()); err != nil {
			err = errors.Join(err, b.Release())
			b = nil
		}
	}()
	for i := range s.columns {
		c, err := s.columns[i].ColumnWithRows(blocks, rows.Shared)
		if err != nil {
			return nil, fmt.Errorf("buffer: rebuild: column %q: %w", s.schema.Field(i).Name, err)
		}
		columns = append(columns, c)
	}
	return New(s.schema, columns, rows)
}

// rows returns the row count in the given blocks.
func (s *Skeleton) rows(blocks []*memory.Block) (*column.RowCount, error) {
	if s.rowsBlock >= len(blocks) {
		return nil, fmt.Errorf("its block is number %d, but %d blocks were passed: %w", s.rowsBlock, len(blocks), memory.ErrRange)
	}
	device, err := memory.View[int64](blocks[s.rowsBlock], s.rowsOffset, 1)
	if err != nil {
		return nil, err
	}
	count, err := column.NewRowCount(device, s.capacity)
	if err != nil {
		return nil, err
	}
	if rows := s.hostRows.Load(); rows != unknownRows {
		err = count.Learn(rows)
	}
	if err != nil {
		return nil, errors.Join(err, count.Release())
	}
	return count, nil
}
