package exec

import (
	"context"
	"errors"
	"sync"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// fragment is the part of a plan below a gathering, an all-gather or a shuffle. Each device has a
// worker, which runs the fragment on its batches of the sources. As the reader of a gathering it yields
// the tables of all workers in the order of the batches, in memory of the first device, and the workers
// make up to two tables in advance; so they do for an all-gather, which takes the tables on their
// devices. A shuffle runs the workers itself.
//
// Batches are dealt to the devices in turns, so each device has the same ones in each run. A
// fragment has operations that make of a table one or more, and read no further table before; so
// a table belongs to the batch that a scan has yielded last. A join that divides its sides while
// memory is short is an exception, and its rows have no order on one device either.
type fragment struct {
	*stage
	opener  *opener
	workers []*worker
	scans   []*dividedSource
	// broadcasts are the tables that all workers read, and shuffles those that each reads a part
	// of, in the order in which the workers open them.
	broadcasts []*broadcast
	shuffles   []*shuffle
	// beginning starts the work below the broadcasts that begin early, once.
	beginning sync.Once

	// mu guards the ordinals of the workers and the tallies. moved reports changes.
	mu    sync.Mutex
	moved signal
	// tallies count the rows of the numberings, in the order in which the workers open them.
	tallies []*tally

	stop    context.CancelCauseFunc
	running sync.WaitGroup
	// failure is the first error of a worker. broken is closed when it is set.
	fail    sync.Once
	failure error
	broken  chan struct{}
	// moving are tables of other devices.
	moving pieces
}

// worker runs a fragment on one device.
type worker struct {
	fragment *fragment
	number   int
	settings Settings
	reader   buffer.Reader
	// scans, broadcasts, shuffles and tallies count those that were opened, inputs the scans and
	// shuffles.
	scans, broadcasts, shuffles, tallies, inputs int
	// at is the ordinal of the table that a scan has yielded last. No later one has an ordinal before it.
	// first is the number of the first row of the table among all rows of the scan or the shuffle.
	at    ordinal
	first int64
	// done is set at the end of the reader, yielding while a table waits to be taken, and stopped if
	// an operation has ended before its input.
	done, yielding, stopped bool
	// yielded, if it is not nil, has the ordinal of the table that the reader has yielded last: that
	// of an operation that yields tables after it has read all of its input.
	yielded *ordinal
	// tables are the results. The channel is closed at the end, also after an error.
	tables chan orderedTable
	// head, if its table is not nil, was received from tables.
	head  orderedTable
	ended bool
}

// ordinal orders tables: by the scan or the shuffle, for a union, and by the number of a scan's batch.
type ordinal struct {
	input int
	batch int64
}

func (o ordinal) before(p ordinal) bool {
	return o.input < p.input || o.input == p.input && o.batch < p.batch
}

// reach notes the ordinal of a table, and the number of its first row. A join reads its right side
// first, which may have a later ordinal than the left one: then the ordinal stays.
func (w *worker) reach(at ordinal, first int64) {
	f := w.fragment
	f.mu.Lock()
	defer f.mu.Unlock()
	if at.before(w.at) {
		return
	}
	w.at, w.first = at, first
	f.moved.notify()
}

// change calls a function with the lock of the fragment, and reports the change.
func (f *fragment) change(call func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	call()
	f.moved.notify()
}

// orderedTable is a table and its ordinal.
type orderedTable struct {
	table *buffer.Buffer
	at    ordinal
}

// openExchange opens an exchange. All but a gathering are in a fragment. What is below has other openers.
func openExchange(ctx context.Context, o *opener, base *stage, node plan.Node) (buffer.Reader, error) {
	n := node.(*plan.Exchange)
	switch n.Kind() {
	case plan.Broadcast, plan.AllGather:
		return o.worker.broadcast(ctx, base, n)
	case plan.Shuffle, plan.Ranges:
		return o.worker.shuffle(ctx, base, n)
	}
	f, err := o.gather(ctx, base, n)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// gather opens a fragment on all devices.
func (o *opener) gather(ctx context.Context, base *stage, n *plan.Exchange) (*fragment, error) {
	f := &fragment{stage: base, opener: o, broken: make(chan struct{})}
	members := append([]Member{{o.settings.Manager, o.settings.Spilling}}, o.settings.Others...)
	for i, m := range members {
		w := &worker{fragment: f, number: i, settings: o.settings, tables: make(chan orderedTable, 1)}
		w.settings.Manager, w.settings.Spilling, w.settings.Working = m.Manager, m.Spilling, nil
		own := opener{settings: w.settings, worker: w, parents: o.parents, bounds: o.bounds}
		reader, err := own.open(ctx, n.Input())
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		w.reader = reader
		f.workers = append(f.workers, w)
	}
	return f, nil
}

// Next implements buffer.Reader.
func (f *fragment) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := f.next(ctx)
	return table, f.failed(err)
}

func (f *fragment) next(ctx context.Context) (*buffer.Buffer, error) {
	if f.moving.isEmpty() {
		w, table, err := f.take(ctx)
		if err != nil || w.number == 0 {
			return table, err
		}
		f.moving.push(table)
	}
	moved, err := f.moving.next(ctx, func(piece *buffer.Buffer) (*buffer.Buffer, error) {
		return f.settings.Move(ctx, piece, f.settings.Manager)
	})
	return moved, unended(err)
}

// take returns the next table, and the worker that has made it on its device.
func (f *fragment) take(ctx context.Context) (*worker, *buffer.Buffer, error) {
	if f.stop == nil {
		f.start(ctx)
	}
	w, err := f.first(ctx)
	if err != nil {
		return nil, nil, err
	}
	table := w.head.table
	w.head.table = nil
	return w, table, nil
}

// start starts the workers. They end with the context, or by stop.
func (f *fragment) start(ctx context.Context) {
	ctx, f.stop = cancel.Endable(ctx)
	for _, w := range f.workers {
		f.running.Go(func() { w.run(ctx) })
	}
}

// first waits for the worker with the table that comes first and returns it, or io.EOF.
func (f *fragment) first(ctx context.Context) (*worker, error) {
	bounds := make([]ordinal, len(f.workers))
	for {
		f.mu.Lock()
		moved := f.moved.next()
		for i, w := range f.workers {
			bounds[i] = w.at
		}
		f.mu.Unlock()
		first, err := f.poll(bounds)
		if first != nil || err != nil {
			return first, err
		}
		select {
		case <-moved:
		case <-f.broken:
		case <-ctx.Done():
			return nil, cancel.Error(ctx)
		}
	}
}

// poll returns the worker with the table that comes first, if that is known: of the workers without
// a table, those with a higher bound have no earlier one. At the end of all the error is io.EOF.
func (f *fragment) poll(bounds []ordinal) (first *worker, err error) {
	ended := true
	for _, w := range f.workers {
		w.receive()
		ended = ended && w.ended
		if w.head.table != nil && (first == nil || w.head.at.before(first.head.at)) {
			first = w
		}
	}
	select {
	case <-f.broken:
		return nil, f.failure
	default:
	}
	if ended && first == nil {
		return nil, errEnd
	}
	for i, w := range f.workers {
		waits := w.head.table == nil && !w.ended
		if first == nil || waits && (w.yielded != nil || !first.head.at.before(bounds[i])) {
			return nil, nil
		}
	}
	return first, nil
}

// receive takes the next table of a worker if there is one, unless it was taken before.
func (w *worker) receive() {
	if w.head.table != nil || w.ended {
		return
	}
	select {
	case head, ok := <-w.tables:
		w.head, w.ended = head, !ok
	default:
	}
}

// run makes all tables of a worker.
func (w *worker) run(ctx context.Context) {
	defer w.fragment.change(func() { close(w.tables) })
	for {
		table, err := w.next(ctx)
		if err == errEnd {
			return
		}
		if err == nil && table == nil {
			continue
		}
		if err == nil {
			if err = w.yield(ctx, orderedTable{table, w.ordinal()}); err == nil {
				continue
			}
			err = errors.Join(err, table.Release())
		}
		w.fragment.abort(err)
		return
	}
}

// yield passes a table on, which stays with the caller after an error.
func (w *worker) yield(ctx context.Context, p orderedTable) error {
	select {
	case w.tables <- p:
		w.fragment.change(func() {})
		return nil
	default:
	}
	w.fragment.change(func() { w.yielding = true })
	select {
	case w.tables <- p:
		w.fragment.change(func() { w.yielding = false })
		return nil
	case <-ctx.Done():
		return cancel.Error(ctx)
	}
}

// ordinal returns the ordinal of the table that the reader has yielded last.
func (w *worker) ordinal() ordinal {
	if w.yielded != nil {
		return *w.yielded
	}
	return w.at
}

// next makes a table, or nil for one without rows.
func (w *worker) next(ctx context.Context) (*buffer.Buffer, error) {
	if err := w.settings.Turns.enter(ctx); err != nil {
		return nil, err
	}
	defer w.settings.Turns.leave()
	table, err := w.reader.Next(ctx)
	if err == errEnd {
		w.fragment.change(func() { w.done = true })
	}
	if err == nil && w.number > 0 {
		// Less moves to the first device.
		table, err = exactToMove(ctx, table, w.settings)
	}
	if err != nil {
		return nil, (&stage{node: w.fragment.node, settings: w.settings}).failed(err)
	}
	if rows, known := table.HostRows(); known && rows == 0 {
		return nil, table.Release()
	}
	return table, nil
}

// abort ends all workers after an error of one.
func (f *fragment) abort(err error) {
	f.fail.Do(func() {
		f.failure = err
		close(f.broken)
		f.stop(err)
	})
}

// Close implements buffer.Reader. It waits for the workers.
func (f *fragment) Close() error {
	failures := []error{f.moving.Release()}
	if f.stop != nil {
		f.stop(nil)
	}
	for _, w := range f.workers {
		if w.head.table != nil {
			failures = append(failures, w.head.table.Release())
			w.head.table = nil
		}
		if f.stop != nil {
			for p := range w.tables {
				failures = append(failures, p.table.Release())
			}
		}
		w.ended = true
	}
	f.running.Wait()
	for _, w := range f.workers {
		failures = append(failures, w.reader.Close())
	}
	f.workers = nil
	for _, s := range f.shuffles {
		failures = append(failures, s.close())
	}
	f.shuffles = nil
	for _, b := range f.broadcasts {
		failures = append(failures, b.close())
	}
	f.broadcasts = nil
	for _, s := range f.scans {
		failures = append(failures, s.close())
	}
	return errors.Join(failures...)
}
