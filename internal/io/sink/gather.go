package sink

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/release"
)

// gatherRecord returns rows of a record as a copy: a slice would keep the whole record in memory.
func gatherRecord(record arrow.Record, rows []int) (arrow.Record, error) {
	columns := make([]arrow.Array, record.NumCols())
	for i, column := range record.Columns() {
		var values arrow.Array
		err := guarded(func() (err error) {
			values, err = gather(column, rows)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", record.ColumnName(i), err)
		}
		defer values.Release()
		columns[i] = values
	}
	return array.NewRecord(record.Schema(), columns, int64(len(rows))), nil
}

// gather returns rows of an array.
func gather(values arrow.Array, rows []int) (arrow.Array, error) {
	if extension, ok := values.(array.ExtensionArray); ok && extension.Storage().DataType().ID() != arrow.DICTIONARY {
		storage, err := gather(extension.Storage(), rows)
		if err != nil {
			return nil, err
		}
		defer storage.Release()
		return array.NewExtensionArrayWithStorage(extension.DataType().(arrow.ExtensionType), storage), nil
	}
	if firstRefused(values.DataType(), isJoined) != nil {
		return nil, fmt.Errorf("rows of %v cannot be divided among files: cast the column: %w", values.DataType(), ErrUnsupported)
	}
	layout, data := values.DataType().Layout().Buffers, values.Data()
	var buffers []*arrowmemory.Buffer
	switch {
	case len(data.Children()) > 0, len(layout) < 2, isView(values.DataType()):
		return gatherRuns(values, rows)
	case len(layout) == 2 && layout[1].Kind == arrow.KindFixedWidth:
		buffers = []*arrowmemory.Buffer{nil, words(data, layout[1].ByteWidth, rows)}
	case len(layout) == 2 && layout[1].Kind == arrow.KindBitmap:
		buffers = []*arrowmemory.Buffer{nil, bits(data.Buffers()[1], data.Offset(), rows)}
	case len(layout) == 3 && layout[1].Kind == arrow.KindFixedWidth && layout[2].Kind == arrow.KindVarWidth:
		offsets, bytes := texts(data, layout[1].ByteWidth, rows)
		buffers = []*arrowmemory.Buffer{nil, offsets, bytes}
	default:
		return gatherRuns(values, rows)
	}
	nulls := 0
	if values.NullN() > 0 {
		nulls, buffers[0] = array.UnknownNullCount, bits(data.Buffers()[0], data.Offset(), rows)
	}
	dictionary, _ := data.Dictionary().(*array.Data)
	gathered := array.NewDataWithDictionary(values.DataType(), len(rows), buffers, nulls, 0, dictionary)
	defer gathered.Release()
	return array.MakeFromData(gathered), nil
}

// isJoined reports whether arrow-go joins slices of a type rightly: not run ends, and not extensions of dictionaries.
func isJoined(t arrow.DataType) bool {
	extension, ok := t.(arrow.ExtensionType)
	return t.ID() != arrow.RUN_END_ENCODED && (!ok || extension.StorageType().ID() != arrow.DICTIONARY)
}

func isView(t arrow.DataType) bool {
	return t.ID() == arrow.STRING_VIEW || t.ID() == arrow.BINARY_VIEW
}

// bits gathers bits.
func bits(from *arrowmemory.Buffer, offset int, rows []int) *arrowmemory.Buffer {
	source, to := from.Bytes(), make([]byte, bitutil.BytesForBits(int64(len(rows))))
	for i, row := range rows {
		if bitutil.BitIsSet(source, offset+row) {
			bitutil.SetBit(to, i)
		}
	}
	return arrowmemory.NewBufferBytes(to)
}

// words gathers values of a width.
func words(data arrow.ArrayData, width int, rows []int) *arrowmemory.Buffer {
	to := make([]byte, len(rows)*width)
	if len(rows) == 0 || width == 0 {
		return arrowmemory.NewBufferBytes(to)
	}
	source := data.Buffers()[1].Bytes()[data.Offset()*width:]
	switch width {
	case 4:
		for i, row := range rows {
			binary.NativeEndian.PutUint32(to[i*4:], binary.NativeEndian.Uint32(source[row*4:]))
		}
	case 8:
		for i, row := range rows {
			binary.NativeEndian.PutUint64(to[i*8:], binary.NativeEndian.Uint64(source[row*8:]))
		}
	default:
		for i, row := range rows {
			copy(to[i*width:(i+1)*width], source[row*width:])
		}
	}
	return arrowmemory.NewBufferBytes(to)
}

// texts gathers values of different lengths, with offsets of 4 or 8 bytes.
func texts(data arrow.ArrayData, width int, rows []int) (offsets, values *arrowmemory.Buffer) {
	if len(rows) == 0 {
		return arrowmemory.NewBufferBytes(make([]byte, width)), arrowmemory.NewBufferBytes(nil)
	}
	source := data.Buffers()[1].Bytes()[data.Offset()*width:]
	at := func(row int) int {
		if width == 4 {
			return int(int32(binary.NativeEndian.Uint32(source[row*4:])))
		}
		return int(binary.NativeEndian.Uint64(source[row*8:]))
	}
	length := 0
	for _, row := range rows {
		length += at(row+1) - at(row)
	}
	ends, to := make([]byte, (len(rows)+1)*width), make([]byte, 0, length)
	for i, row := range rows {
		if begin, end := at(row), at(row+1); end > begin {
			to = append(to, data.Buffers()[2].Bytes()[begin:end]...)
		}
		if width == 4 {
			binary.NativeEndian.PutUint32(ends[(i+1)*4:], uint32(len(to)))
		} else {
			binary.NativeEndian.PutUint64(ends[(i+1)*8:], uint64(len(to)))
		}
	}
	return arrowmemory.NewBufferBytes(ends), arrowmemory.NewBufferBytes(to)
}

// gatherRuns gathers values of any type by runs of rows that follow each other.
func gatherRuns(values arrow.Array, rows []int) (arrow.Array, error) {
	var parts []arrow.Array
	defer func() { release.Arrow(parts) }()
	for i := 0; i < len(rows); {
		end := i + 1
		for end < len(rows) && rows[end] == rows[end-1]+1 {
			end++
		}
		parts = append(parts, array.NewSlice(values, int64(rows[i]), int64(rows[end-1]+1)))
		i = end
	}
	if len(parts) == 0 {
		return array.NewSlice(values, 0, 0), nil
	}
	gathered, err := array.Concatenate(parts, arrowmemory.DefaultAllocator)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrUnsupported)
	}
	return gathered, nil
}

// recordMemory returns the memory of the values of a record, without dictionaries.
func recordMemory(record arrow.Record) (bytes int64) {
	for _, column := range record.Columns() {
		bytes += dataMemory(column.Data())
	}
	return bytes
}

// dataMemory estimates the memory of a part of an array by its share of the buffers.
func dataMemory(data arrow.ArrayData) (bytes int64) {
	whole := int64(data.Len() + data.Offset())
	for i, each := range data.Buffers() {
		if each == nil {
			continue
		}
		if i == 1 && data.Len() > 0 {
			if spec := data.DataType().Layout().Buffers[1]; spec.Kind == arrow.KindFixedWidth {
				bytes += int64(spec.ByteWidth) * int64(data.Len())
				whole = max(whole, int64(each.Len())/int64(max(spec.ByteWidth, 1)))
				continue
			}
		}
		bytes += int64(each.Len()) * int64(data.Len()) / max(whole, 1)
	}
	for _, child := range data.Children() {
		bytes += dataMemory(child)
	}
	return bytes
}
