package selection

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// RowNumbers returns a column of row numbers, counted from 0, that an operator has
// computed in device memory: the indices of a [TakeWith] that gathers the rows of a
// table. If rows is not nil it is the number of row numbers on the device, and the
// slice is as long as its capacity.
//
// The column reads the memory in place and holds a reference to it. The caller keeps
// its own references to memory and row count, and releases the column. Operators that
// made the numbers themselves take with Bounds Trust, and with Distinct if no number
// occurs twice. A number beyond the last row stands for a null row if Bounds is Null.
func RowNumbers[N uint32 | uint64 | int64](numbers memory.Slice[N], rows *column.RowCount) (*column.Column, error) {
	var t arrow.DataType
	switch any(N(0)).(type) {
	case uint32:
		t = arrow.PrimitiveTypes.Uint32
	case uint64:
		t = arrow.PrimitiveTypes.Uint64
	case int64:
		t = arrow.PrimitiveTypes.Int64
	}
	c, err := column.New(column.Data{
		Type: t, Length: numbers.Len(), Rows: rows, Buffers: []column.Bytes{{}, numbers.AsBytes()},
	})
	if err != nil {
		return nil, fmt.Errorf("selection: row numbers: %w", err)
	}
	return c, nil
}
