package group

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/hashtable"
	"github.com/gpuframe/gpuframe/internal/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/parallel"
	"github.com/gpuframe/gpuframe/internal/release"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// grouping is the groups of the rows of a table, numbered by their first rows.
type grouping struct {
	// numbers has the number of each row's group.
	numbers memory.Slice[uint32]
	// rows is the number of rows or, if counted has memory, their maximum.
	rows    int
	counted memory.Slice[int64]
	// keys has a row for each group: the keys of its first row.
	keys *buffer.Buffer
	// dense has the keys of which the numbers are computed, instead of numbers, or is nil.
	dense *denseKeys
	// single is set on the host if all rows are one group: then numbers is empty.
	single bool
	// kept is set if the states are the result. The bins of sums of floats then have to be
	// those of the definition; otherwise their total is enough.
	kept bool
	// fixedPoint is set if they may be those of fixed-point sums nevertheless.
	fixedPoint bool

	owned owned
}

// Release releases what the groups hold.
func (g *grouping) Release() error { return g.owned.release() }

// fill makes the numbers of a single group, for operators that read them.
func (g *grouping) fill(call *op.Call) error {
	if !g.single || g.numbers.Len() > 0 {
		return nil
	}
	block, numbers, err := call.Scratch(4 * uint64(g.rows))
	if err != nil {
		return err
	}
	g.owned.add(block)
	if err = numbers[0].Fill(call.Stream, 0); err == nil {
		g.numbers, err = memory.Reinterpret[uint32](numbers[0])
	}
	return errors.Join(err, call.Settle(call.Context()))
}

// capacity is the most groups that the memory of results has room for.
func (g *grouping) capacity() int { return int(g.keys.Capacity()) }

// checkKey refuses keys of types that cannot be compared.
func checkKey(t arrow.DataType) error {
	l, err := layout.Of(t)
	if err != nil {
		return err
	}
	switch {
	case l.Kind == layout.Struct && l.Children() > 0:
		for i := range l.Children() {
			child, _ := l.Child(i)
			if err := checkKey(child); err != nil {
				return err
			}
		}
		return nil
	case l.Kind == layout.Dictionary:
		return checkKey(l.Dictionary())
	case l.Kind == layout.Bits || l.Kind == layout.Binary || l.Kind == layout.Fixed:
		return nil
	}
	return layout.Refuse(t, "numbers, booleans, decimals, dates, times, strings, binaries, dictionaries and structs of these", device.ErrNotSupported)
}

// findGroups finds the groups of rows by their first columns, the keys. If every row is a group and shares is set,
// the keys of the groups have the memory of the rows. The caller releases the groups.
func findGroups(call *op.Call, rows *buffer.Buffer, keys int, options ByOptions, spans map[*column.Column]span, shares bool) (*grouping, error) {
	f := folder{call: call, waits: options.MaxGroups == 0, spans: spans}
	columns := make([]*column.Column, keys)
	for i := range columns {
		columns[i] = rows.Column(i)
	}
	groups, err := f.groups(columns)
	if err != nil {
		return nil, errors.Join(err, f.owned.release())
	}
	g := &grouping{numbers: groups.Numbers(), owned: owned{groups}}
	err = errors.Join(f.owned.release(), g.gather(call, groups, rows, keys, options, shares))
	if err != nil {
		return nil, errors.Join(err, g.Release())
	}
	return g, nil
}

// gather makes the table of the groups' keys.
func (g *grouping) gather(call *op.Call, groups numbered, rows *buffer.Buffer, keys int, options ByOptions, shares bool) error {
	n, counted, err := rows.Extent(call.Context())
	if err != nil {
		return err
	}
	g.rows, g.counted = int(n), counted
	names := make([]string, keys)
	for i := range names {
		names[i] = keyName(i)
	}
	firsts, err := groups.List()
	if err != nil {
		return err
	}
	if firsts, err = g.bound(call, firsts, options); err != nil {
		return err
	}
	keyed, err := rows.Select(names...)
	if err != nil {
		return errors.Join(err, firsts.Release())
	}
	if shares && firsts.RowCount() == nil && firsts.Len() == int(n) && counted.Len() == 0 && keyed.RowCount() == nil {
		g.keys = keyed // every row is a group
		g.owned.add(keyed)
		return firsts.Release()
	}
	g.keys, err = selection.TakeWith(call.Context(), keyed, firsts, selection.TakeOptions{Options: scratchOptions(call), Bounds: selection.Trust, Distinct: true})
	g.keys, err = release.OnError(g.keys, err, keyed.Release(), firsts.Release())
	if err == nil {
		g.owned.add(g.keys)
	}
	return err
}

// bound returns a list of first rows in the capacity of the result: the number of groups,
// or MaxGroups. It releases the given list.
func (g *grouping) bound(call *op.Call, firsts *column.Column, options ByOptions) (*column.Column, error) {
	var bounded *column.Column
	var err error
	switch {
	case firsts.RowCount() != nil && options.MaxGroups == 0 && firsts.Len() >= tuningOf(call.Context()).MeasuredRows:
		bounded, err = firsts.WithHostRows(call.Context())
	case firsts.RowCount() != nil && options.MaxGroups > 0 && options.MaxGroups < int64(firsts.Len()):
		bounded, err = shortened(firsts, options.MaxGroups)
	case firsts.RowCount() == nil && options.MaxGroups > 0 && options.MaxGroups < int64(firsts.Len()):
		err = fmt.Errorf("there are %d groups, MaxGroups is %d: %w", firsts.Len(), options.MaxGroups, buffer.ErrRows)
	default:
		return firsts, nil
	}
	return release.OnError(bounded, err, firsts.Release())
}

// shortened returns a list with a lower capacity and the same row count, which may be too
// large for it: fetching it is an error then.
func shortened(list *column.Column, capacity int64) (*column.Column, error) {
	count, err := column.NewRowCount(list.DeviceRows(), capacity)
	if err != nil {
		return nil, err
	}
	data := list.Data()
	data.Rows, data.Length = count, int(capacity)
	bounded, err := column.New(data)
	return release.OnError(bounded, err, count.Release())
}

// folder finds the groups of several columns. If the host may wait for ranges it packs the columns into one
// (pack.go). Otherwise it numbers the values of each column, and then, from the first column on, the pairs of
// numbers.
type folder struct {
	call *op.Call
	// waits is set if the host may wait for the ranges of keys and the numbers of groups.
	waits bool
	// spans are the ranges of columns that were found before.
	spans map[*column.Column]span
	// distinct receives the estimated number of different values of each column whose bounds are searched for.
	// Without it nothing is estimated.
	distinct map[*column.Column]uint64
	owned    owned
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
func (f *folder) groups(columns []*column.Column) (numbered, error) {
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

// flatten replaces structs by a column of numbers or by their fields.
func (f *folder) flatten(columns []*column.Column) (flat []*column.Column, err error) {
	for _, c := range columns {
		if c.NumChildren() == 0 || c.Type().ID() == arrow.DICTIONARY {
			flat = append(flat, c)
			continue
		}
		fields := make([]*column.Column, c.NumChildren())
		for i := range fields {
			if fields[i], err = c.Child(i).SliceCapacity(c.Offset(), c.Len()); err != nil {
				return nil, err
			}
			f.owned.add(fields[i])
			if count := c.RowCount(); count != nil {
				if fields[i], err = fields[i].WithRows(count); err != nil {
					return nil, err
				}
				f.owned.add(fields[i])
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
		f.owned.add(groups)
		numbers := rowNumbers{source: source{values: groups.Numbers().AsBytes(), form: fromUnsigned32}}
		whole, err := f.pair(c, numbers, numbers, c)
		if err != nil {
			return nil, err
		}
		flat = append(flat, whole.column)
	}
	return flat, nil
}

// find finds the groups of a column. The caller releases them.
func (f *folder) find(c *column.Column) (numbered, error) {
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
		return f.place(c, s)
	}
	return hashtable.Find(f.call.Context(), c, hashtable.WithCounts, scratchOptions(f.call))
}

// word returns numbers that are equal if the values of a column are: the values themselves
// if they are integers of at most 32 bits without nulls.
func (f *folder) word(c *column.Column) (rowNumbers, error) {
	l, err := layout.Of(c.Type())
	if err != nil {
		return rowNumbers{}, err
	}
	if class := l.Stored(); !op.Nullable(c) && l.Width <= 4 && (class == layout.Signed || class == layout.Unsigned) {
		s, err := sourceOf(f.call, c)
		w := rowNumbers{source: s}
		if err == nil && f.call.OnHost() {
			err = w.measure(f.call.Context(), c)
		}
		return w, err
	}
	groups, err := f.find(c)
	if err != nil {
		return rowNumbers{}, err
	}
	return f.numbersOf(groups)
}

// measure finds the range of integers on the host.
func (w *rowNumbers) measure(ctx context.Context, c *column.Column) error {
	n, _, err := c.Extent(ctx)
	if err != nil || n == 0 {
		return err
	}
	values, err := w.host()
	if err != nil {
		return err
	}
	least, greatest, block := int64(math.MaxInt64), int64(math.MinInt64), [blockRows]uint64{}
	for begin := 0; begin < n; begin += blockRows {
		chunk := block[:min(blockRows, n-begin)]
		values.integers(chunk, begin)
		for _, x := range chunk {
			least, greatest = min(least, int64(x)), max(greatest, int64(x))
		}
	}
	w.least, w.bound = uint64(least), uint64(greatest-least)+1
	return nil
}

// numbersOf returns the numbers of groups, which it owns from then on.
func (f *folder) numbersOf(groups numbered) (rowNumbers, error) {
	f.owned.add(groups)
	w := rowNumbers{source: source{values: groups.Numbers().AsBytes(), form: fromUnsigned32}}
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
func (f *folder) pair(model *column.Column, high, low rowNumbers, nullable *column.Column) (pairs rowNumbers, err error) {
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
			return pairOnHost(f.call.Context(), out, high, low, mask, factor, rows)
		}
		return pairOnDevice(f.call, out, high.source, low.source, mask, factor, counted, rows)
	})
	if err != nil {
		return pairs, err
	}
	f.owned.add(pairs.column)
	if model.Len() > 0 {
		pairs.source, err = sourceOf(f.call, pairs.column)
	}
	return pairs, err
}

// newColumn is op.Call.NewColumn, also for results without rows.
func newColumn(call *op.Call, r op.Result, write func(out op.Buffers) error) (*column.Column, error) {
	if r.Length == 0 {
		return column.New(column.Data{Type: r.Type, Rows: r.RowCount, Buffers: make([]column.Bytes, 2), Manager: call.Manager})
	}
	// The tag of intermediate results is that of scratch memory.
	return call.NewColumn(r, write)
}

func pairOnHost(ctx context.Context, out op.Buffers, high, low rowNumbers, mask source, factor uint64, rows int) error {
	to, err := out.Host()
	if err != nil {
		return err
	}
	a, aErr := high.host()
	b, bErr := low.host()
	m, mErr := mask.host()
	if err := errors.Join(aErr, bErr, mErr); err != nil {
		return err
	}
	pairs := op.Elements[uint64](to.Values)
	return parallel.Run(ctx, rows, parallel.Parts(rows), func(_, from, end int) {
		var block [blockRows]uint64
		for begin := from; begin < end; begin += blockRows {
			chunk := pairs[begin:min(begin+blockRows, end)]
			x := block[:len(chunk)]
			a.integers(x, begin)
			b.integers(chunk, begin)
			for i := range chunk {
				chunk[i] = (x[i]-high.least)*factor + (chunk[i]-low.least)&(1<<32-1)
				if !m.isValid(begin + i) {
					chunk[i] = 1<<64 - 1
				}
			}
		}
	})
}
