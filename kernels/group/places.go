package group

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// numbered are rows with the numbers of their groups, in the order of the first rows.
type numbered interface {
	// Numbers returns the number of each row's group.
	Numbers() memory.Slice[uint32]
	// List returns the first rows of the groups. The caller releases it.
	List() (*column.Column, error)
	Release() error
}

// listedGroups are groups of integers that a table of places, or one block, numbers.
type listedGroups struct {
	numbers memory.Slice[uint32]
	list    *column.Column
	owned   release.Stack
}

func (p *listedGroups) Numbers() memory.Slice[uint32] { return p.numbers }

func (p *listedGroups) List() (*column.Column, error) { return p.list, p.list.Retain() }

// Release releases what the groups hold.
func (p *listedGroups) Release() error { return p.owned.Release() }

// span is a range of integers: of least and the following ones. A last place is for null if
// the column has nulls.
type span struct {
	least  uint64
	places uint64
}

// short reports whether a table may have a place for each of the integers.
func (s span) short() bool { return s.places > 0 && s.places <= mostPlaces }

// measures reports whether ranges are measured, and tables of places used: only for many rows on a GPU, because
// the host waits for the range of the values.
func (f *numberer) measures(rows int) bool {
	return f.waits && !f.call.OnHost() && rows >= tuningOf(f.call.Context()).MeasuredRows
}

// keyColumns returns the columns of the keys, borrowed: nil for a key that is no column of the table.
func (q Query) keyColumns() []*column.Column {
	columns := make([]*column.Column, len(q.keys))
	for i, key := range q.keys {
		if key.Values != nil {
			continue
		}
		if name, plain := plainColumn(key.expression()); plain {
			columns[i], _ = q.table.ColumnByName(name)
		}
	}
	return columns
}

// spansBeforeFilter returns the ranges of the keys of filtered rows in the table before the filter, if they are few
// places. A table in memory remembers them, so that only the first query of it waits for ranges. Whether they are taken
// depends on the table alone, and not on the queries before. It returns nil to look at the filtered rows.
func (r *groupFinder) spansBeforeFilter(f *facts) (spans []span, err error) {
	var before, after []*column.Column
	for i, c := range r.unfiltered {
		if f.keys[i].constant {
			continue
		}
		if c == nil || c.RowCount() != nil || c.Len() > mostRowsBefore || c.MayChange() {
			return nil, nil
		}
		before, after = append(before, c), append(after, r.rows.Column(i))
	}
	if len(before) == 0 || f.Find != "" {
		return nil, nil
	}
	finder := numberer{call: &r.call, waits: r.options.MaxGroups == 0}
	if spans, err = finder.spansOf(before); err != nil || spans == nil {
		return nil, err
	}
	places := uint64(1)
	for i := range spans {
		if spans[i].places > 0 && op.Nullable(before[i]) && !op.Nullable(after[i]) {
			spans[i].places--
		}
		if spans[i].places == 0 || spans[i].places > mostPlacesBefore/places {
			return nil, nil
		}
		places *= spans[i].places
	}
	return spans, nil
}

// spanOf returns the range of a column of integers, or false for other columns and for a
// range of too many places. It waits.
func (f *numberer) spanOf(c *column.Column) (s span, ok bool, err error) {
	if s, known := f.spans[c]; known {
		return s, s.short(), nil
	}
	spans, err := f.spansOf([]*column.Column{c})
	if spans == nil || err != nil {
		return s, false, err
	}
	return spans[0], spans[0].short(), nil
}

// spansOf returns the ranges of columns of integers, without places if they have too many, or
// nil if one has another type. It waits once for unknown bounds.
func (f *numberer) spansOf(columns []*column.Column) (spans []span, err error) {
	for _, c := range columns {
		integer, err := integerType(c.Type())
		if err != nil || integer == nil || !f.measures(c.Len()) {
			return nil, err
		}
	}
	bounds, hasValues, err := f.boundsOf(columns)
	if err != nil {
		return nil, err
	}
	for i, c := range columns {
		spans = append(spans, spanBetween(bounds[i], hasValues[i], op.Nullable(c)))
	}
	return spans, nil
}

// boundsOf returns the bounds of columns of integers, which columns without values do not have. One pass
// over the columns with unknown bounds finds them, and it waits once.
func (f *numberer) boundsOf(columns []*column.Column) (bounds []column.Bounds, hasValues []bool, err error) {
	bounds, hasValues = make([]column.Bounds, len(columns)), make([]bool, len(columns))
	var unknown []int
	for i, c := range columns {
		if bounds[i], hasValues[i] = c.Bounds(); !hasValues[i] {
			unknown = append(unknown, i)
		}
	}
	return bounds, hasValues, f.findBounds(columns, unknown, bounds, hasValues)
}

// findBounds finds the bounds of some of the columns. Those without values have none.
func (f *numberer) findBounds(columns []*column.Column, unknown []int, bounds []column.Bounds, hasValues []bool) (err error) {
	if len(unknown) == 0 {
		return nil
	}
	if len(unknown) == 1 && f.distinct != nil {
		return f.sketchBounds(columns[unknown[0]], &bounds[unknown[0]], &hasValues[unknown[0]])
	}
	names, plain, aggregates := make([]string, len(unknown)), make([]*column.Column, len(unknown)), []reduce.Aggregate{}
	var temporaries release.Stack
	defer func() { err = errors.Join(err, temporaries.Release()) }()
	for i, number := range unknown {
		data := columns[number].Data()
		if data.Type, err = integerType(data.Type); err != nil {
			return err
		}
		names[i] = keyName(i)
		if plain[i], err = column.New(data); err != nil {
			return err
		}
		temporaries.Add(plain[i])
		e := expr.Col(names[i])
		aggregates = append(aggregates, reduce.Min(e), reduce.Max(e))
	}
	table, err := op.TableOf(names, plain, buffer.Rows{Count: int64(plain[0].Len())})
	if err != nil {
		return err
	}
	temporaries.Add(table)
	extremes, err := reduce.Integers(f.call.Context(), table, aggregates, scratchOptions(f.call))
	if err != nil {
		return err
	}
	for i, number := range unknown {
		if !extremes[2*i].IsValid {
			continue
		}
		bounds[number], hasValues[number] = column.Bounds{Least: extremes[2*i].Value, Greatest: extremes[2*i+1].Value}, true
		columns[number].LearnBounds(bounds[number])
	}
	return nil
}

// integerType returns the type of the integers that values of a type are stored as, or nil.
func integerType(t arrow.DataType) (arrow.DataType, error) {
	l, err := layout.Of(t)
	if err != nil || l.Kind != layout.Fixed {
		return nil, err
	}
	switch l.Stored() {
	case layout.Signed:
		return map[int]arrow.DataType{1: arrow.PrimitiveTypes.Int8, 2: arrow.PrimitiveTypes.Int16, 4: arrow.PrimitiveTypes.Int32, 8: arrow.PrimitiveTypes.Int64}[l.Width], nil
	case layout.Unsigned:
		return map[int]arrow.DataType{1: arrow.PrimitiveTypes.Uint8, 2: arrow.PrimitiveTypes.Uint16, 4: arrow.PrimitiveTypes.Uint32, 8: arrow.PrimitiveTypes.Uint64}[l.Width], nil
	}
	return nil, nil
}

// spanBetween returns the range of a column with some bounds. It has no places if there are too
// many.
func spanBetween(b column.Bounds, hasValues, nullable bool) (s span) {
	if hasValues {
		if b.Greatest-b.Least >= mostPartitioned {
			return s
		}
		s = span{b.Least, b.Greatest - b.Least + 1}
	}
	if nullable {
		s.places++
	}
	return s
}

// numberPlaces finds the groups of a column of integers in a range. The caller releases them.
func (f *numberer) numberPlaces(c *column.Column, s span) (*listedGroups, error) {
	p := new(listedGroups)
	err := f.fill(p, c, s)
	if err != nil {
		return nil, errors.Join(err, p.Release())
	}
	return p, nil
}

// fill writes the first row of each place, sorts the places by it, and writes the numbers
// of all rows.
func (f *numberer) fill(p *listedGroups, c *column.Column, s span) error {
	rows, counted, err := c.Extent(f.call.Context())
	if err != nil {
		return err
	}
	keys, err := sourceOf(f.call, c)
	if err != nil {
		return err
	}
	places := int(s.places)
	block, slices, err := f.call.Scratch(4*s.places, 4*s.places, 4*s.places, 8, 4*uint64(c.Len()))
	if err != nil {
		return err
	}
	p.owned.Add(block)
	firsts, ranks, list := slices[0], slices[1], slices[2]
	if err := firsts.Fill(f.call.Stream, 0xff); err != nil {
		return err
	}
	if err := f.firstRows(firsts, keys, s, counted, rows); err != nil {
		return err
	}
	sorted, err := f.sortedPlaces(firsts)
	if err != nil {
		return err
	}
	p.owned.Add(sorted)
	if err := launchRows(f.call, "places", "rank_places", places, ranks, list, slices[3], firsts, sorted.Buffer(1), s.places); err != nil {
		return err
	}
	if err := launchGrid(f.call, "places", "number_places", rows, slices[4], keys.argument(), s.least, s.places, ranks, counted, int64(rows)); err != nil {
		return err
	}
	if p.numbers, err = memory.Reinterpret[uint32](slices[4]); err != nil {
		return err
	}
	return p.listOf(list, slices[3], places)
}

// firstRows writes the first row of each place. Blocks have copies of the places if these fit shared memory.
func (f *numberer) firstRows(firsts memory.Slice[uint8], keys source, s span, counted memory.Slice[int64], rows int) error {
	dev := f.call.Stream.Device()
	shared, err := sharedBytes(f.call)
	if err != nil {
		return err
	}
	bytes := 4 * int(s.places)
	if bytes > shared-placeReserve {
		return launchGrid(f.call, "places", "first_places", rows, firsts, keys.argument(), s.least, s.places, counted, int64(rows))
	}
	kernel, err := f.call.Kernel(&aggregateSet, "places", "first_few_places")
	if err != nil {
		return err
	}
	blocks := max(dev.Info().Multiprocessors, 1)
	if 2*(bytes+placeReserve) <= shared {
		blocks *= 2
	}
	blocks = min(blocks, max(rows-1, 0)/(placeThreads*placeRows)+1)
	return kernel.Launch(f.call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: placeThreads}, uint32(bytes), firsts, keys.argument(), s.least, uint32(s.places), counted, int64(rows))
}

// listOf sets the list of the first rows, of a capacity, from its memory and the word with their
// number.
func (p *listedGroups) listOf(list, word memory.Slice[uint8], capacity int) error {
	first, err := memory.Reinterpret[uint32](list)
	if err != nil {
		return err
	}
	number, err := memory.Reinterpret[int64](word)
	if err != nil {
		return err
	}
	count, err := column.NewRowCount(number, int64(capacity))
	if err != nil {
		return err
	}
	p.list, err = selection.RowNumbers(first, count)
	if err = errors.Join(err, count.Release()); err == nil {
		p.owned.Add(p.list)
	}
	return err
}

// sortedPlaces returns the places in the order of their first rows.
func (f *numberer) sortedPlaces(firsts memory.Slice[uint8]) (*column.Column, error) {
	c, err := column.New(column.Data{
		Type: arrow.PrimitiveTypes.Uint32, Length: firsts.Len() / 4, Buffers: []column.Bytes{{}, firsts}, Manager: f.call.Manager,
	})
	if err != nil {
		return nil, err
	}
	table, err := op.TableOf([]string{"first"}, []*column.Column{c}, buffer.Rows{Count: int64(c.Len())})
	if table, err = release.OnError(table, err, c.Release()); err != nil {
		return nil, err
	}
	sorted, err := order.Indices(f.call.Context(), table, []order.Key{{Column: "first"}}, scratchOptions(f.call))
	return release.OnError(sorted, err, table.Release())
}
