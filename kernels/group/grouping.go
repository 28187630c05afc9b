package group

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
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

	owned release.Stack
}

// Release releases what the groups hold.
func (g *grouping) Release() error { return g.owned.Release() }

// fill makes the numbers of a single group, for operators that read them.
func (g *grouping) fill(call *op.Call) error {
	if !g.single || g.numbers.Len() > 0 {
		return nil
	}
	block, numbers, err := call.Scratch(4 * uint64(g.rows))
	if err != nil {
		return err
	}
	g.owned.Add(block)
	if err = numbers[0].Fill(call.Stream, 0); err == nil {
		g.numbers, err = memory.Reinterpret[uint32](numbers[0])
	}
	return errors.Join(err, call.WaitIdle(call.Context()))
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
		if values, err := layout.Of(l.Dictionary()); err != nil || !isList(values) {
			return errors.Join(err, checkKey(l.Dictionary()))
		}
	case isList(l):
		if rowkey.Check(t, 0) == nil { // lists are compared by their ranks
			return nil
		}
	case l.Kind == layout.Bits || l.Kind == layout.Binary || l.Kind == layout.Fixed:
		return nil
	}
	return layout.Refuse(t, "numbers, booleans, decimals, dates, times, strings, binaries, dictionaries, and structs and lists of these", device.ErrNotSupported)
}

// isList reports whether a type is lists: maps are not compared.
func isList(l layout.Layout) bool {
	return (l.Kind == layout.List || l.Kind == layout.ListView || l.Kind == layout.FixedSizeList) && l.Storage.ID() != arrow.MAP
}

// findGroups finds the groups of rows by their first columns, the keys. If every row is a group and shares is set,
// the keys of the groups have the memory of the rows. The groups have the first ones of the keys, gathered of them.
// The caller releases the groups.
func findGroups(call *op.Call, rows *buffer.Buffer, keys, gathered int, options ByOptions, spans map[*column.Column]span, shares bool) (*grouping, error) {
	f := numberer{call: call, waits: options.MaxGroups == 0, spans: spans}
	columns := make([]*column.Column, keys)
	for i := range columns {
		columns[i] = rows.Column(i)
	}
	groups, err := f.groups(columns)
	if err != nil {
		return nil, errors.Join(err, f.owned.Release())
	}
	g := &grouping{numbers: groups.Numbers(), owned: release.Stack{groups}}
	err = errors.Join(f.owned.Release(), g.gather(call, groups, rows, gathered, options, shares))
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
		g.owned.Add(keyed)
		return firsts.Release()
	}
	g.keys, err = selection.TakeWith(call.Context(), keyed, firsts, selection.TakeOptions{Options: scratchOptions(call), Bounds: selection.Trust, Distinct: true})
	g.keys, err = release.OnError(g.keys, err, keyed.Release(), firsts.Release())
	if err == nil {
		g.owned.Add(g.keys)
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

// newColumn is op.Call.NewColumn, also for results without rows.
func newColumn(call *op.Call, r op.Result, write func(out op.Buffers) error) (*column.Column, error) {
	if r.Length == 0 {
		return column.New(column.Data{Type: r.Type, Rows: r.RowCount, Buffers: make([]column.Bytes, 2), Manager: call.Manager})
	}
	// The tag of intermediate results is that of scratch memory.
	return call.NewColumn(r, write)
}
