package text

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// plain returns the type of strings: that of the values of a dictionary.
func plain(t arrow.DataType) (arrow.DataType, error) {
	storage := layout.Storage(t)
	if d, ok := storage.(*arrow.DictionaryType); ok {
		storage = layout.Storage(d.ValueType)
	}
	switch storage.ID() {
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return storage, nil
	}
	return nil, fmt.Errorf("%v is no string: %w", t, expr.ErrType)
}

// texts is a column of strings as kernels take it.
type texts struct {
	nulls
	offsets, data column.Bytes
	// width is the size of an offset.
	width int
}

// nulls is which rows of a column have a value.
type nulls struct {
	column *column.Column
	// valid is the bitmap, empty if no row is null. bit is the first row's.
	valid column.Bytes
	bit   int
	// rows is the number of rows or, if counted has memory, their maximum.
	rows    int
	counted memory.Slice[int64]
}

func nullsOf(call *op.Call, c *column.Column) (n nulls, err error) {
	n.column = c
	if n.rows, n.counted, err = c.Extent(call.Context()); err != nil {
		return n, err
	}
	if op.Nullable(c) {
		n.valid, n.bit, err = c.Validity()
	}
	return n, err
}

func textsOf(call *op.Call, c *column.Column) (s texts, err error) {
	format, err := layout.Of(c.Type())
	if err != nil {
		return s, err
	}
	if s.nulls, err = nullsOf(call, c); err != nil || c.Len() == 0 {
		return s, err
	}
	s.width, s.data = format.Width, c.Buffer(2)
	s.offsets, err = c.Buffer(1).Slice(c.Offset()*s.width, (c.Offset()+c.Len()+1)*s.width)
	return s, err
}

// nullable reports whether a row may be null.
func (n *nulls) nullable() bool { return n.valid.Len() > 0 || n.column.RowCount() != nil }

// argument is Strings of strings.cuh.
func (s *texts) argument() any {
	l := stringsLayout{
		offsets: s.offsets, data: s.data, valid: s.valid, bit: uint64(s.bit), counted: s.counted, rows: int64(s.rows),
		capacity: uint64(s.column.Len()), extent: uint64(s.data.Len()), width: uint32(s.width),
	}
	return l.asArgument()
}

// each calls visit on the host for the rows of each part of the column, concurrently.
func (n *nulls) each(call *op.Call, visit func(part int, row int)) error {
	valid, validErr := n.valid.Host()
	counted, countErr := n.counted.Host()
	if err := errors.Join(validErr, countErr); err != nil {
		return err
	}
	rows := n.rows
	if len(counted) > 0 {
		rows = int(min(max(counted[0], 0), int64(rows)))
	}
	return parallel.Run(call.Context(), rows, n.parts(), func(part, begin, end int) {
		for row := begin; row < end; row++ {
			if at := n.bit + row; len(valid) == 0 || valid[at/8]>>(at%8)&1 != 0 {
				visit(part, row)
			}
		}
	})
}

// parts returns the number of parts that each visits.
func (n *nulls) parts() int { return parallel.Parts(n.rows) }

// reader returns a function that returns the bytes of a row on the host. A row that reaches
// beyond the data is empty.
func (s *texts) reader() (func(row int) []byte, error) {
	offsets, offsetsErr := s.offsets.Host()
	data, dataErr := s.data.Host()
	return func(row int) []byte {
		begin, end := s.offset(offsets, row), s.offset(offsets, row+1)
		if begin < 0 || begin > end || end > int64(len(data)) {
			return nil
		}
		return data[begin:end]
	}, errors.Join(offsetsErr, dataErr)
}

func (s *texts) offset(offsets []byte, row int) int64 {
	if s.width == 4 {
		return int64(int32(binary.NativeEndian.Uint32(offsets[4*row:])))
	}
	return int64(binary.NativeEndian.Uint64(offsets[8*row:]))
}
