package text

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// maker makes a column of strings, with the rows and the nulls of another column.
type maker struct {
	nulls
	result arrow.DataType
	width  int
	// nulled is true if a result may be null although the operand is not.
	nulled bool
}

func newMaker(n nulls, result arrow.DataType) (*maker, error) {
	l, err := layout.Of(result)
	return &maker{nulls: n, result: result, width: l.Width}, err
}

// onDevice makes the strings with two kernels: measure writes their lengths, and write the
// bytes, with the places behind the strings. It waits for the number of bytes.
func (m *maker) onDevice(call *op.Call, measure func(lengths memory.Slice[uint8]) error, write func(to memory.Slice[uint8], ends memory.Slice[int64]) error) (*column.Column, error) {
	rows := m.column.Len()
	block, lengths, err := call.Scratch(8 * uint64(rows))
	if err != nil {
		return nil, err
	}
	if rows > 0 {
		err = measure(lengths[0])
	}
	var written *column.Column
	if err == nil {
		written, err = m.measured(call, lengths[0], write)
	}
	return release.OnError(written, err, block.Release())
}

// measured makes strings of some lengths.
func (m *maker) measured(call *op.Call, lengths memory.Slice[uint8], write func(to memory.Slice[uint8], ends memory.Slice[int64]) error) (written *column.Column, err error) {
	rows := m.column.Len()
	counts, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Length: rows, Manager: call.Manager, Buffers: []column.Bytes{{}, lengths}})
	if err != nil {
		return nil, err
	}
	options := kernels.Options{Stream: call.Stream, Manager: call.Manager, Tag: op.ScratchTag}
	sums, err := window.CumulativeSum(call.Context(), counts, window.Options{Options: options})
	if err = errors.Join(err, counts.Release()); err != nil {
		return nil, errors.Join(err, sums.Release())
	}
	defer func() { written, err = release.OnError(written, err, sums.Release()) }()
	ends, err := column.Elements[int64](sums)
	if err != nil {
		return nil, err
	}
	var total [1]int64
	if rows > 0 {
		if err := ends.DownloadRange(call.Context(), call.Stream, rows-1, total[:]); err != nil {
			return nil, err
		}
	}
	return m.allocate(call, total[0], func(bitmap, offsets, data column.Bytes) error {
		kernel, err := call.Kernel(&set, "strings", "string_offsets")
		if err != nil {
			return err
		}
		err = kernel.Launch(call.Stream, kernels.GridFor(rows/64*64+64, threads), block256, 0,
			offsets, uint32(m.width), bitmap, ends, m.valid, uint64(m.bit), m.counted, int64(m.rows), uint64(rows))
		if err != nil || total[0] == 0 {
			return err
		}
		return write(data, ends)
	})
}

// allocate allocates strings of a number of bytes and has write fill them in.
func (m *maker) allocate(call *op.Call, bytes int64, write func(bitmap, offsets, data column.Bytes) error) (*column.Column, error) {
	if most := strategy.MaximumOffset(call.Context(), m.width); bytes < 0 || bytes > most {
		return nil, fmt.Errorf("strings of %d bytes, the offsets of %v reach to %d: use a column with large offsets: %w", bytes, m.result, most, memory.ErrOverflow)
	}
	bitmap := uint64(0)
	if m.nulled || m.nullable() {
		bitmap = op.BitmapBytes(m.column.Len())
	}
	block, buffers, err := call.Allocate(bitmap, uint64(m.column.Len()+1)*uint64(m.width), uint64(bytes))
	if err != nil {
		return nil, err
	}
	err = write(buffers[0], buffers[1], buffers[2])
	var written *column.Column
	if err == nil {
		data := column.Data{Type: m.result, Length: m.column.Len(), Rows: m.column.RowCount(), Manager: call.Manager, Buffers: buffers}
		if bitmap > 0 {
			data.NullCount = column.UnknownNullCount
		}
		written, err = column.New(data)
	}
	return release.OnError(written, err, block.Release())
}

// onHost makes the strings with a function that appends the one of a row, or returns false
// for a null. part is the number of a part of the rows, which one goroutine makes.
func (m *maker) onHost(call *op.Call, appended func(to []byte, part, row int) ([]byte, bool)) (*column.Column, error) {
	texts := make([][]byte, m.parts())
	lengths := make([]int, m.column.Len())
	exists := make([]bool, m.column.Len())
	err := m.each(call, func(part, row int) {
		before := len(texts[part])
		texts[part], exists[row] = appended(texts[part], part, row)
		lengths[row] = len(texts[part]) - before
	})
	if err != nil {
		return nil, err
	}
	total := 0
	for _, text := range texts {
		total += len(text)
	}
	return m.allocate(call, int64(total), func(bitmap, offsets, data column.Bytes) error {
		bits, bitsErr := bitmap.Host()
		to, toErr := offsets.Host()
		bytes, bytesErr := data.Host()
		if err := errors.Join(bitsErr, toErr, bytesErr); err != nil {
			return err
		}
		for _, text := range texts {
			bytes = bytes[copy(bytes, text):]
		}
		clear(bits)
		narrow, wide, end := op.Elements[int32](to), op.Elements[int64](to), 0
		for row := range m.column.Len() + 1 {
			if m.width == 4 {
				narrow[row] = int32(end)
			} else {
				wide[row] = int64(end)
			}
			if row == m.column.Len() {
				break
			}
			end += lengths[row]
			if len(bits) > 0 && exists[row] {
				bits[row/8] |= 1 << (row % 8)
			}
		}
		return nil
	})
}

// empty makes a column without rows.
func empty(call *op.Call, like *column.Column, result arrow.DataType) (*column.Column, error) {
	l, err := layout.Of(result)
	if err != nil {
		return nil, err
	}
	return column.New(column.Data{Type: result, Rows: like.RowCount(), Manager: call.Manager, Buffers: make([]column.Bytes, l.Buffers())})
}
