package checks

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Integer is a type of dictionary indices: 1, 2, 4 or 8 bytes wide.
type Integer struct {
	Width  int
	Signed bool
}

// Indices adds a check of dictionary indices: those of slots that are not null are at
// least zero and below limit, the length of the dictionary.
func (b *Batch) Indices(name string, integer Integer, indexes Elements, validity Validity, limit int64) Check {
	e := entry{name: name, origin: indexes.First, err: widthIn(integer.Width, 1, 2, 4, 8)}
	if e.err == nil && limit < 0 {
		e.err = fmt.Errorf("a dictionary of %d elements: %w", limit, device.ErrInvalidValue)
	}
	if e.err != nil {
		return b.add(e)
	}
	c := indices{n: indexes.Count, integer: integer, limit: limit}
	if c.values, e.err = indexes.bytes(integer.Width, c.n); e.err == nil {
		c.bits, c.offset, e.err = validity.bytes(c.n)
	}
	// Often the type alone keeps the indices within the dictionary.
	if c.n > 0 && (integer.Signed || integer.Width == 8 || limit < 1<<(8*integer.Width)) {
		e.check = c
	}
	return b.add(e)
}

type indices struct {
	values, bits Buffer
	n, offset    int
	integer      Integer
	limit        int64
}

// unsignedLimit returns a limit of the same width for indices read as unsigned:
// negative ones are above it.
func (c indices) unsignedLimit() uint64 {
	limit := uint64(c.limit)
	if c.integer.Signed {
		limit = min(limit, 1<<(8*c.integer.Width-1))
	}
	return limit
}

func (c indices) reads() []Buffer { return []Buffer{c.values, c.bits} }

func (c indices) table() []int64 { return nil }

func (c indices) kernel(_, result memory.Slice[int64]) launch {
	return launch{indicesModule, loads(c.values.Bytes()), []any{
		c.values, uint64(c.n), uint64(c.integer.Width), c.bits, uint64(c.offset), c.unsignedLimit(), result,
	}}
}

func (c indices) onHost(read [][]byte) outcome {
	find := firstBeyond[uint64]
	switch c.integer.Width {
	case 1:
		find = firstBeyond[uint8]
	case 2:
		find = firstBeyond[uint16]
	case 4:
		find = firstBeyond[uint32]
	}
	return outcome{bad: find(read[0], read[1], c.n, c.offset, c.unsignedLimit())}
}

func firstBeyond[T uint8 | uint16 | uint32 | uint64](values, bits []byte, n, offset int, limit uint64) int64 {
	for i := range n {
		if uint64(load[T](values, i)) >= limit && valid(bits, offset+i) {
			return int64(i)
		}
	}
	return -1
}

func (c indices) peek(bad int) []span { return []span{{bad, bad + 1, c.integer.Width}} }

func (c indices) explain(_ int, read [][]byte) (int64, string) {
	value := signed(read[0], 0, c.integer.Width)
	if !c.integer.Signed && c.integer.Width < 8 {
		value &= 1<<(8*c.integer.Width) - 1
	}
	text := fmt.Sprint(value)
	if !c.integer.Signed && value < 0 { // of 8 bytes
		text, value = fmt.Sprint(uint64(value)), math.MaxInt64
	}
	switch {
	case value < 0:
		return value, fmt.Sprintf("is %s, below zero", text)
	case value >= c.limit:
		return value, fmt.Sprintf("is %s, in a dictionary of %d elements", text, c.limit)
	}
	return value, changed(value)
}
