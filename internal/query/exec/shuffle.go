package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// shuffle moves the rows of a fragment, by a hash or by ranges of keys, to the devices of another
// fragment. All rows move before the first one is read; the tables move to host memory while memory
// is short.
type shuffle struct {
	below *fragment
	// keys are those of a hash, ranges those of ranges.
	keys   []expr.Expr
	ranges *ranges
	// amount, if it is not nil, finds out whether the rows are few.
	amount *amount

	mu   sync.Mutex
	done bool
	err  error
	// transfers has, for each device that rows come from and each that they move to, the tables and
	// their ordinals.
	transfers [][]transfer
	// ready has the tables of each destination, in order, and firsts the number of the rows of the
	// destinations before.
	ready  [][]transferTable
	firsts []int64
}

// transfer is the tables that move from one device to another.
type transfer struct {
	orderedTables
	rows int64
}

// transferTable is a table of a transfer.
type transferTable struct {
	heldTable
	at ordinal
}

// shuffle returns a reader of the rows that move to the worker's device.
func (w *worker) shuffle(ctx context.Context, base *stage, n *plan.Exchange) (buffer.Reader, error) {
	f, number := w.fragment, w.shuffles
	w.shuffles++
	if number == len(f.shuffles) {
		below, err := f.opener.gather(ctx, &stage{node: n, settings: f.settings, bounds: f.bounds}, n)
		if err != nil {
			return nil, err
		}
		s := &shuffle{below: below, keys: n.Keys()}
		if n.Kind() == plan.Ranges {
			s.ranges = newRanges(below, n.SortKeys())
		} else if few := f.settings.FewRows; few > 0 && !n.Paired() {
			s.amount = newAmount(len(below.workers), few)
		}
		f.shuffles = append(f.shuffles, s)
	}
	// The rows of each device have an ordinal before those of the next one.
	return &shuffled{stage: base, source: f.shuffles[number], ordinal: ordinal{w.newInput(), int64(w.number)}}, nil
}

// run moves all rows, if no other worker has.
func (s *shuffle) run(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return s.err
	}
	s.done = true
	workers := s.below.workers
	for range workers {
		transfers := make([]transfer, len(workers))
		for to, w := range workers {
			transfers[to].held = s.below.holdOn(w)
		}
		s.transfers = append(s.transfers, transfers)
	}
	switch {
	case s.ranges != nil:
		s.err = s.ranges.move(ctx, s)
	case s.amount != nil:
		s.err = s.below.each(ctx, s.sendFew)
	default:
		s.err = s.below.each(ctx, s.send)
	}
	s.order()
	return s.err
}

// holdOn returns an empty sequence of tables on the device of a worker.
func (f *fragment) holdOn(w *worker) *held {
	return &held{stage: &stage{node: f.node, settings: w.settings}}
}

// each calls a function for all workers at a time. The first error ends the others.
func (f *fragment) each(ctx context.Context, call func(context.Context, *worker) error) error {
	ctx, stop := cancel.Endable(ctx)
	defer stop(nil)
	var running sync.WaitGroup
	var failing sync.Once
	var failure error
	for _, w := range f.workers {
		running.Go(func() {
			if err := call(ctx, w); err != nil {
				failing.Do(func() {
					failure = f.holdOn(w).failed(unended(err))
					stop(failure)
				})
			}
		})
	}
	running.Wait()
	return failure
}

// send moves all rows of a worker by hashes.
func (s *shuffle) send(ctx context.Context, w *worker) error {
	return w.all(ctx, func(table *buffer.Buffer) error { return s.sendTable(ctx, w, table, w.at) })
}

// sendTable moves the rows of a table, which it takes over, by hashes.
func (s *shuffle) sendTable(ctx context.Context, w *worker, table *buffer.Buffer, at ordinal) error {
	var rest pieces
	rest.push(table)
	err := rest.all(ctx, func(piece *buffer.Buffer) error {
		divided, err := exchange.PartitionByHash(ctx, piece, s.keys, len(s.transfers), kernels.Options{Manager: w.settings.Manager, Tag: w.settings.Tag})
		if err != nil {
			return err
		}
		return s.divide(ctx, w, divided, at)
	})
	return errors.Join(err, rest.Release())
}

// sendFirst moves the rows of a table, which it takes over, to the first device.
func (s *shuffle) sendFirst(ctx context.Context, w *worker, table *buffer.Buffer, at ordinal) error {
	var rest pieces
	rest.push(table)
	err := rest.all(ctx, func(piece *buffer.Buffer) error {
		if err := piece.Retain(); err != nil {
			return err
		}
		divided := make([]*buffer.Buffer, len(s.transfers))
		divided[0] = piece
		return s.divide(ctx, w, divided, at)
	})
	return errors.Join(err, rest.Release())
}

// sendFew moves all rows of a worker: to the first device if all workers together have few, otherwise
// by hashes. It keeps tables until that is known.
func (s *shuffle) sendFew(ctx context.Context, w *worker) (err error) {
	kept := &orderedTables{held: s.below.holdOn(w)}
	defer func() { err = errors.Join(err, kept.Release()) }()
	err = w.all(ctx, func(table *buffer.Buffer) error {
		rows, err := table.NumRows(ctx)
		if err != nil {
			return errors.Join(err, table.Release())
		}
		if s.amount.add(rows) {
			return kept.keep(ctx, table, w.at)
		}
		if err := kept.each(ctx, func(table *buffer.Buffer, at ordinal) error { return s.sendTable(ctx, w, table, at) }); err != nil {
			return errors.Join(err, table.Release())
		}
		return s.sendTable(ctx, w, table, w.at)
	})
	if err != nil {
		return err
	}
	few, err := s.amount.end(ctx)
	if err != nil {
		return err
	}
	return kept.each(ctx, func(table *buffer.Buffer, at ordinal) error {
		if few {
			return s.sendFirst(ctx, w, table, at)
		}
		return s.sendTable(ctx, w, table, at)
	})
}

// all calls a function with each table that a worker makes, which takes it over.
func (w *worker) all(ctx context.Context, call func(*buffer.Buffer) error) error {
	for {
		table, err := w.next(ctx)
		if err == errEnd {
			return nil
		}
		if err == nil && table != nil {
			err = call(table)
		}
		if err != nil {
			return err
		}
	}
}

// divide moves the parts of a table, which it takes over; those without rows may be nil. If memory
// is short, it moves none.
func (s *shuffle) divide(ctx context.Context, w *worker, divided []*buffer.Buffer, at ordinal) error {
	moved, err := s.moved(ctx, w, divided)
	if err != nil {
		return errors.Join(err, release.All(divided))
	}
	if err := release.All(divided); err != nil {
		return errors.Join(err, release.All(moved))
	}
	for to, p := range moved {
		if p == nil {
			continue
		}
		sent := &s.transfers[w.number][to]
		rows, err := p.NumRows(ctx)
		if err != nil {
			return errors.Join(sent.failed(err), release.All(moved[to:]))
		}
		sent.rows += rows
		if err := sent.keep(ctx, p, at); err != nil {
			return errors.Join(begunError{sent.failed(fmt.Errorf("hold a part: %w", err))}, release.All(moved[to+1:]))
		}
	}
	return nil
}

// moved returns the parts of a table on the devices that they move to. The part that stays is copied
// if it keeps the memory of the parts that leave; this comes first, as it would wait for the copies to
// the others.
func (s *shuffle) moved(ctx context.Context, w *worker, divided []*buffer.Buffer) ([]*buffer.Buffer, error) {
	parts, managers := slices.Clone(divided), make([]*memory.Manager, len(divided))
	for to, receiver := range s.below.workers {
		managers[to] = receiver.settings.Manager
		if p := parts[to]; p != nil {
			if rows, known := p.HostRows(); known && rows == 0 {
				parts[to] = nil
			}
		}
	}
	own := parts[w.number]
	if own != nil {
		err := own.Retain()
		if err == nil {
			own, err = Exact(ctx, own, w.settings)
		}
		if err != nil {
			return nil, s.transfers[w.number][w.number].failed(err)
		}
	}
	parts[w.number] = nil
	moved, err := w.settings.Scatter(ctx, parts, managers)
	if err != nil {
		for to, m := range managers {
			if destination := new(exchange.DestinationError); errors.As(err, &destination) && destination.Device == m.Device().Name() {
				err = s.transfers[w.number][to].failed(err)
			}
		}
		return nil, errors.Join(err, own.Release())
	}
	moved[w.number] = own
	return moved, nil
}

// order makes the sequence of the tables of each destination.
func (s *shuffle) order() {
	s.ready, s.firsts = make([][]transferTable, len(s.transfers)), make([]int64, len(s.transfers))
	for _, from := range s.transfers {
		for to := range from {
			for after := to + 1; after < len(from); after++ {
				s.firsts[after] += from[to].rows
			}
			for i, table := range from[to].tables {
				s.ready[to] = append(s.ready[to], transferTable{table, from[to].at[i]})
			}
			from[to].tables = nil
		}
	}
	for _, list := range s.ready {
		slices.SortStableFunc(list, func(a, b transferTable) int {
			return cmp.Or(cmp.Compare(a.at.input, b.at.input), cmp.Compare(a.at.batch, b.at.batch))
		})
	}
}

// take returns the next table of a destination, or io.EOF.
func (s *shuffle) take(ctx context.Context, to int) (*buffer.Buffer, error) {
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	list := s.ready[to] // only the worker of the destination changes it
	if len(list) == 0 {
		return nil, errEnd
	}
	table, err := acquired(ctx, list[0])
	if err != nil {
		return nil, err
	}
	s.ready[to] = list[1:]
	return release.OnError(table, list[0].Release())
}

// close releases the tables that were not read. No worker runs.
func (s *shuffle) close() error {
	var err error
	for _, list := range s.ready {
		err = errors.Join(err, release.All(list))
	}
	s.ready = nil
	return errors.Join(err, s.ranges.Release(), s.below.Close())
}

// shuffled reads what has moved to one device.
type shuffled struct {
	*stage
	source  *shuffle
	ordinal ordinal
}

// Next implements buffer.Reader.
func (s *shuffled) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := s.source.take(ctx, s.worker.number)
	if err == nil || err == errEnd {
		s.worker.reach(s.ordinal, s.source.firsts[s.worker.number])
	}
	return table, s.failed(err)
}
