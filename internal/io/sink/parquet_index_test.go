package sink_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// compact decodes a value of thrift's compact protocol: int64, bool, []byte, []any, or map[int]any.
func compact(data []byte, at *int, kind byte) any {
	varint := func() int64 {
		v, n := binary.Varint(data[*at:])
		*at += n
		return v
	}
	switch kind {
	case 1, 2:
		return kind == 1
	case 4, 5, 6:
		return varint()
	case 8:
		n, head := binary.Uvarint(data[*at:])
		*at += head + int(n)
		return data[*at-int(n) : *at]
	case 9:
		head := data[*at]
		*at++
		n := uint64(head >> 4)
		if n == 15 {
			var length int
			n, length = binary.Uvarint(data[*at:])
			*at += length
		}
		list := make([]any, n)
		for i := range list {
			if element := head & 15; element > 2 {
				list[i] = compact(data, at, element)
			} else {
				list[i] = data[*at] == 1
				*at++
			}
		}
		return list
	case 12:
		fields := map[int]any{}
		for field := 0; ; {
			head := data[*at]
			*at++
			if head == 0 {
				return fields
			}
			if field += int(head >> 4); head>>4 == 0 {
				field = int(varint())
			}
			fields[field] = compact(data, at, head&15)
		}
	}
	panic(fmt.Sprint("type ", kind))
}

// indexTypes are types of every order of values.
var indexTypes = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32,
	arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, &arrow.Decimal128Type{Precision: 38, Scale: 3}, &arrow.FixedSizeBinaryType{ByteWidth: 5},
}

// drawIndexed draws values of a type: few or many, with zeros of both signs and NaN, and long texts.
func drawIndexed(t testing.TB, r *rapid.T, dataType arrow.DataType, rows int) arrow.Array {
	g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
	g.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull}).Draw(r, "nulls")
	values := columntest.Repeated(t, g, dataType, rapid.SampledFrom([]int{1, 5, rows}).Draw(r, "distinct values"), rows)
	switch dataType.ID() {
	case arrow.FLOAT64:
		list := []float64{math.NaN(), 0, math.Copysign(0, -1), 1, -2, math.Inf(1), math.Inf(-1)}
		list = list[:rapid.IntRange(1, len(list)).Draw(r, "floats")]
		b := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
		for range rows {
			b.Append(list[g.IntN(len(list))])
		}
		return b.NewArray()
	case arrow.STRING, arrow.BINARY:
		if !rapid.Bool().Draw(r, "long") {
			return values
		}
		b := array.NewBuilder(arrowmemory.DefaultAllocator, dataType)
		parts := []string{"a", "é", "\U0010FFFF", "\uD7FF", "z"}
		if dataType.ID() == arrow.BINARY {
			parts = []string{"a", "\xFF"}
		}
		for range rows {
			appendText(b, strings.Repeat(parts[g.IntN(len(parts))], g.IntN(90))+parts[g.IntN(len(parts))])
		}
		return b.NewArray()
	}
	return values
}

func appendText(b array.Builder, text string) {
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(text)
	case *array.BinaryBuilder:
		b.Append([]byte(text))
	}
}

// ordered returns a value of a column as one that order compares, and whether it counts in bounds.
func ordered(a arrow.Array, i int) (any, bool) {
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i), true
	case *array.Int32:
		return int64(a.Value(i)), true
	case *array.Uint32:
		return uint64(a.Value(i)), true
	case *array.Int64:
		return a.Value(i), true
	case *array.Uint64:
		return a.Value(i), true
	case *array.Float32:
		return float64(a.Value(i)), a.Value(i) == a.Value(i)
	case *array.Float64:
		return a.Value(i), a.Value(i) == a.Value(i)
	case *array.String:
		return []byte(a.Value(i)), true
	case *array.Binary:
		return a.Value(i), true
	case *array.FixedSizeBinary:
		return a.Value(i), true
	case *array.Decimal128:
		return a.Value(i).BigInt(), true
	}
	panic(a.DataType().String())
}

// decodedBound returns a bound in the file as ordered returns values.
func decodedBound(data []byte, t arrow.DataType) any {
	switch t.ID() {
	case arrow.BOOL:
		return data[0] == 1
	case arrow.INT32:
		return int64(int32(binary.LittleEndian.Uint32(data)))
	case arrow.UINT32:
		return uint64(binary.LittleEndian.Uint32(data))
	case arrow.INT64:
		return int64(binary.LittleEndian.Uint64(data))
	case arrow.UINT64:
		return binary.LittleEndian.Uint64(data)
	case arrow.FLOAT32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
	case arrow.FLOAT64:
		return math.Float64frombits(binary.LittleEndian.Uint64(data))
	case arrow.DECIMAL128:
		v := new(big.Int).SetBytes(data)
		if data[0] >= 0x80 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(data))))
		}
		return v
	}
	return data
}

func order(a, b any) int {
	switch a := a.(type) {
	case bool:
		if a == b.(bool) {
			return 0
		} else if a {
			return 1
		}
		return -1
	case int64:
		return cmp.Compare(a, b.(int64))
	case uint64:
		return cmp.Compare(a, b.(uint64))
	case float64:
		return cmp.Compare(a, b.(float64))
	case []byte:
		return bytes.Compare(a, b.([]byte))
	}
	return a.(*big.Int).Cmp(b.(*big.Int))
}

// requireBounds compares bounds in a file with the values. It returns false if there are no values to be
// compared.
func requireBounds(r *rapid.T, values arrow.Array, low, high []byte, about string) bool {
	var all []any
	for i := range values.Len() {
		if v, ok := ordered(values, i); ok && values.IsValid(i) {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return false
	}
	least, greatest := slices.MinFunc(all, order), slices.MaxFunc(all, order)
	require.NotNil(r, low, about)
	decodedLow, decodedHigh := decodedBound(low, values.DataType()), decodedBound(high, values.DataType())
	if text, ok := least.([]byte); ok && len(text) > 64 {
		require.LessOrEqual(r, order(decodedLow, least), 0, about)
		require.LessOrEqual(r, len(low), 64, about)
	} else {
		require.Zero(r, order(decodedLow, least), about)
	}
	if text, ok := greatest.([]byte); ok && len(text) > 64 {
		require.GreaterOrEqual(r, order(decodedHigh, greatest), 0, about)
	} else {
		require.Zero(r, order(decodedHigh, greatest), about)
	}
	if zero, ok := decodedLow.(float64); ok && zero == 0 {
		require.True(r, math.Signbit(zero), about)
	}
	if zero, ok := decodedHigh.(float64); ok && zero == 0 {
		require.False(r, math.Signbit(zero), about)
	}
	return true
}

// Statistics and page indexes describe the values of their column chunk and pages.
func TestIndexesOfParquet(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	property.Check(t, func(r *rapid.T) {
		dataType := rapid.SampledFrom(indexTypes).Draw(r, "type")
		rows := rapid.SampledFrom([]int{1, 20, 300}).Draw(r, "rows")
		values := drawIndexed(t, r, dataType, rows)
		record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: dataType, Nullable: true}}, nil), []arrow.Array{values}, int64(rows))
		options := sink.ParquetOptions{
			GroupRows: rapid.SampledFrom([]int64{0, 70}).Draw(r, "rows of a row group"), PageRows: rapid.SampledFrom([]int64{0, 1, 7, 33}).Draw(r, "rows of a page"),
			NoDictionaries: rapid.Bool().Draw(r, "no dictionaries"), Compression: rapid.SampledFrom([]string{"", "zstd", "none"}).Draw(r, "compression"),
		}
		data := written(r, m, record, options, 1<<20)
		reader, err := file.NewParquetReader(bytes.NewReader(data))
		require.NoError(r, err)
		from := int64(0)
		for _, group := range reader.MetaData().GetRowGroups() {
			part := array.NewSlice(values, from, from+group.GetNumRows())
			from += group.GetNumRows()
			chunk := group.GetColumns()[0]
			statistics := chunk.GetMetaData().GetStatistics()
			require.EqualValues(r, part.NullN(), statistics.GetNullCount())
			if !requireBounds(r, part, statistics.GetMinValue(), statistics.GetMaxValue(), "column chunk") {
				require.Nil(r, statistics.GetMinValue())
			}
			if chunk.GetColumnIndexOffset() == 0 { // pages without bounds, of NaN only
				require.True(r, arrow.IsFloating(dataType.ID()), "%v", dataType)
			}
			requireIndexes(r, data, part, chunk.GetOffsetIndexOffset(), chunk.GetColumnIndexOffset())
		}
		require.EqualValues(r, rows, from)
	})
}

// requireIndexes compares the indexes of a column chunk with its values. There may be no column index.
func requireIndexes(r *rapid.T, data []byte, values arrow.Array, offsets, bounds int64) {
	at := int(offsets)
	places := compact(data, &at, 12).(map[int]any)[1].([]any)
	var index map[int]any
	if at = int(bounds); at > 0 {
		index = compact(data, &at, 12).(map[int]any)
		require.Len(r, index[1], len(places))
	}
	for i, place := range places {
		location := place.(map[int]any)
		begin, end := location[3].(int64), int64(values.Len())
		if i+1 < len(places) {
			end = places[i+1].(map[int]any)[3].(int64)
		}
		offset := location[1].(int64)
		header, err := pages.Read(data[offset:])
		require.NoError(r, err)
		require.Equal(r, end-begin, header.Values)
		require.EqualValues(r, header.Length+header.Compressed, location[2])
		require.True(r, header.HasChecksum)
		if index == nil {
			continue
		}
		page := array.NewSlice(values, begin, end)
		require.EqualValues(r, page.NullN(), index[5].([]any)[i])
		hasBounds := requireBounds(r, page, index[2].([]any)[i].([]byte), index[3].([]any)[i].([]byte), fmt.Sprint("page ", i))
		require.Equal(r, !hasBounds, index[1].([]any)[i])
	}
	if index != nil {
		requireOrder(r, index, values.DataType())
	}
}

// requireOrder checks the order of the pages that a column index claims.
func requireOrder(r *rapid.T, index map[int]any, t arrow.DataType) {
	direction := map[int64]int{1: 1, 2: -1}[index[4].(int64)]
	var low, high any
	for i, null := range index[1].([]any) {
		if null.(bool) {
			continue
		}
		nextLow, nextHigh := decodedBound(index[2].([]any)[i].([]byte), t), decodedBound(index[3].([]any)[i].([]byte), t)
		if low != nil && direction != 0 {
			require.LessOrEqual(r, direction*order(low, nextLow), 0)
			require.LessOrEqual(r, direction*order(high, nextHigh), 0)
		}
		low, high = nextLow, nextHigh
	}
}
