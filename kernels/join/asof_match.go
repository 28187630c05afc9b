package join

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// nearest is the search for the nearest right row of each left row, in right rows that are
// sorted by their keys.
type nearest struct {
	direction Direction
	notEqual  bool
	// low and high are the numbers of sorted rows before and up to the left row's keys.
	low, high memory.Slice[uint32]
	// begin and end bound the sorted rows with the same values in By. They are empty without
	// such keys.
	begin, end memory.Slice[uint32]
	// sorted is the number of sorted rows.
	sorted int
	// valid has a bit for each left row that can match, or is empty.
	valid memory.Slice[uint8]
	// left and right are the last keys, for distances; right ones are sorted.
	distances   distances
	left, right memory.Slice[uint8]
	// list has the numbers of the sorted rows, or is empty if these are their places.
	list memory.Slice[uint32]
}

// asOf finds the matches of an as-of join. The caller releases them.
func (r *run) asOf(options *AsOfOptions) (*matches, error) {
	var held release.Stack
	m, err := r.nearestMatches(&held, options)
	return release.OnError(m, err, held.Release())
}

// nearestMatches merges both sides or, if their keys are too long for that, searches the
// left rows among the right ones.
func (r *run) nearestMatches(held *release.Stack, options *AsOfOptions) (*matches, error) {
	distances, err := options.distancesOf(r.leftKeys[len(r.leftKeys)-1].Type())
	if err != nil {
		return nil, err
	}
	if rowsOf(r.left) > 0 {
		p, err := r.planMerge(held, &distances)
		if err != nil {
			return nil, err
		}
		if p != nil {
			return r.mergeNearest(held, p, options, &distances)
		}
	}
	m, err := r.newMatches(rowsOf(r.left), rowsOf(r.right))
	if err != nil || m.probe == 0 {
		return m, err
	}
	return release.OnError(m, r.searchNearest(held, m, options, distances))
}

// searchNearest sorts the right rows and searches the left rows among them.
func (r *run) searchNearest(held *release.Stack, m *matches, options *AsOfOptions, distances distances) error {
	s, keys, err := r.sortUsable(held, m, options.Sorted)
	if err != nil {
		return err
	}
	left, _, err := r.keyTable(held, r.leftKeys)
	if err != nil {
		return err
	}
	n := &nearest{direction: options.Direction, notEqual: options.NotEqual, sorted: rowsOf(s.table), distances: distances}
	if err := r.searchAsOf(held, n, s, left, keys); err != nil {
		return err
	}
	valid, err := r.usable(held, left)
	if err != nil {
		return err
	}
	if valid != nil {
		n.valid = valid.Buffer(1)
	}
	if distances.wanted {
		last := left.NumColumns() - 1
		if n.left, err = r.distanceKeys(held, left.Column(last), &n.distances); err != nil {
			return err
		}
		if n.right, err = r.distanceKeys(held, s.table.Column(last), &n.distances); err != nil {
			return err
		}
	}
	n.list, m.list, m.single = m.list, memory.Slice[uint32]{}, true
	if r.call.OnHost() {
		return errors.Join(r.waitIdle(), r.nearestOnHost(n, m))
	}
	return r.nearestOnDevice(n, m)
}

// searchAsOf makes the searches that the direction needs.
func (r *run) searchAsOf(held *release.Stack, n *nearest, s *sortedRows, left *buffer.Buffer, keys []order.Key) error {
	find := func(to *memory.Slice[uint32], sorted, values *buffer.Buffer, keys []order.Key, upper bool) error {
		places, err := r.places(held, sorted, values, keys, upper)
		if err == nil {
			*to, err = uint32sOf(places)
		}
		return err
	}
	backward, forward := n.direction != Forward, n.direction != Backward
	if backward && n.notEqual || forward && !n.notEqual {
		if err := find(&n.low, s.table, left, keys, false); err != nil {
			return err
		}
	}
	if backward && !n.notEqual || forward && n.notEqual {
		if err := find(&n.high, s.table, left, keys, true); err != nil {
			return err
		}
	}
	by := keys[:len(keys)-1]
	if len(by) == 0 {
		return nil
	}
	bySorted, err := r.firstColumns(held, s.table, len(by))
	if err != nil {
		return err
	}
	byLeft, err := r.firstColumns(held, left, len(by))
	if err != nil {
		return err
	}
	if backward {
		if err := find(&n.begin, bySorted, byLeft, by, false); err != nil {
			return err
		}
	}
	if forward {
		return find(&n.end, bySorted, byLeft, by, true)
	}
	return nil
}

func (r *run) firstColumns(held *release.Stack, table *buffer.Buffer, n int) (*buffer.Buffer, error) {
	names := make([]string, n)
	for i := range names {
		names[i] = table.Schema().Field(i).Name
	}
	selected, err := table.Select(names...)
	if err == nil {
		held.Add(selected)
	}
	return selected, err
}

// sortUsable sorts the right rows that can match by their keys. The list of the matches
// becomes the numbers of these rows. If the table is sorted by the last key, a stable sort
// by the others is enough.
func (r *run) sortUsable(held *release.Stack, m *matches, isSorted bool) (*sortedRows, []order.Key, error) {
	table, keys, err := r.keyTable(held, r.rightKeys)
	if err != nil {
		return nil, nil, err
	}
	mask, err := r.usable(held, table)
	if err != nil {
		return nil, nil, err
	}
	var list *column.Column
	if mask != nil {
		if table, list, err = r.filterRows(held, table, mask); err != nil {
			return nil, nil, err
		}
	}
	s := &sortedRows{table: table}
	sortKeys := keys
	if isSorted {
		sortKeys = keys[:len(keys)-1]
	}
	if len(sortKeys) > 0 {
		if s, err = r.sorted(held, table, sortKeys); err != nil {
			return nil, nil, err
		}
		if list == nil {
			list = s.rows
		} else if list, err = selection.TakeColumnWith(r.call.Context(), list, s.rows, selection.TakeOptions{Options: r.scratch(), Bounds: selection.Trust, Distinct: true}); err != nil {
			return nil, nil, err
		} else {
			held.Add(list)
		}
	}
	if list == nil {
		return s, keys, nil
	}
	if err := list.Retain(); err != nil {
		return nil, nil, err
	}
	m.held.Add(list)
	m.list, err = uint32sOf(list)
	return s, keys, err
}

// usable returns booleans that are false for rows with a null, or with NaN as the last key. It
// returns nil if all rows can match.
func (r *run) usable(held *release.Stack, keys *buffer.Buffer) (*column.Column, error) {
	return r.usableOf(held, keys, keys.NumColumns()-1)
}

// usableOf is usable with NaN in some of the keys.
func (r *run) usableOf(held *release.Stack, keys *buffer.Buffer, numbers ...int) (*column.Column, error) {
	valid, err := r.validKeys(held, keys)
	if err != nil || keys.Capacity() == 0 {
		return nil, err
	}
	var all expr.Expr
	for _, i := range numbers {
		if familyOf(keys.Column(i).Type()) != floats {
			continue
		}
		isNumber := expr.Col(keys.Schema().Field(i).Name).IsNaN().Not()
		if keys.Column(i).Type().ID() == arrow.FLOAT16 { // which expressions do not compute with
			if keys, isNumber, err = r.numbersOfHalves(held, keys, i); err != nil {
				return nil, err
			}
		}
		if number := isNumber.FillNull(expr.Lit(false)); all.IsZero() {
			all = number
		} else {
			all = all.AndStrict(number)
		}
	}
	if all.IsZero() {
		return valid, nil
	}
	if valid != nil {
		if keys, err = keys.AppendColumn(arrow.Field{Name: "valid", Type: valid.Type()}, valid); err != nil {
			return nil, err
		}
		held.Add(keys)
		all = all.AndStrict(expr.Col("valid"))
	}
	usable, err := expr.Evaluate(r.call.Context(), keys, []expr.Expr{all}, r.scratch())
	if err != nil {
		return nil, err
	}
	held.Add(usable[0])
	return usable[0], nil
}

// numbersOfHalves returns an expression that is false for the NaNs of a column of float16, and
// the table with a column that it reads: the bits of the values.
func (r *run) numbersOfHalves(held *release.Stack, keys *buffer.Buffer, number int) (*buffer.Buffer, expr.Expr, error) {
	const sign, infinity = 1 << 15, 0x7c00
	data := keys.Column(number).Data()
	data.Type = arrow.PrimitiveTypes.Uint16
	bits, err := column.New(data)
	if err != nil {
		return nil, expr.Expr{}, err
	}
	held.Add(bits)
	name := keys.Schema().Field(number).Name + " bits"
	table, err := keys.AppendColumn(arrow.Field{Name: name, Type: data.Type, Nullable: true}, bits)
	if err != nil {
		return nil, expr.Expr{}, err
	}
	held.Add(table)
	return table, expr.Col(name).BitAnd(expr.Lit(uint16(sign - 1))).Le(expr.Lit(uint16(infinity))), nil
}

// filterRows returns the rows of a table for which a mask is true, and their numbers.
func (r *run) filterRows(held *release.Stack, table *buffer.Buffer, mask *column.Column) (*buffer.Buffer, *column.Column, error) {
	n := mask.Len()
	block, slices, err := r.uint32s(n)
	if err != nil {
		return nil, nil, err
	}
	held.Add(block)
	if err := errors.Join(r.waitIdle(), r.numberRows(slices[0])); err != nil {
		return nil, nil, err
	}
	numbers, err := selection.RowNumbers(slices[0], nil)
	if err != nil {
		return nil, nil, err
	}
	held.Add(numbers)
	numbered, err := table.AppendColumn(arrow.Field{Name: "row", Type: numbers.Type()}, numbers)
	if err != nil {
		return nil, nil, err
	}
	held.Add(numbered)
	kept, err := selection.FilterMask(r.call.Context(), numbered, mask, r.scratch())
	if err != nil {
		return nil, nil, err
	}
	held.Add(kept)
	rows, err := kept.NumRows(r.call.Context())
	if err != nil {
		return nil, nil, err
	}
	exact, err := kept.Slice(0, rows)
	if err != nil {
		return nil, nil, err
	}
	held.Add(exact)
	keys, err := r.firstColumns(held, exact, table.NumColumns())
	return keys, exact.Column(table.NumColumns()), err
}

// distanceKeys returns the values of keys: integers as they are, floats as float64.
func (r *run) distanceKeys(held *release.Stack, c *column.Column, d *distances) (memory.Slice[uint8], error) {
	if c.Len() == 0 {
		return memory.Slice[uint8]{}, nil
	}
	if d.real && c.Type().ID() != arrow.FLOAT64 {
		reals, err := cast(r.call.Context(), c, arrow.PrimitiveTypes.Float64, r.scratch())
		if err != nil {
			return memory.Slice[uint8]{}, err
		}
		held.Add(reals)
		c = reals
	}
	l, err := layout.Of(c.Type())
	if err != nil {
		return memory.Slice[uint8]{}, err
	}
	d.width = l.Width
	return c.ValuesRegion()
}
