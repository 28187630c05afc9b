package order

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// inPlace returns the sort of a single key of numbers of four or eight bytes without nulls.
// The passes read, encode, decode and write its values. ok is false for other keys.
func (o *ordering) inPlace() (s radix.Sort, ok bool) {
	encoding, ok := o.plan.KeyEncoding()
	if !ok || o.rows == 0 || o.call.OnHost() {
		return s, false
	}
	bits := o.plan.Bits()
	return radix.Sort{Width: bits, High: bits, Rows: o.rows, Counted: o.counted, Input: true, Encoding: radix.Encoding(encoding)}, true
}

// inPlaceSort sorts a table by a key of inPlace. If one other column is left, of four or eight
// bytes and without nulls, its values travel with the key: the passes move at most four bytes
// more than with row numbers, and nothing is gathered. Otherwise row numbers travel.
type inPlaceSort struct {
	*ordering
	table   *buffer.Buffer
	sort    radix.Sort
	carried *column.Column
	// rest are the columns that are gathered.
	rest   []*column.Column
	fields []arrow.Field
}

// newInPlaceSort returns nil if the key is another one, or if the table does not have it.
func (o *ordering) newInPlaceSort(table *buffer.Buffer) *inPlaceSort {
	sort, ok := o.inPlace()
	if !ok {
		return nil
	}
	s := &inPlaceSort{ordering: o, table: table, sort: sort}
	for i := range table.NumColumns() {
		if c := table.Column(i); c != o.columns[0] {
			s.rest, s.fields = append(s.rest, c), append(s.fields, table.Schema().Field(i))
		}
	}
	switch {
	case len(s.rest) == table.NumColumns() || o.plan.Sources[0].Column != o.columns[0]:
		return nil
	case len(s.rest) == 1 && carriable(s.rest[0]):
		s.carried, s.rest = s.rest[0], nil
		width, _ := column.ElementBytes(s.carried.Type())
		s.sort.Numbers, s.sort.WideNumbers = radix.GivenNumbers, width == 8
	case len(s.rest) > 0:
		s.sort.Numbers = radix.RowNumbers
	}
	return s
}

// carriable reports whether the values of a column can travel with a key.
func carriable(c *column.Column) bool {
	l, err := layout.Of(c.Type())
	return err == nil && l.Kind == layout.Fixed && (l.Width == 4 || l.Width == 8) && !op.Nullable(c)
}

// sorted returns the table in order.
func (s *inPlaceSort) sorted(options kernels.Options) (*buffer.Buffer, error) {
	if s.call.Estimating() {
		return nil, s.estimate()
	}
	key, with, err := s.move()
	if err != nil {
		return nil, err
	}
	if len(s.rest) == 0 {
		assembled, err := s.assemble(key, with, nil)
		return release.OnError(assembled, err, key.Release(), with.Release())
	}
	rest, err := buffer.New(arrow.NewSchema(s.fields, nil), s.rest, s.table.Rows())
	if err != nil {
		return nil, errors.Join(err, key.Release(), with.Release())
	}
	taken, err := take(s.call.Context(), rest, with, options, true) // releases the row numbers
	taken, err = release.OnError(taken, err, rest.Release())
	if err != nil {
		return nil, errors.Join(err, key.Release())
	}
	assembled, err := s.assemble(key, nil, taken)
	return release.OnError(assembled, err, key.Release(), taken.Release())
}

// move sorts the key. with is the carried column in order, row numbers, or nil.
func (s *inPlaceSort) move() (key, with *column.Column, err error) {
	key, err = s.newColumn(s.result(s.columns[0].Type()), func(keys op.Buffers) (err error) {
		if s.sort.Numbers == radix.NoNumbers {
			return s.run(keys.Values, memory.Slice[uint8]{})
		}
		call, t := s.call, arrow.DataType(arrow.PrimitiveTypes.Uint32)
		if s.carried != nil {
			t = s.carried.Type()
		} else {
			call.Tag = scratchTag
		}
		with, err = call.NewColumn(s.result(t), func(numbers op.Buffers) error { return s.run(keys.Values, numbers.Values) })
		return err
	})
	if err != nil {
		return nil, nil, errors.Join(err, with.Release())
	}
	return key, with, nil
}

// run writes the sorted keys, and the numbers that travel with them.
func (s *inPlaceSort) run(keys, numbers memory.Slice[uint8]) error {
	input, _, err := s.values(s.columns[0])
	if err != nil {
		return err
	}
	buffers := radix.Buffers{Input: input, Sorted: keys}
	if s.carried != nil {
		if buffers.InputNumbers, _, err = s.values(s.carried); err != nil {
			return err
		}
	}
	sizes := s.sort.InputScratch()
	block, scratch, err := s.call.Scratch(sizes[:]...)
	if err != nil {
		return err
	}
	buffers.Keys = [2]memory.Slice[uint8](scratch[:2])
	if !s.sort.Paired() {
		buffers.Keys[0] = keys
	}
	buffers.Numbers = [2]memory.Slice[uint8]{numbers, scratch[2]}
	buffers.State = scratch[3]
	return errors.Join(s.sort.Run(&s.call, buffers), block.Release())
}

// assemble returns the table of the sorted columns, which it borrows.
func (s *inPlaceSort) assemble(key, with *column.Column, taken *buffer.Buffer) (*buffer.Buffer, error) {
	columns, next := make([]*column.Column, s.table.NumColumns()), 0
	for i := range columns {
		switch c := s.table.Column(i); {
		case c == s.columns[0]:
			columns[i] = key
		case taken == nil:
			columns[i] = with
		default:
			columns[i] = taken.Column(next)
			next++
		}
	}
	return buffer.New(s.table.Schema(), columns, s.table.Rows())
}

// estimate estimates the sort: its memory is free before the columns are gathered.
func (s *inPlaceSort) estimate() error {
	key := s.result(s.columns[0].Type()).Sizes()
	result, own := key[:], s.sort.InputScratch()
	if s.carried != nil {
		sizes := s.result(s.carried.Type()).Sizes()
		result = append(result, sizes[:]...)
	}
	if len(s.rest) == 0 {
		return s.call.Estimate(result, own[:])
	}
	rest, err := buffer.New(arrow.NewSchema(s.fields, nil), s.rest, s.table.Rows())
	if err != nil {
		return err
	}
	taken, err := s.estimateTake(rest)
	if err = errors.Join(err, rest.Release()); err != nil {
		return err
	}
	sort, err := op.Bytes(own[:]...)
	if err != nil {
		return err
	}
	scratch := taken.Scratch
	if sort > taken.Peak() {
		scratch = sort - taken.Result
	}
	numbers := s.result(arrow.PrimitiveTypes.Uint32).Sizes()
	return s.call.Estimate(append(result, taken.Result), append(numbers[:], scratch))
}
