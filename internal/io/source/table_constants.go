package source

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe/internal/base/release"
)

// mostConstantBytes is the length of the repetitions of a value in a batch at most. Metadata may have long values for any number
// of rows.
const mostConstantBytes = 4 << 30

// constantRows returns rows repetitions of a value, in several arrays if one cannot have them.
func constantRows(value scalar.Scalar, rows int64) (*arrow.Chunked, error) {
	if err := fitsConstants(value.DataType(), value, rows, mostConstantBytes); err != nil {
		return nil, err
	}
	step := rows
	if v, ok := value.(scalar.BinaryScalar); ok && value.IsValid() && len(v.Data()) > 0 {
		step = max(1, min(rows, int64(math.MaxInt32/len(v.Data()))))
	}
	var arrays []arrow.Array
	defer func() { release.Arrow(arrays) }()
	for rows > 0 {
		n := min(step, rows)
		values, err := scalar.MakeArrayFromScalar(value, int(n), arrowmemory.DefaultAllocator)
		if err != nil {
			return nil, err
		}
		arrays, rows = append(arrays, values), rows-n
	}
	return arrow.NewChunked(value.DataType(), arrays), nil
}

// nulls returns a column of nulls.
func nulls(t arrow.DataType, rows int64) (*arrow.Chunked, error) {
	if err := fitsConstants(t, nil, rows, mostConstantBytes); err != nil {
		return nil, err
	}
	values := nullArray(t, int(rows))
	defer values.Release()
	return arrow.NewChunked(t, []arrow.Array{values}), nil
}

func nullArray(t arrow.DataType, rows int) arrow.Array {
	builder := array.NewBuilder(arrowmemory.DefaultAllocator, t)
	defer builder.Release()
	builder.AppendNulls(rows)
	return builder.NewArray()
}

// fitsConstants refuses repetitions of a value, or of null, that have more than a number of bytes.
func fitsConstants(t arrow.DataType, value scalar.Scalar, rows, most int64) error {
	width := rowWidth(t)
	if v, ok := value.(scalar.BinaryScalar); ok && value.IsValid() && t.ID() != arrow.FIXED_SIZE_BINARY {
		width += int64(len(v.Data()))
	}
	if rows > most/max(1, width) {
		return fmt.Errorf("%d rows of a value of %d bytes, which the file lacks, the limit is %d bytes: read fewer rows at a time: %w", rows, width, most, ErrUnsupported)
	}
	return nil
}

// rowWidth is about the number of bytes that a null of a type takes.
func rowWidth(t arrow.DataType) (width int64) {
	switch t := t.(type) {
	case *arrow.StructType:
		for _, field := range t.Fields() {
			width += rowWidth(field.Type)
		}
	case *arrow.BooleanType, *arrow.NullType:
		width = 1
	case arrow.FixedWidthDataType:
		width = int64(t.Bytes())
	default:
		width = 4
	}
	return width
}
