package nested

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// numbers makes a column of numbers of elements. fill writes the memory.
func numbers(call *op.Call, t arrow.DataType, tag string, n int, nullable bool, fill func(out op.Buffers) error) (*column.Column, error) {
	tagged := *call
	tagged.Tag = tag
	return tagged.NewColumn(op.Result{Type: t, Length: n, Nullable: nullable}, func(out op.Buffers) error {
		if n == 0 {
			return nil
		}
		return fill(out)
	})
}

// parents returns the row of the list of each element, as uint32.
func (s *spans) parents(call *op.Call) (*column.Column, error) {
	return numbers(call, arrow.PrimitiveTypes.Uint32, op.ScratchTag, s.total, false, func(out op.Buffers) error {
		if call.OnHost() {
			to, err := out.Host()
			rows := op.Elements[uint32](to.Values)
			return errors.Join(err, s.each(func(at, row, _ int, _ uint32) { rows[at] = uint32(row) }))
		}
		return s.expand(call, out.Values, column.Bytes{}, column.Bytes{}, column.Bytes{})
	})
}

// places returns the place of each element, as uint32, or none.
func (s *spans) places(call *op.Call) (*column.Column, error) {
	return numbers(call, arrow.PrimitiveTypes.Uint32, op.ScratchTag, s.total, false, func(out op.Buffers) error {
		if call.OnHost() {
			to, err := out.Host()
			places := op.Elements[uint32](to.Values)
			return errors.Join(err, s.each(func(at, _, position int, begin uint32) {
				if places[at] = none; begin != none {
					places[at] = begin + uint32(position)
				}
			}))
		}
		return s.expand(call, column.Bytes{}, out.Values, column.Bytes{}, column.Bytes{})
	})
}

// positions returns the position of each element in its list, from 0, as int64. It is null
// for an element that does not exist.
func (s *spans) positions(call *op.Call, nullable bool) (*column.Column, error) {
	return numbers(call, arrow.PrimitiveTypes.Int64, call.Tag, s.total, nullable, func(out op.Buffers) error {
		if call.OnHost() {
			to, err := out.Host()
			positions := op.Elements[int64](to.Values)
			return errors.Join(err, s.each(func(at, _, position int, begin uint32) {
				if positions[at] = 0; begin != none {
					positions[at] = int64(position)
					to.SetValid(at)
				}
			}))
		}
		return s.expand(call, column.Bytes{}, column.Bytes{}, out.Values, out.Valid)
	})
}

// each calls visit for each element: its number, its row, its position in the list, and the
// place of the list's first element.
func (s *spans) each(visit func(at, row, position int, begin uint32)) error {
	begins, beginsErr := s.begins.Host()
	counts, countsErr := s.counts.Host()
	if err := errors.Join(beginsErr, countsErr); err != nil {
		return err
	}
	at := 0
	for row, n := range counts {
		for position := range int(n) {
			visit(at, row, position, begins[row])
			at++
		}
	}
	return nil
}

// repeat returns the value of the row of each element, for words without nulls on a GPU, or
// nil.
func (s *spans) repeat(call *op.Call, c *column.Column) (*column.Column, error) {
	bytes, ok := column.ElementBytes(c.Type())
	if !ok || bytes > 16 || bits.OnesCount(uint(bytes)) != 1 || op.Nullable(c) || call.OnHost() || s.total == 0 {
		return nil, nil
	}
	in, err := call.View(c)
	if err != nil {
		return nil, err
	}
	ends, err := column.Elements[int64](s.ends)
	if err != nil {
		return nil, err
	}
	return call.NewColumn(op.Result{Type: c.Type(), Length: s.total}, func(out op.Buffers) error {
		return launchTiles(call, "lists", fmt.Sprintf("repeat_%d", 8*bytes), s.total, tileElements, out.Values, in.Values, ends, uint64(s.rows), uint64(s.total))
	})
}

func (s *spans) expand(call *op.Call, parents, places, positions, exist column.Bytes) error {
	ends, err := column.Elements[int64](s.ends)
	if err != nil {
		return err
	}
	return launchTiles(call, "lists", "expand_lists", s.total, tileElements, parents, places, positions, exist, ends, s.begins, uint64(s.rows), uint64(s.total))
}

// gather returns the elements, in the order of the lists. Elements that do not exist are
// null. If every list is whole and they follow each other, the elements are not copied.
func (s *spans) gather(call *op.Call, l *lists, f form) (*column.Column, error) {
	if (f == every || f == everyOrNone) && l.valid.Len() == 0 && l.width > 0 && l.sizes.Len() == 0 && s.rows > 0 {
		consecutive, err := s.consecutive(call, l)
		if consecutive != nil || err != nil {
			return consecutive, err
		}
	}
	places, err := s.places(call)
	if err != nil {
		return nil, err
	}
	bounds := selection.Trust
	if f == everyOrNone {
		bounds = selection.Null
	}
	gathered, err := selection.TakeColumnWith(call.Context(), l.elements, places, selection.TakeOptions{Options: resultOptions(call), Bounds: bounds})
	return release.OnError(gathered, err, places.Release())
}

// consecutive returns a part of the elements, if they are the elements of all lists in their
// order: if the lists are as long together as the first and the last offset are apart, and
// none of them has an element that does not exist. It returns nil if they are not.
func (s *spans) consecutive(call *op.Call, l *lists) (*column.Column, error) {
	rows := l.rows
	if l.counted.Len() > 0 {
		return nil, nil
	}
	var ends [2]int64
	for i, at := range []int{0, rows} {
		offset, err := l.offsets.Slice(at*l.width, (at+1)*l.width)
		if err != nil {
			return nil, err
		}
		bytes := make([]byte, l.width)
		if err := offset.Download(call.Context(), call.Stream, bytes); err != nil {
			return nil, err
		}
		ends[i] = word(bytes, l.width, 0)
	}
	if ends[0] < 0 || ends[1]-ends[0] != int64(s.total) || ends[1] > int64(l.elements.Len()) {
		return nil, nil
	}
	return l.elements.Slice(int(ends[0]), s.total)
}

// list makes a column of lists that end at ends, of elements, with the nulls and the rows of
// the lists that they are made of. It is null for a list with the place none.
func (s *spans) list(call *op.Call, l *lists, t arrow.DataType, elements *column.Column) (*column.Column, error) {
	format, err := layout.Of(t)
	if err != nil {
		return nil, err
	}
	if most := strategy.MaximumOffset(call.Context(), format.Width); int64(s.total) > most {
		return nil, fmt.Errorf("%d elements, the offsets of %v reach to %d: use large lists: %w", s.total, t, most, memory.ErrOverflow)
	}
	bitmap := uint64(0)
	if l.nullable() {
		bitmap = op.BitmapBytes(s.rows)
	}
	block, buffers, err := call.Allocate(bitmap, uint64(s.rows+1)*uint64(format.Width))
	if err != nil {
		return nil, err
	}
	if call.OnHost() {
		err = s.offsetsOnHost(buffers[1], buffers[0], format.Width)
	} else {
		var ends memory.Slice[int64]
		if s.ends != nil {
			ends, err = column.Elements[int64](s.ends)
		}
		err = errors.Join(err, launch(call, "list_offsets", s.rows+1, buffers[1], buffers[0], ends, s.begins, uint64(s.rows), uint32(format.Width)))
	}
	var listed *column.Column
	if err == nil {
		data := column.Data{Type: t, Length: s.rows, Rows: l.column.RowCount(), Manager: call.Manager, Buffers: buffers, Children: []*column.Column{elements}}
		if bitmap > 0 {
			data.NullCount = column.UnknownNullCount
		}
		listed, err = column.New(data)
	}
	return release.OnError(listed, err, block.Release())
}

func (s *spans) offsetsOnHost(offsets, valid column.Bytes, width int) error {
	to, toErr := offsets.Host()
	bits, bitsErr := valid.Host()
	begins, beginsErr := s.begins.Host()
	counts, countsErr := s.counts.Host()
	if err := errors.Join(toErr, bitsErr, beginsErr, countsErr); err != nil {
		return err
	}
	clear(bits)
	narrow, wide := op.Elements[int32](to), op.Elements[int64](to)
	end := int64(0)
	for i := range s.rows + 1 {
		if width == 4 {
			narrow[i] = int32(end)
		} else {
			wide[i] = end
		}
		if i == s.rows {
			break
		}
		end += counts[i]
		if len(bits) > 0 && begins[i] != none {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return nil
}
