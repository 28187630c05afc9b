package order

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// tableSort sorts a table on a GPU. It restores columns that are keys from the sorted
// words, which is faster than to gather them: their rows are in random order.
type tableSort struct {
	*ordering
	table *buffer.Buffer
	sort  radix.Sort
	// sources are, for each column of the table, the source with its values, or −1.
	sources []int
	// companion, if it is not nil, is the only other column. Its values are in the items,
	// instead of row numbers.
	companion *column.Column
}

// newTableSort returns nil if no column can be restored.
func (o *ordering) newTableSort(table *buffer.Buffer) *tableSort {
	if o.call.OnHost() || o.rows == 0 || !o.oneWord() || o.plan.Bits() == 0 {
		return nil
	}
	sort := o.firstSort()
	if sort.Input {
		// A key within a struct is sorted in place, but is no column of the table: its rows
		// are sorted by number.
		return nil
	}
	t := &tableSort{ordering: o, table: table, sort: sort, sources: make([]int, table.NumColumns())}
	restorable := false
	for i := range t.sources {
		t.sources[i] = t.sourceOf(table.Column(i))
		restorable = restorable || t.sources[i] >= 0
	}
	if !restorable {
		return nil
	}
	t.findCompanion()
	return t
}

// findCompanion finds the only column that is not restored, if it has no nulls, values of at
// most four bytes, and the keys have at most 32 bits. The rows of floats are needed.
func (t *tableSort) findCompanion() {
	var only *column.Column
	for i, source := range t.sources {
		switch {
		case source >= 0 && t.plan.Sources[source].Storage == rowkey.Float:
			return
		case source < 0 && only != nil:
			return
		case source < 0:
			only = t.table.Column(i)
		}
	}
	if only == nil || t.plan.Bits() > rowkey.CompanionBits || op.Nullable(only) {
		return
	}
	l, err := layout.Of(only.Type())
	if err == nil && l.Kind == layout.Fixed && (l.Width == 1 || l.Width == 2 || l.Width == 4) {
		t.companion = only
	}
}

// restoresAll reports whether all columns are restored from the words alone.
func (t *tableSort) restoresAll() bool {
	for _, source := range t.sources {
		if source < 0 || t.plan.Sources[source].Storage == rowkey.Float {
			return false
		}
	}
	return true
}

// gathersNothing reports whether the words have the values of all columns.
func (t *tableSort) gathersNothing() bool { return t.companion != nil || t.restoresAll() }

// values returns the values of a column of a fixed width, and the width. The stream is
// ordered behind the work on them.
func (o *ordering) values(c *column.Column) (memory.Slice[uint8], int, error) {
	for block := range c.Blocks {
		if err := o.call.OrderBehind(block); err != nil {
			return memory.Slice[uint8]{}, 0, err
		}
	}
	width, _ := column.ElementBytes(c.Type())
	values, err := c.Buffer(1).Slice(c.Offset()*width, (c.Offset()+c.Len())*width)
	return values, width, err
}

// sourceOf returns the source that has the values of a column, or −1.
func (t *tableSort) sourceOf(c *column.Column) int {
	for i := range t.plan.Sources {
		s := &t.plan.Sources[i]
		if s.Column == c && t.columns[s.Key] == c && t.plan.Unpackable(i) {
			return i
		}
	}
	return -1
}

// sorted returns the table in order.
func (t *tableSort) sorted(options kernels.Options) (*buffer.Buffer, error) {
	s := t.sort
	if s.Numbers == radix.PackedNumbers || t.restoresAll() {
		s.Numbers = radix.NoNumbers
	}
	if t.companion != nil {
		s.Low, s.High = rowkey.CompanionBits, rowkey.CompanionBits+t.plan.Bits()
	}
	s.DropKeys = false
	if s.Width != 64 {
		return nil, errors.New("internal error: keys of 32 bits are sorted without their row numbers")
	}
	numbers := [2]uint64{}
	if s.Numbers == radix.RowNumbers {
		numbers[0] = s.NumberBytes()
		if s.SecondBuffers() {
			numbers[1] = s.NumberBytes()
		}
	}
	second := uint64(0)
	if s.SecondBuffers() {
		second = s.KeyBytes()
	}
	sizes := append(t.plan.DeviceScratch(), s.KeyBytes(), second, numbers[0], numbers[1], s.StateBytes())
	if t.call.Estimating() {
		return nil, t.estimate(sizes)
	}
	block, scratch, err := t.call.Scratch(sizes...)
	if err != nil {
		return nil, err
	}
	ordered, err := t.sortWith(&s, scratch, options)
	return release.OnError(ordered, err, block.Release())
}

func (t *tableSort) sortWith(s *radix.Sort, scratch []memory.Slice[uint8], options kernels.Options) (*buffer.Buffer, error) {
	bitmaps := len(t.plan.Sources)
	encoder, err := rowkey.NewDevice(&t.call, t.plan, scratch[:bitmaps])
	if err != nil {
		return nil, err
	}
	scratch = scratch[bitmaps:]
	buffers := radix.Buffers{Keys: [2]memory.Slice[uint8](scratch[:2]), Numbers: [2]memory.Slice[uint8](scratch[2:4]), State: scratch[4]}
	words, all := buffers.Keys[s.Source()], rowkey.DeviceRows{Rows: t.rows, Counted: t.counted}
	if err := t.encode(encoder, s, all, words); err != nil {
		return nil, err
	}
	if err := s.Run(&t.call, buffers); err != nil {
		return nil, err
	}
	from := rowkey.PackedRows{Words: buffers.Keys[0], DeviceRows: all}
	if s.Numbers == radix.NoNumbers {
		from.RowBits = s.Low // of no row if the words are alone
	} else if from.Rows, err = memory.Reinterpret[uint32](buffers.Numbers[0]); err != nil {
		return nil, err
	}
	columns := make([]*column.Column, len(t.sources))
	err = t.fill(columns, encoder, from, options)
	if err != nil {
		return nil, errors.Join(err, release.All(columns))
	}
	ordered, err := buffer.New(t.table.Schema(), columns, t.table.Rows())
	return release.OnError(ordered, err, release.All(columns))
}

// encode writes words, with companions or row numbers if these are not moved apart.
func (t *tableSort) encode(encoder *rowkey.Device, s *radix.Sort, all rowkey.DeviceRows, words memory.Slice[uint8]) error {
	switch {
	case t.companion != nil:
		companions, width, err := t.values(t.companion)
		if err != nil {
			return err
		}
		return encoder.EncodeWith(all, companions, width, words)
	case s.Numbers == radix.NoNumbers && s.Low > 0:
		return encoder.EncodeItems(all, s.Low, words)
	}
	return encoder.Encode(0, 0, all, words)
}

// lowBits writes the low bits of sorted items, in a width in bytes.
func (t *tableSort) lowBits(out memory.Slice[uint8], from rowkey.PackedRows, width int) error {
	return t.launchTies("order_low_bits", t.rows, out, from.Words, uint32(from.RowBits), uint32(width), t.counted, int64(t.rows))
}

// estimate estimates a sort that needs scratch memory of some sizes until the end.
func (t *tableSort) estimate(scratch []uint64) error {
	var result []uint64
	rest, fields := []*column.Column(nil), []arrow.Field(nil)
	for i, source := range t.sources {
		c := t.table.Column(i)
		if source < 0 && c != t.companion {
			rest, fields = append(rest, c), append(fields, t.table.Schema().Field(i))
			continue
		}
		sorted := t.result(c.Type())
		sorted.Nullable = source >= 0 && t.plan.Sources[source].Nullable
		sizes := sorted.Sizes()
		result = append(result, sizes[:]...)
	}
	if len(rest) == 0 {
		return t.call.Estimate(result, scratch)
	}
	table, err := buffer.New(arrow.NewSchema(fields, nil), rest, t.table.Rows())
	if err != nil {
		return err
	}
	taken, err := t.estimateTake(table)
	if err = errors.Join(err, table.Release()); err != nil {
		return err
	}
	rows := t.result(arrow.PrimitiveTypes.Uint32).Sizes()
	return t.call.Estimate(append(result, taken.Result), append(append(scratch, rows[:]...), taken.Scratch))
}

// fill restores or takes the columns.
func (t *tableSort) fill(columns []*column.Column, encoder *rowkey.Device, from rowkey.PackedRows, options kernels.Options) error {
	var fields []arrow.Field
	var others []*column.Column
	for i, source := range t.sources {
		c := t.table.Column(i)
		if c == t.companion {
			companion, err := t.newColumn(t.result(c.Type()), func(out op.Buffers) error {
				width, _ := column.ElementBytes(c.Type())
				return t.lowBits(out.Values, from, width)
			})
			if err != nil {
				return err
			}
			columns[i] = companion
			continue
		}
		if source < 0 {
			fields, others = append(fields, t.table.Schema().Field(i)), append(others, c)
			continue
		}
		result := t.result(c.Type())
		result.Nullable = t.plan.Sources[source].Nullable
		var err error
		columns[i], err = t.newColumn(result, func(out op.Buffers) error { return encoder.Unpack(source, from, out.Values, out.Valid) })
		if err != nil {
			return err
		}
	}
	if len(others) == 0 {
		return nil
	}
	rest, err := buffer.New(arrow.NewSchema(fields, nil), others, t.table.Rows())
	if err != nil {
		return err
	}
	taken, err := t.takeRest(rest, from, options)
	if err = errors.Join(err, rest.Release()); err != nil {
		return errors.Join(err, taken.Release())
	}
	for i, source := range t.sources {
		if source < 0 {
			columns[i] = taken.Column(len(others) - len(fields))
			fields = fields[1:]
			if err := columns[i].Retain(); err != nil {
				columns[i] = nil
				return errors.Join(err, taken.Release())
			}
		}
	}
	return taken.Release()
}

// takeRest takes the rows of a table in order.
func (t *tableSort) takeRest(table *buffer.Buffer, from rowkey.PackedRows, options kernels.Options) (*buffer.Buffer, error) {
	call := t.call
	call.Tag = scratchTag
	rows, err := call.NewColumn(t.result(arrow.PrimitiveTypes.Uint32), func(out op.Buffers) error {
		if from.RowBits == 0 {
			there, err := out.Values.Slice(0, from.Rows.AsBytes().Len())
			return errors.Join(err, there.CopyFrom(call.Stream, from.Rows.AsBytes()))
		}
		return t.lowBits(out.Values, from, 4)
	})
	if err != nil {
		return nil, err
	}
	return take(call.Context(), table, rows, options, true)
}
