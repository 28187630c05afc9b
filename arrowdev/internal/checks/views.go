package checks

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/memory"
)

// ListViews adds a check of the offsets and sizes, 4 or 8 bytes wide, of Count list
// views: neither is negative, and their sum is at most limit, the length of the child.
// A negative limit means no limit. Null slots are checked too. The sizes begin at the
// same element as the offsets.
func (b *Batch) ListViews(name string, width int, offsets Elements, sizes Buffer, limit int64) Check {
	e := entry{name: name, origin: offsets.First, err: widthIn(width, 4, 8)}
	if e.err != nil {
		return b.add(e)
	}
	if limit < 0 {
		limit = math.MaxInt64
	}
	c := listViews{n: offsets.Count, width: width, limit: limit}
	if c.offsets, e.err = offsets.bytes(width, c.n); e.err == nil {
		c.sizes, e.err = Elements{sizes, offsets.First, offsets.Count}.bytes(width, c.n)
		if e.err != nil {
			e.err = fmt.Errorf("sizes: %w", e.err)
		}
	}
	if c.n > 0 {
		e.check = c
	}
	return b.add(e)
}

type listViews struct {
	offsets, sizes Buffer
	n, width       int
	limit          int64
}

func (c listViews) reads() []Buffer { return []Buffer{c.offsets, c.sizes} }

func (c listViews) table() []int64 { return nil }

func (c listViews) kernel(_, result memory.Slice[int64]) launch {
	return launch{listViewsModule, loads(c.offsets.Bytes()), []any{c.offsets, c.sizes, uint64(c.n), uint64(c.width), uint64(c.limit), result}}
}

func (c listViews) onHost(read [][]byte) outcome {
	for i := range c.n {
		if c.wrong(signed(read[0], i, c.width), signed(read[1], i, c.width)) {
			return outcome{bad: int64(i)}
		}
	}
	return noOutcome
}

func (c listViews) wrong(offset, size int64) bool {
	// The sum of two numbers that are not negative fits 64 bits.
	return offset|size < 0 || uint64(offset)+uint64(size) > uint64(c.limit)
}

func (c listViews) peek(bad int) []span {
	return []span{{bad, bad + 1, c.width}, {bad, bad + 1, c.width}}
}

func (c listViews) explain(_ int, read [][]byte) (int64, string) {
	offset, size := signed(read[0], 0, c.width), signed(read[1], 0, c.width)
	switch {
	case offset < 0:
		return offset, fmt.Sprintf("has the offset %d, below zero", offset)
	case size < 0:
		return size, fmt.Sprintf("has the size %d, below zero", size)
	case c.wrong(offset, size):
		return offset, fmt.Sprintf("has the offset %d and the size %d, more than the %d that there are", offset, size, c.limit)
	}
	return offset, changed(offset)
}
