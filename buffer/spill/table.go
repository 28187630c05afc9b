package spill

import (
	"container/list"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// Table is a table that is on the device or, while it is not acquired and memory is
// short, on the host: in memory or in a file. It is safe for concurrent use.
type Table struct {
	spiller  *Spiller
	skeleton *buffer.Skeleton
	homes    []home
	bytes    uint64
	// external reports whether another library owns some of the memory.
	external bool

	// The spiller's lock guards the fields below.

	// blocks are the table's memory, on the device or the host, with one reference to
	// each.
	blocks []*memory.Block
	// region is the region of a file that has the contents instead of blocks, or nil.
	region *region
	// form is how the only block on the host, or the region of a file, has the contents, or nil.
	form     *form
	spilled  bool
	released bool
	// arriving reports whether the copy that restored the blocks may be pending.
	arriving bool
	// move is the move in progress, or nil.
	move *move
	// waiting is the number of callers that wait for the move to end.
	waiting int
	// acquired are the acquired buffers that may not be released yet.
	acquired []*buffer.Buffer
	// place is the table's element in the movable list, or nil.
	place *list.Element
}

// Schema returns the table's schema.
func (t *Table) Schema() *arrow.Schema { return t.skeleton.Schema() }

// Bytes returns the length of all the table's blocks, each counted once.
func (t *Table) Bytes() uint64 { return t.bytes }

// Spilled reports whether the table is on the host now.
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
	return fmt.Sprintf("table of %d columns in %s", t.Schema().NumFields(), humanize.IBytes(t.bytes))
}

// touch moves the table to the back of the movable list. The lock is held.
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

// leave removes the table from the movable list. The lock is held.
func (t *Table) leave() {
	if t.place != nil {
		t.spiller.movable.Remove(t.place)
		t.place = nil
	}
}

// forgetReleased removes released buffers from acquired, after it has taken their row
// counts. The lock is held.
func (t *Table) forgetReleased() {
	t.acquired = slices.DeleteFunc(t.acquired, func(table *buffer.Buffer) bool {
		if table.Check() == nil {
			return false
		}
		t.skeleton.Learn(table)
		return true
	})
}

// Release releases the table. Acquired buffers stay valid until they are released
// themselves. Release of a nil Table does nothing; a second Release is an error that
// wraps memory.ErrReleased.
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
	var contents contents
	if t.move == nil { // otherwise the end of the move releases the contents
		contents = t.giveUp()
	}
	s.mu.Unlock()
	return s.discard(contents)
}

// contents are the rows of a table that it does not need any more: blocks, which are host memory
// if onHost is set, or a region of a file.
type contents struct {
	blocks []*memory.Block
	onHost bool
	region *region
}

// giveUp takes the contents from a released table. The lock is held.
func (t *Table) giveUp() contents {
	if t.spilled {
		t.spiller.stats.Spilled--
	}
	taken := contents{t.blocks, t.spilled, t.takeRegion()}
	t.blocks, t.acquired = nil, nil
	return taken
}

// takeRegion takes the region of a file from a table, if it has one. The lock is held.
func (t *Table) takeRegion() *region {
	taken := t.region
	if t.region = nil; taken != nil {
		t.spiller.stats.InFiles--
		t.spiller.stats.FileBytes -= taken.bytes
	}
	return taken
}

// discard releases contents.
func (s *Spiller) discard(c contents) error {
	if c.onHost {
		return errors.Join(s.returning.add(c.blocks), c.region.release())
	}
	return errors.Join(release.All(c.blocks), c.region.release())
}
