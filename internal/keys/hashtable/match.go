package hashtable

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// matching numbers the values of two columns by the rows of the first, the keys.
type matching struct {
	call  op.Call
	table table
	keys  keys
	// argument is the table as kernels take it.
	argument any
}

// Match returns numbers of the rows of two columns of strings or binary values of one type, as
// uint32 with the nulls of the columns. Rows of equal values have equal numbers: that of the first
// key that equals them, and the number of keys for others that no key equals. Only the
// keys are inserted into a hash table, so that they should be the fewer. The columns are on
// a GPU and their row counts on the host. The caller releases the results.
func Match(ctx context.Context, keys, others *column.Column, options kernels.Options) (keyNumbers, otherNumbers *column.Column, err error) {
	call, err := op.Begin(ctx, options, keys, others)
	if err != nil {
		return nil, nil, err
	}
	if keys.Len() > math.MaxInt32 {
		return nil, nil, fmt.Errorf("the column has %d rows, at most %d can be numbered: %w", keys.Len(), math.MaxInt32, ErrTooLong)
	}
	m := &matching{call: call}
	if m.keys, err = keysOf(keys); err != nil {
		return nil, nil, err
	}
	if m.table, err = newTable(&m.call, matchSlots(keys.Len(), others.Len())); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err = errors.Join(err, m.table.block.Release()); err != nil {
			err = errors.Join(err, release.All([]*column.Column{keyNumbers, otherNumbers}))
			keyNumbers, otherNumbers = nil, nil
		}
	}()
	valid, bit := validityOf(keys)
	m.argument = m.table.argument(valid, bit, memory.Slice[int64]{}, keys.Len())
	arguments := append([]any{m.argument}, m.keys.arguments()...)
	if err := launch(&m.call, m.keys.kernel, keys.Len(), append(arguments, memory.Slice[uint32]{})...); err != nil {
		return nil, nil, err
	}
	if keyNumbers, err = m.numbers(keys); err != nil {
		return nil, nil, err
	}
	otherNumbers, err = m.numbers(others)
	return keyNumbers, otherNumbers, err
}

// matchSlots returns the number of slots for some keys and other values. Searches for values that
// are no key end at an empty slot, and a warp waits for the longest of 32: with two slots for each
// key the search for 10⁸ values of 10⁵ keys took 7.6 ms on an H200. So there are more if the caches
// hold them and many values are searched for.
func matchSlots(keys, others int) uint64 {
	const cached, many = 4 << 20, 16
	slots := slotsFor(keys)
	if wide := many * uint64(keys); others/many >= keys && wide <= cached {
		slots = wide
	}
	return slots
}

// validityOf returns the bitmap of a column and the position of its first row, or no memory.
func validityOf(c *column.Column) (valid memory.Slice[uint8], bit int) {
	if valid, bit, err := c.Validity(); err == nil { // else there is no bitmap
		return valid, bit
	}
	return memory.Slice[uint8]{}, 0
}

// numbers looks the rows of a column up.
func (m *matching) numbers(c *column.Column) (numbers *column.Column, err error) {
	valid, bit := validityOf(c)
	block, slices, err := m.call.Allocate(4 * uint64(bit+c.Len())) // one offset for bits and numbers
	if err != nil {
		return nil, err
	}
	defer func() { numbers, err = release.OnError(numbers, err, block.Release()) }()
	if c.Len() > 0 {
		others, err := keysOf(c)
		if err != nil {
			return nil, err
		}
		firsts, err := slices[0].Slice(4*bit, slices[0].Len())
		if err != nil {
			return nil, err
		}
		arguments := append([]any{m.argument}, m.keys.arguments()...)
		arguments = append(append(arguments, others.arguments()...), valid, uint64(bit), uint64(c.Len()), firsts)
		if err := launch(&m.call, fmt.Sprint("find_offsets_", 8*m.keys.width), c.Len(), arguments...); err != nil {
			return nil, err
		}
	}
	return column.New(column.Data{
		Type: arrow.PrimitiveTypes.Uint32, Length: c.Len(), Offset: bit, NullCount: c.NullCount(),
		Buffers: []column.Bytes{valid, slices[0]}, Manager: m.call.Manager,
	})
}
