package window

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// arrangement is the rows of a table in the order of windows.
type arrangement struct {
	ctx     context.Context
	table   *buffer.Buffer
	windows Windows
	options kernels.Options
	// capacity is the number of rows that the table has room for. rows is the number of
	// rows or, if counted has memory, their maximum.
	capacity, rows int
	counted        memory.Slice[int64]
	// listed are the numbers of the rows in order, or empty if the table is in order. inOrder is
	// the only key in that order, if the sort has it.
	listed  memory.Slice[uint32]
	inOrder *column.Column
	// partitions are runs of equal partition keys, or nil for one partition. peers are runs
	// of rows with equal keys of both kinds, or nil if all rows of a partition are peers. The
	// host has runs instead.
	partitions, peers       *heads
	partitionRuns, peerRuns *order.Runs
	owned                   release.Stack
	// byPlace is set while results are written in the order of places.
	byPlace bool
}

// arrange sorts the rows if they are not in order. The caller releases the arrangement.
func arrange(ctx context.Context, table *buffer.Buffer, windows Windows, options kernels.Options) (*arrangement, error) {
	a := &arrangement{ctx: ctx, table: table, windows: windows, options: options, capacity: int(table.Capacity())}
	if err := a.arrange(); err != nil {
		return nil, errors.Join(err, a.release())
	}
	return a, nil
}

func (a *arrangement) release() error { return a.owned.Release() }

// scratch returns the options for memory that is released with the arrangement.
func (a *arrangement) scratch() kernels.Options {
	options := a.options
	options.Tag = op.ScratchTag
	return options
}

func (a *arrangement) arrange() error {
	rows, counted, err := a.table.Extent(a.ctx)
	if err != nil {
		return err
	}
	a.rows, a.counted = int(rows), counted
	keys := a.windows.keys()
	if len(keys) == 0 || a.capacity == 0 {
		return nil
	}
	if done, err := a.arrangeByComparing(); done || err != nil {
		return err
	}
	sorted, err := order.IsSorted(a.ctx, a.table, keys, a.scratch())
	if err != nil {
		return err
	}
	if !sorted {
		if err := a.sort(); err != nil {
			return err
		}
	}
	if len(a.windows.PartitionBy) > 0 {
		if a.partitionRuns, a.partitions, err = a.runs(a.windows.PartitionBy); err != nil {
			return err
		}
	}
	if len(a.windows.OrderBy) > 0 {
		a.peerRuns, a.peers, err = a.runs(keys)
	}
	return err
}

// sort lists the rows in order.
func (a *arrangement) sort() (err error) {
	var indices *column.Column
	if keys := a.windows.keys(); len(keys) == 1 {
		indices, a.inOrder, err = order.IndicesWithKey(a.ctx, a.table, keys[0], a.scratch())
	} else {
		indices, err = order.Indices(a.ctx, a.table, keys, a.scratch())
	}
	if err != nil {
		return err
	}
	a.owned.Add(indices)
	a.owned.Add(a.inOrder)
	a.listed, err = column.Elements[uint32](indices)
	return err
}

// runs finds runs of equal keys of any types: on the host as they are, on a GPU as heads.
func (a *arrangement) runs(keys []order.Key) (*order.Runs, *heads, error) {
	runs, err := order.FindRuns(a.ctx, a.table, a.listed, keys, a.scratch())
	if err != nil {
		return nil, nil, err
	}
	call, err := op.Begin(a.ctx, a.scratch())
	if err != nil || call.OnHost() || a.rows == 0 {
		a.owned.Add(runs)
		return runs, nil, err
	}
	h, err := a.headsOf(&call, runs)
	return nil, h, errors.Join(err, runs.Release())
}

// headsOf returns the heads of runs.
func (a *arrangement) headsOf(call *op.Call, runs *order.Runs) (*heads, error) {
	h, err := a.newHeads(call)
	if err != nil {
		return nil, err
	}
	if a.counted.Len() > 0 {
		if err := a.counted.Order(call.Stream); err != nil {
			return nil, err
		}
	}
	if err := a.findHeads(call, "heads_numbers", a.places(), runs.Numbers, h.output()); err != nil {
		return nil, err
	}
	return h, a.finishHeads(call, h, memory.Slice[uint8]{})
}

// begin begins a call that reads columns with the rows of the table, and returns the first one. Columns that are nil are
// left out.
func (a *arrangement) begin(columns ...*column.Column) (op.Call, op.View, error) {
	var inputs []*column.Column
	for _, c := range columns {
		if c != nil {
			inputs = append(inputs, c)
		}
	}
	call, err := op.Begin(a.ctx, a.options, inputs...)
	if err != nil {
		return call, op.View{}, err
	}
	if a.counted.Len() > 0 {
		if err := a.counted.Order(call.Stream); err != nil {
			return call, op.View{}, err
		}
	}
	if call.OnHost() {
		if err := call.WaitIdle(a.ctx); err != nil {
			return call, op.View{}, err
		}
	}
	if len(inputs) == 0 {
		return call, op.View{}, nil
	}
	value := inputs[0]
	if _, fixed := column.ElementBytes(value.Type()); fixed {
		in, err := call.View(value)
		return call, in, err
	}
	in := op.View{Column: value} // only its nulls are read
	if op.Nullable(value) {
		in.Valid, in.Bit, err = value.Validity()
	}
	return call, in, err
}

// value returns the column of a function's expression, with a reference for the caller.
func (a *arrangement) value(f Function) (*column.Column, error) {
	return a.evaluate(f.conditional(f.value, a.table.Schema()))
}

func (a *arrangement) evaluate(e expr.Expr) (*column.Column, error) {
	if name, ok := e.Column(); ok {
		c, err := a.table.ColumnByName(name)
		if err != nil {
			return nil, err
		}
		return c, c.Retain()
	}
	columns, err := expr.Evaluate(a.ctx, a.table, []expr.Expr{e}, a.scratch())
	if err != nil {
		return nil, err
	}
	return columns[0], nil
}

// orderKey returns the column of the only key of the order, with a reference.
func (a *arrangement) orderKey() (*column.Column, error) {
	switch key := a.windows.OrderBy[0]; {
	case key.Values != nil:
		return key.Values, key.Values.Retain()
	case key.Expr.IsZero():
		return a.evaluate(expr.Col(key.Column))
	default:
		return a.evaluate(key.Expr)
	}
}

// newColumn is op.Call.NewColumn, also for tables without rows. The validity of a nullable
// result is zero if the rows are listed.
func (a *arrangement) newColumn(call *op.Call, t arrow.DataType, nullable bool, write func(out op.Buffers) error) (*column.Column, error) {
	r := op.Result{Type: t, Length: a.capacity, RowCount: a.table.RowCount(), Nullable: nullable}
	if r.Length == 0 {
		return column.New(column.Data{Type: t, Rows: r.RowCount, Buffers: make([]column.Bytes, 2), Manager: call.Manager})
	}
	return call.NewColumn(r, func(out op.Buffers) error {
		if a.rows == 0 {
			return nil
		}
		if nullable && a.listed.Len() > 0 && !call.OnHost() {
			if err := out.Valid.Fill(call.Stream, 0); err != nil {
				return err
			}
		}
		return write(out)
	})
}

const overThreads = 256

// launch enqueues a kernel with a thread for some rows.
func (a *arrangement) launch(call *op.Call, name string, arguments ...any) error {
	return a.launchFor(call, 1, name, arguments...)
}

// launchFor is launch with threads that have a number of rows in flight together.
func (a *arrangement) launchFor(call *op.Call, each int, name string, arguments ...any) error {
	f, err := call.Kernel(&set, "over", name)
	if err != nil {
		return err
	}
	grid, err := f.Grid(a.rows, overThreads, each, 0)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, grid, device.Dim3{X: overThreads}, 0, arguments...)
}

// argument is the kernels' Rows.
func (a *arrangement) argument() any {
	l := rowsLayout{listed: a.listed, partitions: a.partitions.layout(), peers: a.peers.layout(), counted: a.counted, capacity: int64(a.rows)}
	if a.byPlace {
		l.byPlace = 1
	}
	return l.asArgument()
}

// argument is the kernels' Frame.
func (f *framing) argument() any {
	l := frameLayout{lows: f.lows, highs: f.highs, low: f.low, high: f.high}
	return l.asArgument()
}

// hostRows is an arrangement in memory of the processor.
type hostRows struct {
	n      int
	listed []uint32
	// numbers and begins of the runs, or nil
	partitions, partitionBegins, peers, peerBegins []uint32
}

func (a *arrangement) host() (hostRows, error) {
	h := hostRows{n: a.rows}
	var failures []error
	get := func(s memory.Slice[uint32]) []uint32 {
		host, err := s.Host()
		failures = append(failures, err)
		if len(host) == 0 {
			return nil
		}
		return host
	}
	h.listed = get(a.listed)
	if a.partitionRuns != nil {
		h.partitions, h.partitionBegins = get(a.partitionRuns.Numbers), get(a.partitionRuns.Begins)
	}
	if a.peerRuns != nil {
		h.peers, h.peerBegins = get(a.peerRuns.Numbers), get(a.peerRuns.Begins)
	}
	counted, err := a.counted.Host()
	if len(counted) > 0 {
		h.n = int(min(max(counted[0], 0), int64(a.rows)))
	}
	return h, errors.Join(append(failures, err)...)
}

func (h *hostRows) row(place int) int {
	if h.listed == nil {
		return place
	}
	return int(h.listed[place])
}

// bounds returns the places of the partition of a place.
func (h *hostRows) bounds(place int) (begin, end int) {
	if h.partitions == nil {
		return 0, h.n
	}
	p := h.partitions[place]
	return int(h.partitionBegins[p]), int(h.partitionBegins[p+1])
}

// peersOf returns the places of the peers of a place.
func (h *hostRows) peersOf(place int) (begin, end int) {
	if h.peers == nil {
		return h.bounds(place)
	}
	p := h.peers[place]
	return int(h.peerBegins[p]), int(h.peerBegins[p+1])
}

func (h *hostRows) isHead(place int) bool {
	return place == 0 || h.partitions != nil && h.partitions[place] != h.partitions[place-1]
}

// hostFrame is a framing in memory of the processor.
type hostFrame struct {
	lows, highs []uint32
	low, high   int
}

func (f *framing) host() (hostFrame, error) {
	lows, lowsErr := f.lows.Host()
	highs, highsErr := f.highs.Host()
	return hostFrame{lows, highs, int(f.low), int(f.high)}, errors.Join(lowsErr, highsErr)
}

// bounds returns the places of the frame of a row.
func (f *hostFrame) bounds(h *hostRows, place int) (first, end int) {
	if len(f.lows) > 0 {
		return int(f.lows[place]), int(f.highs[place])
	}
	begin, limit := h.bounds(place)
	first = min(max(place+f.low, begin), limit)
	return first, max(min(place+f.high+1, limit), first)
}
