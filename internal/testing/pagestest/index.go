package pagestest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// Index is the page index of a column chunk.
type Index struct {
	Bounds    []pages.Bounds
	Locations []pages.Location
	// WithoutBounds and WithoutLocations leave out the column index and the offset index.
	WithoutBounds, WithoutLocations bool
}

// WithIndex returns a file with page indices of its flat columns. change may change each of them.
func WithIndex(t testing.TB, data []byte, change func(rowGroup, column int, x *Index)) []byte {
	t.Helper()
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	about := reader.MetaData()
	footer := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	indexed := slices.Clone(data[:len(data)-8-footer])
	for g, group := range about.GetRowGroups() {
		for c, chunk := range group.GetColumns() {
			column := about.Schema.Column(c)
			if column.MaxRepetitionLevel() > 0 || column.MaxDefinitionLevel() > 1 {
				continue
			}
			x := indexOf(t, reader, data, g, c)
			if change != nil {
				change(g, c, &x)
			}
			if !x.WithoutBounds {
				at, list := int64(len(indexed)), columnIndex(x.Bounds)
				length := int32(len(list))
				chunk.ColumnIndexOffset, chunk.ColumnIndexLength, indexed = &at, &length, append(indexed, list...)
			}
			if !x.WithoutLocations {
				at, list := int64(len(indexed)), offsetIndex(x.Locations)
				length := int32(len(list))
				chunk.OffsetIndexOffset, chunk.OffsetIndexLength, indexed = &at, &length, append(indexed, list...)
			}
		}
	}
	var to bytes.Buffer
	_, err = about.WriteTo(&to, nil)
	require.NoError(t, err)
	indexed = append(indexed, to.Bytes()...)
	return append(binary.LittleEndian.AppendUint32(indexed, uint32(to.Len())), "PAR1"...)
}

// indexOf returns the page index of a column chunk.
func indexOf(t testing.TB, reader *file.Reader, data []byte, group, column int) (x Index) {
	m, about := reader.MetaData().GetRowGroups()[group].GetColumns()[column].GetMetaData(), reader.MetaData().Schema.Column(column)
	start := m.GetDataPageOffset()
	if m.IsSetDictionaryPageOffset() {
		start = min(start, m.GetDictionaryPageOffset())
	}
	plan, err := pages.NewPlan(data[start:start+m.GetTotalCompressedSize()], pages.Column{Codec: parquetformat.Codec(m.GetCodec()), Values: m.GetNumValues(), MaxDefinition: about.MaxDefinitionLevel()})
	require.NoError(t, err)
	values, err := reader.RowGroup(group).Column(column)
	require.NoError(t, err)
	row := int64(0)
	for _, page := range plan {
		if page.HasValues() {
			x.Locations = append(x.Locations, pages.Location{Offset: start + int64(page.At-page.Length), Length: int64(page.Length + page.Compressed), Row: row})
			x.Bounds = append(x.Bounds, boundsOf(t, values, about, page.Values))
			row += page.Values
		}
	}
	return x
}

// boundsOf returns the bounds of the next values of a column chunk.
func boundsOf(t testing.TB, values file.ColumnChunkReader, column *schema.Column, n int64) pages.Bounds {
	unsigned := column.SortOrder() == schema.SortUNSIGNED
	switch r := values.(type) {
	case *file.BooleanColumnChunkReader:
		return bounds(t, n, r.ReadBatch, func(v bool) []byte { return []byte{map[bool]byte{true: 1}[v]} }, bytes.Compare)
	case *file.Int32ColumnChunkReader:
		return bounds(t, n, r.ReadBatch, func(v int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(v)) }, func(a, b []byte) int {
			x, y := binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(b)
			if unsigned {
				return cmp.Compare(x, y)
			}
			return cmp.Compare(int32(x), int32(y))
		})
	case *file.Int64ColumnChunkReader:
		return bounds(t, n, r.ReadBatch, func(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }, func(a, b []byte) int {
			x, y := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
			if unsigned {
				return cmp.Compare(x, y)
			}
			return cmp.Compare(int64(x), int64(y))
		})
	case *file.Int96ColumnChunkReader:
		return bounds(t, n, r.ReadBatch, func(v parquet.Int96) []byte { return v[:] }, bytes.Compare)
	case *file.Float32ColumnChunkReader:
		return bounds(t, n, r.ReadBatch, func(v float32) []byte {
			if v != v {
				return nil
			}
			return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))
		}, func(a, b []byte) int {
			return cmp.Compare(math.Float32frombits(binary.LittleEndian.Uint32(a)), math.Float32frombits(binary.LittleEndian.Uint32(b)))
		})
	case *file.Float64ColumnChunkReader:
		return bounds(t, n, r.ReadBatch, func(v float64) []byte {
			if v != v {
				return nil
			}
			return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
		}, func(a, b []byte) int {
			return cmp.Compare(math.Float64frombits(binary.LittleEndian.Uint64(a)), math.Float64frombits(binary.LittleEndian.Uint64(b)))
		})
	case *file.ByteArrayColumnChunkReader:
		return bounds(t, n, r.ReadBatch, func(v parquet.ByteArray) []byte { return append([]byte{}, v...) }, bytes.Compare)
	case *file.FixedLenByteArrayColumnChunkReader:
		return bounds(t, n, r.ReadBatch, func(v parquet.FixedLenByteArray) []byte { return append([]byte{}, v...) }, func(a, b []byte) int {
			if unsigned || (a[0]^b[0])&0x80 == 0 {
				return bytes.Compare(a, b)
			}
			return bytes.Compare(b, a) // one of them is negative
		})
	}
	require.Fail(t, "a physical type is not known", "%T", values)
	return pages.Bounds{}
}

// bounds reads n values, nulls included. A value without bytes is NaN.
func bounds[T any](t testing.TB, n int64, read func(int64, []T, []int16, []int16) (int64, int, error), plain func(T) []byte, compare func(a, b []byte) int) (b pages.Bounds) {
	values := make([]T, n)
	total, valid, err := read(n, values, make([]int16, n), nil)
	require.NoError(t, err)
	require.Equal(t, n, total)
	b.Null, b.Nulls = valid == 0, n-int64(valid)
	for _, v := range values[:valid] {
		switch bound := plain(v); {
		case bound == nil:
		case b.Low == nil:
			b.Low, b.High = bound, bound
		default:
			b.Low, b.High = slices.MinFunc([][]byte{b.Low, bound}, compare), slices.MaxFunc([][]byte{b.High, bound}, compare)
		}
	}
	return b
}

// Lists and structs of thrift's compact protocol.
const (
	thriftFlag, thriftInt32, thriftInt64, thriftBytes, thriftList, thriftStruct = 1, 5, 6, 8, 9, 12
	nextField                                                                   = 1 << 4
)

// appendList appends the head of a list, which is the next field.
func appendList(to []byte, kind byte, n int) []byte {
	return binary.AppendUvarint(append(to, nextField|thriftList, 0xf0|kind), uint64(n))
}

func columnIndex(list []pages.Bounds) (data []byte) {
	data = appendList(data, thriftFlag, len(list))
	counted := true
	for _, b := range list {
		counted = counted && b.Nulls >= 0
		data = append(data, map[bool]byte{true: 1, false: 2}[b.Null])
	}
	for _, side := range []func(b pages.Bounds) []byte{func(b pages.Bounds) []byte { return b.Low }, func(b pages.Bounds) []byte { return b.High }} {
		data = appendList(data, thriftBytes, len(list))
		for _, b := range list {
			data = append(binary.AppendUvarint(data, uint64(len(side(b)))), side(b)...)
		}
	}
	data = append(data, nextField|thriftInt32, 0) // unordered
	if counted {
		data = appendList(data, thriftInt64, len(list))
		for _, b := range list {
			data = binary.AppendVarint(data, b.Nulls)
		}
	}
	return append(data, 0)
}

func offsetIndex(list []pages.Location) (data []byte) {
	data = appendList(data, thriftStruct, len(list))
	for _, l := range list {
		data = binary.AppendVarint(append(data, nextField|thriftInt64), l.Offset)
		data = binary.AppendVarint(append(data, nextField|thriftInt32), l.Length)
		data = append(binary.AppendVarint(append(data, nextField|thriftInt64), l.Row), 0)
	}
	return append(data, 0)
}
