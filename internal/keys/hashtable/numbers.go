package hashtable

import (
	"errors"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// Numbers returns the number of each row's group. The groups must be [WithCounts] or
// [WithCodes], and keep the memory.
func (g *Groups) Numbers() memory.Slice[uint32] { return g.codes }

// FirstRows returns a column of booleans, true for the first row of each group. Rows beyond
// the row count are false. The caller releases the column.
func (g *Groups) FirstRows() (*column.Column, error) {
	return column.New(column.Data{
		Type: arrow.FixedWidthTypes.Boolean, Length: g.column.Len(),
		Buffers: []column.Bytes{{}, g.firstBits}, Manager: g.call.Manager,
	})
}

// List returns the numbers of the groups' first rows in ascending order, as uint32. On a
// GPU the column has a row count on the device, and the capacity of all groups that there
// can be. The groups must be [WithCounts] or [WithCodes], or listed. The caller releases
// the column.
func (g *Groups) List() (*column.Column, error) {
	if g.call.OnHost() || g.column.Len() == 0 {
		return g.listOnHost()
	}
	block, slices, err := g.call.Scratch(4 * uint64(g.most))
	if err != nil {
		return nil, err
	}
	listed, err := g.listOnDevice(slices[0])
	if err = errors.Join(err, block.Release()); err != nil {
		return nil, errors.Join(err, listed.Release())
	}
	return listed, nil
}

func (g *Groups) listOnDevice(bytes memory.Slice[uint8]) (numbers *column.Column, err error) {
	first, err := memory.Reinterpret[uint32](bytes)
	if err != nil {
		return nil, err
	}
	listed, err := op.NewSlice[int64](&g.call, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, listed.Release()) }()
	if err := g.list(first, listed); err != nil {
		return nil, err
	}
	rows, err := column.NewRowCount(listed, int64(g.most))
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	return selection.RowNumbers(first, rows)
}

func (g *Groups) listOnHost() (*column.Column, error) {
	marks, err := g.firstBits.Host()
	if err != nil {
		return nil, err
	}
	n := 0
	for _, byte := range marks {
		n += bits.OnesCount8(byte)
	}
	if n == 0 {
		return column.New(column.Data{Type: arrow.PrimitiveTypes.Uint32, Buffers: make([]column.Bytes, 2), Manager: g.call.Manager})
	}
	return g.call.NewColumn(op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: n}, func(out op.Buffers) error {
		to, err := out.Host()
		if err != nil {
			return err
		}
		rows := op.Elements[uint32](to.Values)[:0]
		for i, byte := range marks {
			for ; byte != 0; byte &= byte - 1 {
				rows = append(rows, uint32(8*i+bits.TrailingZeros8(byte)))
			}
		}
		return nil
	})
}
