package optest

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels"
)

// Spec describes an operator of one column that keeps the rows.
type Spec struct {
	// Name is part of every error of the operator: "window: cumulative sum".
	Name string
	// Run runs the operator with the options.
	Run func(ctx context.Context, c *column.Column, options kernels.Options) (*column.Column, error)
	// Types are the types that the operator takes, Refused some that it does not take.
	Types, Refused []arrow.DataType
	// Lengths are numbers of rows at which the operator changes its course, such as
	// the rows of a tile. The first one is enough to use scratch memory on a GPU.
	Lengths []int
	// Pipeline is the operator of package pipelinetest that runs this one, as a literal. A test
	// there reads it: importing that package here would compile all operators for each test.
	Pipeline string
}

// Model returns the expected result for an array, which may be sliced. The caller
// releases it.
type Model func(in arrow.Array) arrow.Array

// Fixed makes an array of a type of fixed width from the bytes of each value, nil for
// null. A boolean is one byte, 0 or 1.
func Fixed(dataType arrow.DataType, rows [][]byte) arrow.Array {
	width := dataType.(arrow.FixedWidthDataType).BitWidth()
	valid, values := make([]byte, (len(rows)+7)/8), make([]byte, (len(rows)*width+7)/8)
	nulls := 0
	for row, value := range rows {
		switch {
		case value == nil:
			nulls++
			continue
		case width == 1:
			values[row/8] |= value[0] << (row % 8)
		default:
			copy(values[row*width/8:], value)
		}
		valid[row/8] |= 1 << (row % 8)
	}
	buffers := []*arrowalloc.Buffer{arrowalloc.NewBufferBytes(valid), arrowalloc.NewBufferBytes(values)}
	data := array.NewData(dataType, len(rows), buffers, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// Bytes returns the bytes of a row's value, nil for null: the reverse of [Fixed].
func Bytes(a arrow.Array, row int) []byte {
	if a.IsNull(row) {
		return nil
	}
	if booleans, ok := a.(*array.Boolean); ok {
		if booleans.Value(row) {
			return []byte{1}
		}
		return []byte{0}
	}
	width := a.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
	return a.Data().Buffers()[1].Bytes()[(a.Data().Offset()+row)*width:][:width]
}
