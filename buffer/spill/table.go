package spill

import (
	"container/list"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/memory"
)

// Table is a table that is on the device or, while nobody holds it and memory is
// short, on the host. It is safe for concurrent use.
type Table struct {
	spiller  *Spiller
	skeleton *buffer.Skeleton
	homes    []home
	bytes    uint64
	// external says that another library owns some of the memory.
	external bool

	// The spiller's lock guards what follows.

	// blocks are the table's memory, wherever it is, one reference to each.
	blocks   []*memory.Block
	spilled  bool
	released bool
	// arriving says that the blocks may still be written by the copy that
	// restored them.
	arriving bool
	// move is under way, or nil.
	move *move
	// waiting counts those who wait for the move to end.
	waiting int
	// acquired are the buffers that were handed out and may not be released yet.
	acquired []*buffer.Buffer
	// place is where the table is among the movable ones, or nil.
	place *list.Element
}

// Schema returns the table's schema.
func (t *Table) Schema() *arrow.Schema { return t.skeleton.Schema() }

// Bytes returns the length of all the table's blocks, each counted once.
func (t *Table) Bytes() uint64 { return t.bytes }

// Spilled reports whether the table is on the host at the moment.
func (t *Table) Spilled() bool {
	t.spiller.mu.Lock()
	defer t.spiller.mu.Unlock()
	return t.spilled
}

// String formats the table for messages.
func (t *Table) String() string {
	if t == nil {
		return "nil table"
	}
	return fmt.Sprintf("table of %d columns in %s", t.Schema().NumFields(), humanize.Bytes(t.bytes))
}

// touch makes the table the last one to be spilled. The lock is held.
func (t *Table) touch() {
	movable := &t.spiller.movable
	switch {
	case t.bytes == 0 || t.released:
	case t.place == nil:
		t.place = movable.PushBack(t)
	default:
		movable.MoveToBack(t.place)
	}
}

// leave takes the table from the movable ones. The lock is held.
func (t *Table) leave() {
	if t.place != nil {
		t.spiller.movable.Remove(t.place)
		t.place = nil
	}
}

// forgetReleased forgets the buffers that nobody holds any more, but not how many
// rows they were found to have. The lock is held.
func (t *Table) forgetReleased() {
	t.acquired = slices.DeleteFunc(t.acquired, func(table *buffer.Buffer) bool {
		if table.Check() == nil {
			return false
		}
		t.skeleton.Learn(table)
		return true
	})
}

// Release gives the table up. Buffers that were acquired stay as they are until
// they are released themselves. Releasing a nil Table does nothing, releasing
// twice is an error that wraps memory.ErrReleased.
func (t *Table) Release() error {
	if t == nil {
		return nil
	}
	s := t.spiller
	s.mu.Lock()
	if t.released {
		s.mu.Unlock()
		return fmt.Errorf("spill: release %v: %w", t, memory.ErrReleased)
	}
	t.released = true
	t.leave()
	s.stats.Tables--
	var blocks []*memory.Block
	onHost := t.spilled
	if t.move == nil { // else the move ends with it
		blocks = t.giveUp()
	}
	s.mu.Unlock()
	if onHost {
		return s.returning.add(blocks)
	}
	return releaseAll(blocks)
}

// giveUp takes the blocks from a released table. The lock is held.
func (t *Table) giveUp() (blocks []*memory.Block) {
	if t.spilled {
		t.spiller.stats.Spilled--
	}
	blocks, t.blocks, t.acquired = t.blocks, nil, nil
	return blocks
}

func releaseAll(blocks []*memory.Block) error {
	var failures []error
	for _, block := range blocks {
		failures = append(failures, block.Release())
	}
	return errors.Join(failures...)
}
