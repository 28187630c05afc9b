package buffer

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// Skeleton is all of a table but its memory: the schema, the skeletons of the
// columns and the number of rows, or where that lies. It keeps nothing alive.
// When a table's blocks are moved elsewhere and back, the table is put together
// from it again. A Skeleton is safe for concurrent use.
type Skeleton struct {
	schema   *arrow.Schema
	columns  []column.Skeleton
	capacity int64
	hostRows atomic.Int64
	// rowsBlock is the number of the block that holds the row count, or
	// noBlock where the host gave it.
	rowsBlock  int
	rowsOffset uint64
}

const noBlock = -1

// Skeleton returns all of the table but its memory, and the blocks of that
// memory, each once. They are borrowed from the table.
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
	s := &Skeleton{schema: b.schema, columns: make([]column.Skeleton, len(b.columns)), capacity: b.capacity, rowsBlock: noBlock}
	s.hostRows.Store(b.hostRows.Load())
	for i, c := range b.columns {
		var err error
		if s.columns[i], err = c.Skeleton(number); err != nil {
			return nil, nil, fmt.Errorf("buffer: skeleton of column %q: %w", b.schema.Field(i).Name, err)
		}
	}
	if block := b.deviceRows.Block(); block != nil {
		s.rowsBlock, s.rowsOffset = number(block), b.deviceRows.Offset()
	}
	return s, blocks, nil
}

// Schema returns the table's schema.
func (s *Skeleton) Schema() *arrow.Schema { return s.schema }

// Learn takes over the number of rows from a table of this skeleton that has
// fetched it meanwhile, so that tables made later know it. The table may be
// released already.
func (s *Skeleton) Learn(b *Buffer) {
	if rows, known := b.HostRows(); known {
		s.hostRows.Store(rows)
	}
}

// Buffer makes the table in blocks that hold, byte for byte, what those did that
// came with the skeleton, in the same order. It retains those that it uses. An
// error wraps memory.ErrRange where a block is missing or too short, and
// memory.ErrReleased where one was released. The caller releases the table.
func (s *Skeleton) Buffer(blocks []*memory.Block) (*Buffer, error) {
	b := &Buffer{schema: s.schema, columns: make([]*column.Column, 0, len(s.columns)), capacity: s.capacity}
	b.references.Store(1)
	b.hostRows.Store(s.hostRows.Load())
	if s.rowsBlock != noBlock {
		if err := s.retainRows(b, blocks); err != nil {
			return nil, fmt.Errorf("buffer: rebuild: row count: %w", err)
		}
	}
	for i := range s.columns {
		c, err := s.columns[i].Column(blocks)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("buffer: rebuild: column %q: %w", s.schema.Field(i).Name, err), b.Release())
		}
		b.columns = append(b.columns, c)
	}
	return b, nil
}

func (s *Skeleton) retainRows(b *Buffer, blocks []*memory.Block) error {
	if s.rowsBlock >= len(blocks) {
		return fmt.Errorf("it lies in block %d of %d: %w", s.rowsBlock, len(blocks), memory.ErrRange)
	}
	rows, err := memory.View[int64](blocks[s.rowsBlock], s.rowsOffset, 1)
	if err != nil {
		return err
	}
	if err := rows.Retain(); err != nil {
		return err
	}
	b.deviceRows = rows
	return nil
}
