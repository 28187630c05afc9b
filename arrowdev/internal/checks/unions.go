package checks

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// mostTypeIDs is the number of possible type ids, which begin at zero.
const mostTypeIDs = 128

// TypeIDs is a set of type ids. The zero value is empty.
type TypeIDs struct{ low, high uint64 }

// NewTypeIDs returns the set of the given ids without negative ones, which no union
// has.
func NewTypeIDs[ID ~int8](ids ...ID) TypeIDs {
	var s TypeIDs
	for _, id := range ids {
		switch {
		case id < 0:
		case id < 64:
			s.low |= 1 << id
		default:
			s.high |= 1 << (id - 64)
		}
	}
	return s
}

// Has reports whether an id is in the set.
func (s TypeIDs) Has(id int8) bool {
	half := s.low
	if id >= 64 {
		half = s.high
	}
	return id >= 0 && half>>(id&63)&1 != 0
}

// allBelow returns n, and whether the set holds exactly the ids below n.
func (s TypeIDs) allBelow() (below uint64, ok bool) {
	n := bits.OnesCount64(s.low) + bits.OnesCount64(s.high)
	// A shift by 64 or more returns 0; minus one that is all bits.
	if n <= 64 {
		return uint64(n), s == TypeIDs{low: 1<<n - 1}
	}
	return uint64(n), s == TypeIDs{math.MaxUint64, 1<<(n-64) - 1}
}

// TypeIDs adds a check that all type ids of a union, of a byte each, are allowed.
func (b *Batch) TypeIDs(name string, ids Elements, allowed TypeIDs) Check {
	c := typeIDs{n: ids.Count, allowed: allowed}
	e := entry{name: name, origin: ids.First}
	c.ids, e.err = ids.bytes(1, c.n)
	if c.n > 0 {
		e.check = c
	}
	return b.add(e)
}

type typeIDs struct {
	ids     Buffer
	n       int
	allowed TypeIDs
}

func (c typeIDs) reads() []Buffer { return []Buffer{c.ids} }

func (c typeIDs) table() []int64 { return nil }

func (c typeIDs) kernel(_, result memory.Slice[int64]) launch {
	threads := loads(c.ids.Bytes())
	if below, ok := c.allowed.allBelow(); ok {
		// The ids of most unions are indices of their children.
		return launch{indicesModule, threads, []any{c.ids, uint64(c.n), uint64(1), Buffer{}, uint64(0), below, result}}
	}
	return launch{typeIDsModule, threads, []any{c.ids, uint64(c.n), c.allowed.low, c.allowed.high, result}}
}

func (c typeIDs) onHost(read [][]byte) outcome {
	for i, id := range read[0] {
		if !c.allowed.Has(int8(id)) {
			return outcome{bad: int64(i)}
		}
	}
	return noOutcome
}

func (c typeIDs) peek(bad int) []span { return []span{{bad, bad + 1, 1}} }

func (c typeIDs) explain(_ int, read [][]byte) (int64, string) {
	id := int8(read[0][0])
	if c.allowed.Has(id) {
		return int64(id), changed(int64(id))
	}
	return int64(id), fmt.Sprintf("is %d, which is no type id of the union", id)
}

// DenseOffsets adds a check of the offsets of a dense union, of 4 bytes each: each is
// within the child of its slot's type id. childLengths holds the lengths of the
// children by type id. A negative length, or a missing one at the end, means that no
// child has the id. The ids begin at the same element as the offsets.
//
// The format also requires that offsets into one child ascend. DenseOffsets does not
// check that: a violation causes no access out of bounds, and the check would have to
// read all slots in order.
func (b *Batch) DenseOffsets(name string, ids Buffer, offsets Elements, childLengths []int64) Check {
	c := denseOffsets{n: offsets.Count}
	e := entry{name: name, origin: offsets.First}
	if len(childLengths) > mostTypeIDs {
		e.err = fmt.Errorf("%d children by type id: at most %d are possible: %w", len(childLengths), mostTypeIDs, device.ErrInvalidValue)
		return b.add(e)
	}
	for id := range c.lengths {
		c.lengths[id] = -1
	}
	copy(c.lengths[:], childLengths)
	if c.offsets, e.err = offsets.bytes(4, c.n); e.err == nil {
		c.ids, e.err = Elements{ids, offsets.First, offsets.Count}.bytes(1, c.n)
		if e.err != nil {
			e.err = fmt.Errorf("type ids: %w", e.err)
		}
	}
	if c.n > 0 {
		e.check = &c
	}
	return b.add(e)
}

type denseOffsets struct {
	ids, offsets Buffer
	n            int
	lengths      [mostTypeIDs]int64
}

func (c *denseOffsets) reads() []Buffer { return []Buffer{c.ids, c.offsets} }

// table returns the lengths for comparison with offsets of 4 bytes as unsigned numbers:
// negative offsets become 2³¹ and more.
func (c *denseOffsets) table() []int64 {
	words := make([]int64, mostTypeIDs/2)
	for i := range words {
		var pair [8]byte
		binary.NativeEndian.PutUint32(pair[:], shortened(c.lengths[2*i]))
		binary.NativeEndian.PutUint32(pair[4:], shortened(c.lengths[2*i+1]))
		words[i] = int64(binary.NativeEndian.Uint64(pair[:]))
	}
	return words
}

func shortened(length int64) uint32 { return uint32(max(0, min(length, 1<<31))) }

func (c *denseOffsets) kernel(table, result memory.Slice[int64]) launch {
	return launch{denseOffsetsModule, loads(c.offsets.Bytes()), []any{c.ids, c.offsets, uint64(c.n), table, result}}
}

func (c *denseOffsets) wrong(id int8, offset int32) bool {
	return id < 0 || offset < 0 || int64(offset) >= c.lengths[id]
}

func (c *denseOffsets) onHost(read [][]byte) outcome {
	for i, id := range read[0] {
		if c.wrong(int8(id), load[int32](read[1], i)) {
			return outcome{bad: int64(i)}
		}
	}
	return noOutcome
}

func (c *denseOffsets) peek(bad int) []span { return []span{{bad, bad + 1, 1}, {bad, bad + 1, 4}} }

func (c *denseOffsets) explain(_ int, read [][]byte) (int64, string) {
	id, offset := int8(read[0][0]), load[int32](read[1], 0)
	switch {
	case !c.wrong(id, offset):
		return int64(offset), changed(int64(offset))
	case id < 0 || c.lengths[id] < 0:
		return int64(id), fmt.Sprintf("has the type id %d, which is none of the union", id)
	}
	return int64(offset), fmt.Sprintf("is %d, in the child of type id %d, which has %d elements", offset, id, c.lengths[id])
}
