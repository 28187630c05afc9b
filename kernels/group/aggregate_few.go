package group

import (
	"context"
	"errors"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// Few rows are grouped and aggregated by one launch of one block, which writes the whole
// result to one allocation: the time of a small group-by is that of its calls.

// fewRows is one aggregation of few rows.
type fewRows struct {
	call      op.Call
	plan      *plan
	options   *ByOptions
	names     []string
	keys      []*column.Column
	inputs    []*column.Column
	condition *column.Column
	// rows is the number of rows or, if counted has memory, their maximum. groups is the
	// capacity of the result.
	rows, groups int
	counted      memory.Slice[int64]
	computed     []*column.Column
}

// aggregateFew aggregates few rows on a GPU. It reports false for queries that the kernel does not
// support.
func (q Query) aggregateFew(ctx context.Context, p *plan, options *ByOptions) (table *buffer.Buffer, ok bool, err error) {
	known := &facts{tuning: tuningOf(ctx), rows: q.table.Capacity(), oneLaunch: q.mayBeFew(p, options), plan: p}
	if choose(known).name != oneLaunchName {
		return nil, false, nil
	}
	rows, counted, err := q.table.Extent(ctx)
	if err != nil || rows == 0 || rows > mostAggregatedRows {
		return nil, false, err
	}
	f := &fewRows{plan: p, options: options, rows: int(rows), counted: counted, groups: int(rows)}
	if options.MaxGroups > 0 {
		f.groups = int(min(options.MaxGroups, rows))
	}
	table, err = f.aggregate(ctx, q)
	table, err = release.OnError(table, err, release.All(f.computed))
	if err != nil || options.Order != ByKey {
		return table, true, err
	}
	table, err = sortedByKeys(&f.call, table, len(q.keys))
	return table, true, err
}

// mayBeFew reports whether the kernel supports a query and its types.
func (q Query) mayBeFew(p *plan, options *ByOptions) bool {
	if q.table.Device() == nil || q.table.Device().Kind() == device.Host || q.table.Capacity() > mostAggregatedRows ||
		len(q.keys) > mostFewKeys || q.numbered || q.asStates || options.FirstRow > 0 || len(p.outputs) > mostFewOutputs || len(p.accumulators) > mostReaders {
		return false
	}
	for i := range p.outputs {
		if o := &p.outputs[i]; o.method != byState || o.rows >= 0 {
			return false
		}
	}
	for _, in := range p.inputs {
		if in.ranked >= 0 || in.dataType.ID() == arrow.DICTIONARY {
			return false
		}
	}
	if !q.where.IsZero() {
		if t, _, err := q.where.Type(q.table.Schema()); err != nil || layout.Storage(t).ID() != arrow.BOOL {
			return false
		}
	}
	for _, key := range q.keys {
		t, _, err := key.typeIn(q.table.Schema())
		if err != nil || !isFewKey(t) {
			return false
		}
	}
	return true
}

// isFewKey reports whether values of a type are numbers of at most 64 bits.
func isFewKey(t arrow.DataType) bool {
	l, err := layout.Of(t)
	if err != nil || l.Kind != layout.Fixed && l.Kind != layout.Bits {
		return false
	}
	stored := formOf(l)
	return stored != fromNothing && stored != fromDecimal
}

// load finds the columns of keys, inputs and the condition. Those that are not columns of the
// table are computed by one launch.
func (f *fewRows) load(ctx context.Context, q Query) error {
	var expressions []expr.Expr
	var targets []**column.Column
	find := func(e expr.Expr, to **column.Column) error {
		if name, ok := plainColumn(e); ok {
			var err error
			*to, err = q.table.ColumnByName(name)
			return err
		}
		expressions, targets = append(expressions, e), append(targets, to)
		return nil
	}
	f.keys, f.inputs = make([]*column.Column, len(q.keys)), make([]*column.Column, len(f.plan.inputs))
	for i, key := range q.keys {
		f.names = append(f.names, key.name(i))
		if key.Values != nil {
			f.keys[i] = key.Values
		} else if err := find(key.expression(), &f.keys[i]); err != nil {
			return err
		}
	}
	for i := range f.plan.inputs {
		if err := find(f.plan.inputs[i].expression, &f.inputs[i]); err != nil {
			return err
		}
	}
	if !q.where.IsZero() {
		if err := find(q.where, &f.condition); err != nil {
			return err
		}
	}
	if len(expressions) == 0 {
		return nil
	}
	options := f.options.Options
	options.Tag = op.ScratchTag
	var err error
	f.computed, err = expr.Evaluate(ctx, q.table, expressions, options)
	for i, c := range f.computed {
		*targets[i] = c
	}
	return err
}

// aggregate returns the groups in the order of their first rows.
func (f *fewRows) aggregate(ctx context.Context, q Query) (*buffer.Buffer, error) {
	if err := f.load(ctx, q); err != nil {
		return nil, err
	}
	columns := make([]*column.Column, 0, len(f.keys)+len(f.inputs)+1)
	columns = append(append(columns, f.keys...), f.inputs...)
	if f.condition != nil {
		columns = append(columns, f.condition)
	}
	var err error
	if f.call, err = op.Begin(ctx, f.options.Options, columns...); err != nil {
		return nil, err
	}
	if err := f.call.OrderBehind(f.counted.Block()); err != nil {
		return nil, err
	}
	f.plan.share(func(i int) bool { return op.Nullable(f.inputs[i]) })
	return f.compute()
}

// results describes the columns of the result.
func (f *fewRows) results() []op.Result {
	list := make([]op.Result, 0, len(f.keys)+len(f.plan.outputs))
	for _, key := range f.keys {
		list = append(list, op.Result{Type: key.Type(), Length: f.groups, Nullable: op.Nullable(key)})
	}
	for i := range f.plan.outputs {
		o := &f.plan.outputs[i]
		list = append(list, op.Result{Type: o.dataType, Length: f.groups, Nullable: o.nullable})
	}
	return list
}

// compute allocates the result, launches the kernel and makes the table.
func (f *fewRows) compute() (*buffer.Buffer, error) {
	results := f.results()
	sizes := make([]uint64, 1, 1+2*len(results))
	sizes[0] = 8 // the number of groups
	for _, r := range results {
		each := r.Sizes()
		sizes = append(sizes, each[:]...)
	}
	block, buffers, err := f.call.Allocate(sizes...)
	if err != nil {
		return nil, err
	}
	var table *buffer.Buffer
	if err = f.launch(buffers); err == nil {
		table, err = f.table(results, buffers)
	}
	return release.OnError(table, err, block.Release())
}

// table makes the result of its buffers.
func (f *fewRows) table(results []op.Result, buffers []memory.Slice[uint8]) (*buffer.Buffer, error) {
	word, err := memory.Reinterpret[int64](buffers[0])
	if err != nil {
		return nil, err
	}
	count, err := column.NewRowCount(word, int64(f.groups))
	if err != nil {
		return nil, err
	}
	columns, fields := make([]*column.Column, 0, len(results)), make([]arrow.Field, len(results))
	for i, r := range results {
		data := column.Data{Type: r.Type, Length: r.Length, Rows: count, Buffers: buffers[1+2*i : 3+2*i]}
		if r.Nullable {
			data.NullCount = column.UnknownNullCount
		}
		var c *column.Column
		if c, err = column.New(data); err != nil {
			break
		}
		columns = append(columns, c)
		fields[i] = arrow.Field{Type: r.Type, Nullable: true}
		if i < len(f.names) {
			fields[i].Name = f.names[i]
			continue
		}
		o := &f.plan.outputs[i-len(f.names)]
		fields[i].Name, fields[i].Nullable = o.aggregate.Name(), o.nullable
	}
	var result *buffer.Buffer
	if err == nil {
		result, err = op.Table(arrow.NewSchema(fields, nil), columns, buffer.Rows{Count: int64(f.groups), Shared: count})
	}
	return release.OnError(result, err, release.All(columns), count.Release())
}

// fewArguments are the arguments of a launch.
type fewArguments struct {
	layout fewLayout
	words  kernels.Words
}

// reusedArguments are reused, because they are some 10,000 bytes.
var reusedArguments = sync.Pool{New: func() any { return new(fewArguments) }}

// launch launches the kernel with the buffers of the result. States that may not fit in shared
// memory get memory of their own.
func (f *fewRows) launch(buffers []memory.Slice[uint8]) (err error) {
	readers := make([]reader, len(f.plan.accumulators))
	words := 0
	for i, a := range f.plan.accumulators {
		if readers[i], err = readerOf(&f.call, a, func(number int) (*column.Column, error) { return f.inputs[number], nil }); err != nil {
			return err
		}
		words += a.words()
	}
	limit, err := f.call.Stream.Device().Attribute(backend.MaxSharedMemoryPerBlockOptIn)
	if err != nil {
		return err
	}
	slots := 64
	for slots < 2*f.rows {
		slots *= 2
	}
	shared := max(4*slots, min(8*words*f.groups, limit-fewStaticShared)) &^ 7
	var states memory.Slice[uint8]
	if shared < 8*words*f.groups {
		block, scratch, err := f.call.Scratch(8 * uint64(words*f.groups))
		if err != nil {
			return err
		}
		states = scratch[0]
		defer func() { err = errors.Join(err, block.Release()) }()
	}
	kernel, err := f.call.Kernel(&aggregateSet, "aggregate_few", "aggregate_few")
	if err != nil {
		return err
	}
	arguments := reusedArguments.Get().(*fewArguments)
	defer func() {
		arguments.layout = fewLayout{}
		arguments.words.Reset()
		reusedArguments.Put(arguments)
	}()
	l := &arguments.layout
	l.words, l.room, l.slots, l.states = uint32(words), uint32(shared/8), uint32(slots), states
	if err := f.fill(l, readers, buffers); err != nil {
		return err
	}
	l.addTo(&arguments.words)
	threads := min((f.rows+31)/32*32, fewThreads)
	return kernel.Launch(f.call.Stream, device.Dim3{X: 1}, device.Dim3{X: uint32(threads)}, uint32(shared), f.counted, int64(f.rows), &arguments.words)
}

// fill writes the columns and the aggregates to the layout.
func (f *fewRows) fill(l *fewLayout, readers []reader, buffers []memory.Slice[uint8]) error {
	l.keys, l.readers, l.outputs = uint32(len(f.keys)), uint32(len(readers)), uint32(len(f.plan.outputs))
	l.dropsNulls, l.conditional = kernelset.Flag(f.options.Nulls == DropNulls), uint64(kernelset.Flag(f.condition != nil))
	l.groups, l.count = uint64(f.groups), buffers[0]
	if f.condition != nil {
		condition, err := sourceOf(&f.call, f.condition)
		if err != nil {
			return err
		}
		l.condition = condition.layout()
	}
	for i, key := range f.keys {
		s, err := sourceOf(&f.call, key)
		if err != nil {
			return err
		}
		l.key[i] = fewKeyLayout{source: s.layout(), values: buffers[2+2*i], valid: buffers[1+2*i]}
	}
	offsets, offset := make([]int, len(readers)), 0
	for i := range readers {
		r := &readers[i]
		l.twoStages |= kernelset.Flag(r.twoStages())
		l.reader[i], offsets[i] = r.layout(offset), offset
		offset += r.words()
	}
	for i := range f.plan.outputs {
		o := &f.plan.outputs[i]
		stored, isSigned, least, err := f.plan.form(o)
		if err != nil {
			return err
		}
		to := &l.output[i]
		*to = fewOutputLayout{
			finish: uint32(o.finish), form: uint32(stored), isSigned: kernelset.Flag(isSigned), least: kernelset.Flag(least), counted: kernelset.Flag(o.counted), states: uint32(len(o.states)),
			argument: max(uint64(o.freedom), o.factor), // a step has one of them
			values:   buffers[2+2*(len(f.keys)+i)], valid: buffers[1+2*(len(f.keys)+i)],
		}
		for j, state := range o.states {
			to.offsets |= uint64(offsets[state]) << (8 * j)
			to.lengths |= uint32(readers[state].words()) << (4 * j)
		}
	}
	return nil
}

// sortedByKeys sorts a result by its first columns, and releases it.
func sortedByKeys(call *op.Call, table *buffer.Buffer, columns int) (*buffer.Buffer, error) {
	keys := make([]order.Key, columns)
	for i := range keys {
		keys[i].Values = table.Column(i)
	}
	options := kernels.Options{Stream: call.Stream, Manager: call.Manager, Tag: call.Tag}
	sorted, err := order.Sort(call.Context(), table, keys, options)
	return release.OnError(sorted, err, table.Release())
}
