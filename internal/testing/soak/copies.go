package soak

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory"
)

// Blocks up to wholeBytes are filled and copied whole. Of larger blocks only the first,
// the middle and the last edgeBytes are.
const (
	fillBytes  = 4
	wholeBytes = 64 << 10
	edgeBytes  = 16 << 10
)

// inboxBytes is the number of bytes that are copied before the checker waits and
// compares.
const inboxBytes = 4 << 20

// Work is delayed by filling unused memory: scratchBytes, which a processor fills in
// about fillTime.
const (
	scratchBytes = 256 << 10
	fillTime     = 20 * time.Microsecond
)

// copyChecker fills memory with a value and copies it to pinned memory. It compares the
// values when that memory is full.
type copyChecker struct {
	inbox memory.Slice[uint32]
	// values is the inbox as host memory, of which used elements are taken.
	values   []uint32
	used     uint64
	arriving []arrival
	// lanes are the lanes with copies into the inbox.
	lanes map[int]lane
	// scratch is the memory that each lane fills to delay work.
	scratch    []memory.Slice[uint8]
	fills      int
	goroutines int
	counts     tally
}

// arrival is an extent of a block that is being copied to the inbox.
type arrival struct {
	// at and count are its position in the inbox, in values.
	at, count uint64
	// expected is the mismatch to report if another value is found.
	expected Mismatch
}

func newCopyChecker(pinned *memory.Manager, scratch []memory.Slice[uint8], options Options) (*copyChecker, error) {
	c := &copyChecker{
		lanes: map[int]lane{}, scratch: scratch, goroutines: options.Goroutines,
		fills: int((options.Delay + fillTime - 1) / fillTime),
	}
	var err error
	if c.inbox, err = memory.NewSlice[uint32](pinned, inboxBytes/fillBytes, memory.AllocateOptions{}); err != nil {
		return nil, err
	}
	if c.values, err = c.inbox.Host(); err != nil {
		return nil, errors.Join(err, c.inbox.Release())
	}
	return c, nil
}

func (c *copyChecker) write(on lane, pieces []piece, late bool) error {
	if err := c.hold(on, late); err != nil {
		return err
	}
	for _, p := range pieces {
		for _, e := range extents(p.block.Bytes()) {
			view, err := memory.View[uint32](p.block, e.offset, int(e.bytes/fillBytes))
			if err != nil {
				return err
			}
			if err := view.Fill(on.Stream, p.writing.fill()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *copyChecker) check(on lane, pieces []piece, late bool) error {
	if err := c.hold(on, late); err != nil {
		return err
	}
	for _, p := range pieces {
		for _, e := range extents(p.block.Bytes()) {
			if err := c.fetch(on, p, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// hold keeps the lane busy.
func (c *copyChecker) hold(on lane, late bool) error {
	if !late {
		return nil
	}
	for range c.fills {
		if err := c.scratch[on.number].Fill(on.Stream, 0); err != nil {
			return err
		}
	}
	return nil
}

// fetch enqueues the copy of an extent of a block.
func (c *copyChecker) fetch(on lane, p piece, e extent) error {
	count := e.bytes / fillBytes
	if c.used+count > uint64(len(c.values)) {
		if err := c.empty(); err != nil {
			return err
		}
	}
	to, from := unsafe.Pointer(&c.values[c.used]), p.block.Pointer().Add(e.offset)
	err := on.Enqueue(func(handle backend.Stream) error {
		return on.Device().Driver().CopyToHostAsync(to, from, e.bytes, handle)
	})
	if err != nil {
		return err
	}
	c.arriving = append(c.arriving, arrival{at: c.used, count: count, expected: Mismatch{
		Writing: p.writing, Address: p.block.Pointer(), Bytes: p.block.Bytes(), Offset: e.offset,
		Expected: uint64(p.writing.fill()), Stream: on.number,
	}})
	c.used += count
	c.lanes[on.number] = on
	return p.block.RecordUse(on.Stream)
}

// empty waits for the copies to the inbox and compares them.
func (c *copyChecker) empty() error {
	for _, l := range c.lanes {
		if err := l.Synchronize(context.Background()); err != nil {
			return err
		}
	}
	for _, a := range c.arriving {
		c.compare(a)
	}
	c.used, c.arriving = 0, c.arriving[:0]
	clear(c.lanes)
	return nil
}

// compare checks one extent. It keeps the first wrong value of the extent while there is
// room.
func (c *copyChecker) compare(a arrival) {
	wrong := uint64(0)
	for i, value := range c.values[a.at : a.at+a.count] {
		if uint64(value) == a.expected.Expected {
			continue
		}
		if wrong++; wrong == 1 && len(c.counts.first) < mostRecords {
			m := a.expected
			m.Offset += uint64(i) * fillBytes
			m.Found, m.Other = uint64(value), writingOfFill(value).known(c.goroutines)
			c.counts.first = append(c.counts.first, m)
		}
	}
	c.counts.bytes += a.count * fillBytes
	c.counts.mismatches += wrong
}

func (c *copyChecker) tally() (tally, error) {
	err := c.empty()
	return c.counts, err
}

func (c *copyChecker) close() error { return c.inbox.Release() }

// extent is a range of a block, in bytes.
type extent struct{ offset, bytes uint64 }

// extents returns the checked extents of a block.
func extents(bytes uint64) []extent {
	bytes -= bytes % fillBytes
	if bytes <= wholeBytes {
		return []extent{{0, bytes}}
	}
	middle := bytes/2 - bytes/2%fillBytes
	return []extent{{0, edgeBytes}, {middle, edgeBytes}, {bytes - edgeBytes, edgeBytes}}
}
