package dlpack

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// column makes the column of a tensor's rows.
func (x *taken) column() (*column.Column, error) {
	count := int(x.extent)
	c, err := x.elements(0, count)
	if err != nil {
		return nil, err
	}
	if x.isBool() && count > 0 {
		if err := x.awaitPacked(c); err != nil {
			return nil, err
		}
	}
	for i := len(x.inner) - 1; i >= 0; i-- {
		count = x.length
		for _, length := range x.inner[:i] {
			count *= int(length)
		}
		if c, err = listsOf(arrow.FixedSizeListOf(int32(x.inner[i]), c.Type()), count, c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// elements makes a column of count elements from first on. The packing of booleans
// may still be pending.
func (x *taken) elements(first uint64, count int) (*column.Column, error) {
	offset := uint64(0)
	if x.bytes > 0 {
		offset = uint64(x.pointer-x.block.Pointer()) + first*x.width
	}
	values, err := memory.View[uint8](x.block, offset, count*int(x.width))
	if err != nil {
		return nil, faulty("data", "%w", err)
	}
	switch {
	case isComplex(x.dataType):
		return complexNumbers(x.element.(*ExtensionType), count, values)
	case x.isBool() && count > 0:
		return x.bools(count, values)
	}
	return newColumn(x.element, count, values)
}

func complexNumbers(dataType *ExtensionType, count int, values column.Bytes) (*column.Column, error) {
	parts, err := newColumn(dataType.Storage.(*arrow.FixedSizeListType).Elem(), 2*count, values)
	if err != nil {
		return nil, err
	}
	return listsOf(dataType, count, parts)
}

func (x *taken) bools(count int, values column.Bytes) (*column.Column, error) {
	bits, err := packedBools(x.manager, values)
	if err != nil {
		return nil, faulty("data", "pack bytes to bits: %w", err)
	}
	defer bits.Release()
	return newColumn(x.element, count, bits)
}

// awaitPacked waits until the booleans of the columns are packed, because the tensor is
// released afterwards. On an error it releases the columns.
func (x *taken) awaitPacked(columns ...*column.Column) error {
	ctx := x.options.Context
	if ctx == nil {
		ctx = context.Background()
	}
	for _, c := range columns {
		if err := c.Buffer(1).Block().Synchronize(ctx); err != nil {
			return also(faulty("data", "pack bytes to bits: %w", err), release.All(columns))
		}
	}
	return nil
}

func newColumn(dataType arrow.DataType, length int, values column.Bytes) (*column.Column, error) {
	c, err := column.New(column.Data{Type: dataType, Length: length, Buffers: []column.Bytes{{}, values}})
	if err != nil {
		return nil, faulty("", "%w", err)
	}
	return c, nil
}

// listsOf makes lists of a column's values. It takes over the reference to items.
func listsOf(dataType arrow.DataType, length int, items *column.Column) (*column.Column, error) {
	c, err := column.New(column.Data{Type: dataType, Length: length, Buffers: make([]column.Bytes, 1), Children: []*column.Column{items}})
	if err != nil {
		return nil, also(faulty("", "%w", err), items.Release())
	}
	if err := items.Release(); err != nil {
		return nil, also(faulty("", "%w", err), c.Release())
	}
	return c, nil
}
