package dictionary

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

const threads = 256

// table is a hash table on the device: struct Table of insert.cuh.
type table struct {
	slots memory.Slice[uint32]
	// seed and factor make the hashes of this table. They are random, so that nobody
	// can choose keys that collide; factor is odd.
	seed, factor uint64
}

// slotsFor returns the number of slots for the keys of n rows, at least one: twice as
// many, so that the table is at most half full. For the longest column that is
// 2³²−2, so the number of every slot, and of the one for nulls behind them, has 32
// bits.
func slotsFor(n int) uint64 { return 2 * uint64(n) }

// newTable allocates a table for n rows and empties it. The caller releases its slots.
func (d *distinct) newTable(n int) (table, error) {
	size := slotsFor(n) + 1
	if size > math.MaxInt {
		return table{}, fmt.Errorf("%d slots: %w", size, memory.ErrOverflow)
	}
	slots, err := op.NewSlice[uint32](&d.call, int(size))
	if err != nil {
		return table{}, err
	}
	if err := slots.Fill(d.call.Stream, math.MaxUint32); err != nil {
		return table{}, errors.Join(err, slots.Release())
	}
	return table{slots: slots, seed: rand.Uint64(), factor: rand.Uint64() | 1}, nil
}

// argument is the table as kernels take it.
func (d *distinct) argument(t table) any {
	size := uint64(0)
	if t.slots.Len() > 0 {
		size = uint64(t.slots.Len()) - 1
	}
	return kernels.Struct(t.slots, size, t.seed, t.factor, d.valid, uint64(d.bit), d.rows, uint64(d.column.Len()))
}

// launch enqueues a kernel with one thread for each of n rows or slots.
func (d *distinct) launch(m *module, name string, n int, arguments ...any) error {
	function, err := m.kernel(d.call.Stream.Device(), name)
	if err != nil {
		return err
	}
	return function.Launch(d.call.Stream, kernels.GridFor(n, threads), device.Dim3{X: threads}, 0, arguments...)
}
