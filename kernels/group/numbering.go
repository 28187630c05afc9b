package group

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/hashtable"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// numberer finds the groups of several columns. If the host may wait for ranges it packs the columns into one
// (pack.go). Otherwise it numbers the values of each column, and then, from the first column on, the pairs of
// numbers.
type numberer struct {
	call *op.Call
	// waits is set if the host may wait for the ranges of keys and the numbers of groups.
	waits bool
	// spans are the ranges of columns that were found before.
	spans map[*column.Column]span
	// distinct receives the estimated number of different values of each column whose bounds are searched for.
	// Without it nothing is estimated.
	distinct map[*column.Column]uint64
	owned    release.Stack
}

// rowNumbers is numbers that are equal if the values of a column are. They are below bound after
// least is subtracted, if bound is not zero, or have 32 bits. Only the host has a least.
type rowNumbers struct {
	source
	least, bound uint64
	// column has the numbers, if they are 64 bits wide.
	column *column.Column
}

// groups returns the groups of the rows of columns. The caller releases them.
func (f *numberer) groups(columns []*column.Column) (numbered, error) {
	flat, err := f.flatten(columns)
	if err != nil {
		return nil, err
	}
	if len(flat) == 0 {
		return nil, errNoColumns
	}
	if len(flat) == 1 {
		return f.find(flat[0])
	}
	if f.packs(flat[0].Len()) {
		return f.pack(flat)
	}
	if f.call.OnHost() {
		return f.groupsOnHost(flat)
	}
	var all rowNumbers
	for i, c := range flat {
		next, err := f.word(c)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all = next
			continue
		}
		if all.column != nil && (all.bound == 0 || next.bound == 0 || all.bound > math.MaxUint64/next.bound) {
			pairs, err := f.find(all.column)
			if err != nil {
				return nil, err
			}
			if all, err = f.numbersOf(pairs); err != nil {
				return nil, err
			}
		}
		if all, err = f.pair(flat[0], all, next, nil); err != nil {
			return nil, err
		}
	}
	return f.find(all.column)
}

var errNoColumns = fmt.Errorf("a struct without fields has no values to compare: %w", device.ErrNotSupported)

// flatten replaces lists by their ranks, and structs by a column of numbers or by their fields.
func (f *numberer) flatten(columns []*column.Column) (flat []*column.Column, err error) {
	for _, c := range columns {
		l, err := layout.Of(c.Type())
		if err != nil {
			return nil, err
		}
		if isList(l) {
			ranks, err := f.rank(c)
			if err != nil {
				return nil, err
			}
			flat = append(flat, ranks)
			continue
		}
		if c.NumChildren() == 0 || c.Type().ID() == arrow.DICTIONARY {
			flat = append(flat, c)
			continue
		}
		fields := make([]*column.Column, c.NumChildren())
		for i := range fields {
			if fields[i], err = c.Child(i).SliceCapacity(c.Offset(), c.Len()); err != nil {
				return nil, err
			}
			f.owned.Add(fields[i])
			if count := c.RowCount(); count != nil {
				if fields[i], err = fields[i].WithRows(count); err != nil {
					return nil, err
				}
				f.owned.Add(fields[i])
			}
		}
		if !op.Nullable(c) {
			inner, err := f.flatten(fields)
			if err != nil {
				return nil, err
			}
			flat = append(flat, inner...)
			continue
		}
		// The fields of a null have any values, but it is one key.
		groups, err := f.groups(fields)
		if err != nil {
			return nil, err
		}
		f.owned.Add(groups)
		numbers := rowNumbers{source: source{values: groups.Numbers().AsBytes(), form: fromU32}}
		whole, err := f.pair(c, numbers, numbers, c)
		if err != nil {
			return nil, err
		}
		flat = append(flat, whole.column)
	}
	return flat, nil
}

// rank returns the rank of each row of a column. A null has one too.
func (f *numberer) rank(c *column.Column) (*column.Column, error) {
	rows := buffer.Rows{Count: int64(c.Len()), Shared: c.RowCount()}
	if rows.Shared != nil {
		rows.Count = 0
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "key", Type: c.Type(), Nullable: true}}, nil)
	table, err := buffer.New(schema, []*column.Column{c}, rows)
	if err != nil {
		return nil, err
	}
	ranks, err := order.Rank(f.call.Context(), table, []order.Key{{Column: "key"}}, order.RankOptions{Options: scratchOptions(f.call), Method: order.Dense})
	if ranks, err = release.OnError(ranks, err, table.Release()); err == nil {
		f.owned.Add(ranks)
	}
	return ranks, err
}

// find finds the groups of a column. The caller releases them.
func (f *numberer) find(c *column.Column) (numbered, error) {
	if few, err := f.few(c); err != nil || few {
		if err != nil {
			return nil, err
		}
		return f.numberFew(c)
	}
	s, ok, err := f.spanOf(c)
	if err != nil {
		return nil, err
	}
	if ok {
		return f.numberPlaces(c, s)
	}
	return hashtable.Find(f.call.Context(), c, hashtable.WithCounts, scratchOptions(f.call))
}

// word returns numbers that are equal if the values of a column are: the values themselves
// if they are integers of at most 32 bits without nulls.
func (f *numberer) word(c *column.Column) (rowNumbers, error) {
	l, err := layout.Of(c.Type())
	if err != nil {
		return rowNumbers{}, err
	}
	if class := l.Stored(); !op.Nullable(c) && l.Width <= 4 && (class == layout.Signed || class == layout.Unsigned) {
		s, err := sourceOf(f.call, c)
		w := rowNumbers{source: s}
		return w, err
	}
	groups, err := f.find(c)
	if err != nil {
		return rowNumbers{}, err
	}
	return f.numbersOf(groups)
}

// numbersOf returns the numbers of groups, which it owns from then on.
func (f *numberer) numbersOf(groups numbered) (rowNumbers, error) {
	f.owned.Add(groups)
	w := rowNumbers{source: source{values: groups.Numbers().AsBytes(), form: fromU32}}
	if !f.call.OnHost() && !f.measures(groups.Numbers().Len()) {
		return w, nil
	}
	list, err := groups.List()
	if err != nil {
		return w, err
	}
	count, err := list.NumRows(f.call.Context())
	w.bound = uint64(count)
	return w, errors.Join(err, list.Release())
}

// pair returns two numbers of each row as one, or all bits set for rows that are null in
// nullable, if it is not nil. The column has the rows of a model.
func (f *numberer) pair(model *column.Column, high, low rowNumbers, nullable *column.Column) (pairs rowNumbers, err error) {
	rows, counted, err := model.Extent(f.call.Context())
	if err != nil {
		return pairs, err
	}
	factor := uint64(1 << 32)
	if nullable == nil && high.bound > 0 && low.bound > 0 && high.bound <= math.MaxUint64/low.bound {
		factor, pairs.bound = low.bound, high.bound*low.bound
	}
	var mask source
	if nullable != nil {
		if mask.valid, mask.bit, err = nullable.Validity(); err != nil {
			return pairs, err
		}
	}
	result := op.Result{Type: arrow.PrimitiveTypes.Uint64, Length: model.Len()}
	if counted.Len() > 0 {
		result.RowCount = model.RowCount()
	}
	pairs.column, err = newColumn(f.call, result, func(out op.Buffers) error {
		if f.call.OnHost() {
			return pairOnHost(f.call.Context(), out, high, low, mask, factor, pairs.bound > 0, rows)
		}
		return pairOnDevice(f.call, out, high.source, low.source, mask, factor, counted, rows)
	})
	if err != nil {
		return pairs, err
	}
	f.owned.Add(pairs.column)
	if model.Len() > 0 {
		pairs.source, err = sourceOf(f.call, pairs.column)
	}
	return pairs, err
}
