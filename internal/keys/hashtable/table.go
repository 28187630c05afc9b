package hashtable

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// table is a hash table on the device: struct Table of insert.cuh.
type table struct {
	slots memory.Slice[uint32]
	// block holds the slots.
	block *memory.Block
	// seed and factor select the hash function of this table. They are random, so that
	// keys chosen to collide do not. factor is odd.
	seed, factor uint64
}

// slotsFor returns the number of slots for n keys: twice as many, so that the table is at
// most half full. For the longest column that is 2³²−2, so that the
// number of every slot, and of the slot for nulls behind them, has 32 bits.
func slotsFor(n int) uint64 { return 2 * uint64(n) }

// newTable allocates a table of some slots and empties it. The caller releases its block.
func newTable(call *op.Call, size uint64) (table, error) {
	block, buffers, err := call.Scratch(4 * (size + 1))
	if err != nil {
		return table{}, err
	}
	slots, err := memory.Reinterpret[uint32](buffers[0])
	if err == nil {
		err = slots.Fill(call.Stream, math.MaxUint32)
	}
	if err != nil {
		return table{}, errors.Join(err, block.Release())
	}
	return table{slots: slots, block: block, seed: rand.Uint64(), factor: rand.Uint64() | 1}, nil
}

// argument returns the table of the groups' rows as kernels take it.
func (g *Groups) argument(t table) any { return t.argument(g.valid, g.bit, g.rows, g.column.Len()) }

// argument returns the table of a column as kernels take it.
func (t table) argument(valid memory.Slice[uint8], bit int, rows memory.Slice[int64], capacity int) any {
	size := uint64(0)
	if t.slots.Len() > 0 {
		size = uint64(t.slots.Len()) - 1
	}
	l := tableLayout{
		slots: t.slots, size: size, seed: t.seed, factor: t.factor, valid: valid, bit: uint64(bit), rows: rows, capacity: uint64(capacity),
	}
	return l.asArgument()
}
