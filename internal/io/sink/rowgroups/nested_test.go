package rowgroups

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

// nestedOf returns a record with a column of an array.
func nestedOf(data arrow.ArrayData, nullable bool) arrow.Record {
	return array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: data.DataType(), Nullable: nullable}}, nil), []arrow.Array{array.MakeFromData(data)}, int64(data.Len()))
}

// Arrays that a file cannot hold are errors that name the column.
func TestNestedArraysThatAreRefused(t *testing.T) {
	numbers := func(nulls int) arrow.ArrayData {
		return array.NewData(arrow.PrimitiveTypes.Int32, 3, []*arrowmemory.Buffer{arrowmemory.NewBufferBytes([]byte{7 >> nulls}), arrowmemory.NewBufferBytes(make([]byte, 12))}, nil, nulls, 0)
	}
	list := func(offsets ...int) arrow.ArrayData {
		var bytes []byte
		for _, offset := range offsets {
			bytes = arraytest.Append(bytes, 4, offset)
		}
		return array.NewData(arrow.ListOf(arrow.PrimitiveTypes.Int32), len(offsets)-1, []*arrowmemory.Buffer{nil, arrowmemory.NewBufferBytes(bytes)}, []arrow.ArrayData{numbers(0)}, 0, 0)
	}
	required := arrow.StructOf(arrow.Field{Name: "f", Type: arrow.PrimitiveTypes.Int32})
	for text, record := range map[string]arrow.Record{
		`column "a.list.element" has a list of the elements from 2 to 4 of 3`:  nestedOf(list(0, 2, 4), true),
		`column "a.list.element" has a list of the elements from 2 to 1 of 3`:  nestedOf(list(0, 2, 1), true),
		`column "a.list.element" has a list of the elements from -1 to 2 of 3`: nestedOf(list(-1, 2), true),
		`column "a.f" has nulls, by its schema it has none`:                    nestedOf(array.NewData(required, 3, []*arrowmemory.Buffer{nil}, []arrow.ArrayData{numbers(1)}, 0, 0), true),
		`column "a.f" has nulls`: nestedOf(array.NewData(required, 3, []*arrowmemory.Buffer{arrowmemory.NewBufferBytes([]byte{1})}, []arrow.ArrayData{numbers(0)}, 2, 0), false),
	} {
		w, err := NewWriter(&bytes.Buffer{}, record.Schema(), Options{})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), []arrow.Record{record}))
		err = w.Close(t.Context())
		w.Abort()
		require.ErrorIs(t, err, ErrValue, text)
		require.ErrorContains(t, err, text)
	}
}

// Levels are bytes: a column with more of them is refused.
func TestTooManyLevels(t *testing.T) {
	for depth, ok := range map[int]bool{127: true, 128: false} { // two levels each, and one for the values
		var list arrow.DataType = arrow.PrimitiveTypes.Int32
		for range depth {
			list = arrow.ListOf(list)
		}
		w, err := NewWriter(&bytes.Buffer{}, arrow.NewSchema([]arrow.Field{{Name: "a", Type: list, Nullable: true}}, nil), Options{})
		if ok {
			require.NoError(t, err)
			require.NoError(t, w.Close(t.Context()))
			w.Abort()
			continue
		}
		require.ErrorIs(t, err, arrow.ErrNotImplemented)
		require.ErrorContains(t, err, `column "a" has more than 255 levels`)
	}
}
