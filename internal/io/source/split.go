package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// Part is one of the readers of [Split].
type Part interface {
	buffer.Reader
	// Batch returns the number of the batch, from 0 and counted over all parts, that the table
	// which Next returned last belongs to, and the number of rows of all batches before it.
	Batch() (number, first int64)
}

// Move copies a table to the memory of a manager on another device. The caller releases the
// result and keeps the table.
type Move func(ctx context.Context, table *buffer.Buffer, m *memory.Manager) (*buffer.Buffer, error)

// Split opens a source once for several managers, at least one. Of the batches of rows that
// [Source].Open would return as tables, part i of n has the batches i, i+n, i+2n, … as tables
// of manager i. A batch may become several tables if memory is short. A table of the device is
// divided into a batch for each part, or those of Request.BatchRows; move copies them to other
// devices. With Request.Stay a table is a batch, or those of Request.BatchRows, of the part with
// its device instead.
//
// The parts may be read concurrently. A part that is read faster than the others leaves their
// batches in host memory, up to two for each, and then waits: see Request.Behind. Without that
// function it leaves any number. Progress receives the sums of all parts. The caller closes all parts.
func Split(ctx context.Context, s Source, managers []*memory.Manager, request Request, move Move) ([]Part, error) {
	if progress := request.Progress; progress != nil {
		request.Progress = nil
		return splitInto(ctx, s, managers, request, move, &total{report: progress})
	}
	return splitInto(ctx, s, managers, request, move, nil)
}

// total adds up the progress of several readers.
type total struct {
	mu          sync.Mutex
	report      func(rows, bytes int64)
	rows, bytes int64
}

// part returns the function that receives the progress of one reader.
func (t *total) part() func(rows, bytes int64) {
	if t == nil {
		return nil
	}
	var knownRows, knownBytes int64
	return func(rows, bytes int64) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.rows, t.bytes = t.rows+rows-knownRows, t.bytes+bytes-knownBytes
		knownRows, knownBytes = rows, bytes
		t.report(t.rows, t.bytes)
	}
}

func splitInto(ctx context.Context, s Source, managers []*memory.Manager, request Request, move Move, progress *total) ([]Part, error) {
	if t, ok := s.(*tables); ok {
		return t.split(ctx, managers, request, move, progress)
	}
	reader, err := s.Open(ctx, managers[0], request)
	if err != nil {
		return nil, err
	}
	from, ok := reader.(*loader)
	if !ok {
		return nil, errors.Join(wrap(s, fmt.Errorf("internal error: a reader of type %T cannot be split: %w", reader, ErrArgument)), reader.Close())
	}
	d := &dealer{from: from, behind: request.Behind, dealt: make([][]batch, len(managers)), taken: make([]chan struct{}, len(managers)), closed: make([]bool, len(managers)), open: len(managers)}
	parts := make([]Part, len(managers))
	for i, m := range managers {
		p := &loaderPart{dealer: d, part: i}
		request.Progress = progress.part()
		p.loader = newLoader(s, m, request, from.schema, p)
		p.loader.take = p.take
		parts[i] = p
	}
	return parts, nil
}

// batch is the records of one table.
type batch struct {
	records []arrow.Record
	rows    int64
	number  int64
	// first is the number of rows of the batches before.
	first int64
}

// mostDealt is the number of batches that wait for a part before the other parts wait for it. It
// is one or more, so that a part that waits has read all batches before those that wait for the other
// part.
const mostDealt = 2

// dealer reads records and deals them to the parts.
type dealer struct {
	mu sync.Mutex
	// from collects the records of a batch. It loads none.
	from   *loader
	behind func(ctx context.Context, reader, slow int, taken <-chan struct{}) (further bool, err error)
	// dealt has, for each part, the batches that it has not taken. taken, if it is not nil, is
	// closed when the part takes the next one.
	dealt  [][]batch
	taken  []chan struct{}
	closed []bool
	next   int64
	open   int
	failed bool
}

// take returns the next batch of a part, or io.EOF.
func (d *dealer) take(ctx context.Context, part int) (batch, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.dealt[part]) == 0 {
		if err := cancel.Error(ctx); err != nil {
			return batch{}, err
		}
		if further, err := d.hold(ctx, part); err != nil {
			return batch{}, err
		} else if !further || len(d.dealt[part]) > 0 { // another part may have read its batch meanwhile
			continue
		}
		if err := d.from.collect(ctx); err != nil {
			return batch{}, err
		}
		if len(d.from.pending) == 0 {
			return batch{}, io.EOF
		}
		b := batch{d.from.pending, d.from.pendingRows, d.next, d.from.rows}
		d.from.rows += b.rows
		d.from.pending, d.from.pendingRows = nil, 0
		to := int(d.next % int64(len(d.dealt)))
		d.next++
		if d.closed[to] {
			release.Arrow(b.records)
			continue
		}
		d.dealt[to] = append(d.dealt[to], b)
	}
	first := d.dealt[part][0]
	d.dealt[part] = d.dealt[part][1:]
	d.notify(part)
	return first, nil
}

// hold waits while mostDealt batches wait for the part that gets the next one. It returns true if the
// caller may read the batch, and false if it looks again. It releases the lock meanwhile.
func (d *dealer) hold(ctx context.Context, part int) (further bool, err error) {
	to := int(d.next % int64(len(d.dealt)))
	if d.behind == nil || len(d.dealt[to]) < mostDealt {
		return true, nil
	}
	if d.taken[to] == nil {
		d.taken[to] = make(chan struct{})
	}
	taken := d.taken[to]
	d.mu.Unlock()
	defer d.mu.Lock()
	return d.behind(ctx, part, to, taken)
}

// notify reports that a part has taken a batch, or takes none any more.
func (d *dealer) notify(part int) {
	if d.taken[part] != nil {
		close(d.taken[part])
		d.taken[part] = nil
	}
}

// leave ends a part. The last one closes the records.
func (d *dealer) leave(part int, failed bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.dealt[part] {
		release.Arrow(b.records)
	}
	d.dealt[part], d.closed[part] = nil, true
	d.notify(part)
	d.failed = d.failed || failed
	if d.open--; d.open > 0 {
		return nil
	}
	d.from.failed = d.from.failed || d.failed
	return d.from.Close()
}

// loaderPart loads the batches of one part. It is the records of its loader.
type loaderPart struct {
	*loader
	dealer *dealer
	part   int
	// number and first are those of the last batch.
	number, first int64
}

// Batch implements [Part].
func (p *loaderPart) Batch() (number, first int64) { return p.number, p.first }

// take gives the loader its next batch.
func (p *loaderPart) take(ctx context.Context) (*staged, error) {
	b, err := p.dealer.take(ctx, p.part)
	if err != nil {
		return nil, err
	}
	p.number, p.first = b.number, b.first
	return &staged{records: b.records, rows: b.rows}, nil
}

// next implements [records]. The loader calls take instead.
func (p *loaderPart) next(context.Context) (arrow.Record, error) { return nil, io.EOF }

// close implements [records].
func (p *loaderPart) close(failed bool) error { return p.dealer.leave(p.part, failed) }

// split divides the tables. It waits for their numbers of rows.
func (s *tables) split(ctx context.Context, managers []*memory.Manager, request Request, move Move, progress *total) (parts []Part, err error) {
	selected, err := project(s.schema, request.Columns)
	if err != nil {
		return nil, wrap(s, err)
	}
	owners := make([]*tablePart, len(managers))
	for i, m := range managers {
		own := request
		own.Progress = progress.part()
		owners[i] = &tablePart{source: s, manager: m, request: own, schema: selected.schema, counters: request.Counters.or(), move: move}
		parts = append(parts, owners[i])
	}
	defer func() {
		if err != nil {
			for _, p := range owners {
				err = errors.Join(err, p.Close())
			}
			parts, err = nil, wrap(s, err)
		}
	}()
	left, next, first := request.Limit, int64(0), int64(0)
	for i, table := range s.tables {
		owner := -1
		if dev := table.Device(); dev != nil {
			if owner = slices.IndexFunc(managers, func(m *memory.Manager) bool { return dev.Same(m.Device()) }); owner < 0 {
				return parts, otherDevice(i, dev, managers[0])
			}
		}
		rows, err := table.NumRows(ctx)
		if err != nil {
			return parts, err
		}
		if request.Limit > 0 {
			rows = min(rows, left)
			left -= rows
		}
		length := request.BatchRows
		stays := request.Stay && owner >= 0
		switch {
		case length > 0:
		case stays:
			length = max(rows, 1)
		default:
			length = (rows + int64(len(managers)) - 1) / int64(len(managers))
		}
		for at := int64(0); at < rows; at += length {
			slice, err := table.Slice(at, min(length, rows-at))
			if err != nil {
				return parts, fmt.Errorf("table %d: %w", i, err)
			}
			to := owners[next%int64(len(owners))]
			if stays {
				to = owners[owner]
			}
			to.left = append(to.left, numberedSlice{slice, next, first + at})
			next++
		}
		first += rows
	}
	return parts, nil
}

// numberedSlice is rows of a batch, with its number and the number of rows of the batches before.
type numberedSlice struct {
	*buffer.Buffer
	number, first int64
}

// tablePart returns slices of tables, which it copies if they are on another device.
type tablePart struct {
	source   *tables
	manager  *memory.Manager
	request  Request
	schema   *arrow.Schema
	counters *Counters
	move     Move

	mu     sync.Mutex
	closed bool
	left   []numberedSlice
	// number and first are those of the last table's batch. rows were returned.
	number, first, rows int64
}

// Schema implements buffer.Reader.
func (p *tablePart) Schema() *arrow.Schema { return p.schema }

// Batch implements [Part].
func (p *tablePart) Batch() (number, first int64) { return p.number, p.first }

// Next implements buffer.Reader.
func (p *tablePart) Next(ctx context.Context) (*buffer.Buffer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	table, err := p.next(ctx)
	if err != nil && err != io.EOF {
		return nil, wrap(p.source, err)
	}
	return table, err
}

func (p *tablePart) next(ctx context.Context) (*buffer.Buffer, error) {
	if p.closed {
		return nil, fmt.Errorf("the reader is closed: %w", memory.ErrReleased)
	}
	for len(p.left) > 0 {
		if err := cancel.Error(ctx); err != nil {
			return nil, err
		}
		first := p.left[0]
		loaded, err := p.load(ctx, first.Buffer)
		if err == nil {
			return p.returned(ctx, loaded, first)
		}
		if !short(err) {
			return nil, err
		}
		if failure := p.halve(ctx); failure != nil {
			return nil, errors.Join(err, failure)
		}
	}
	return nil, io.EOF
}

// returned counts a table that was made of the first slice, which it releases.
func (p *tablePart) returned(ctx context.Context, table *buffer.Buffer, first numberedSlice) (*buffer.Buffer, error) {
	rows, err := first.NumRows(ctx)
	p.left, p.number, p.first = p.left[1:], first.number, first.first
	if table, err = release.OnError(table, err, first.Release()); err != nil {
		return nil, err
	}
	p.rows += rows
	p.counters.Rows.Add(rows)
	if p.request.Progress != nil {
		p.request.Progress(p.rows, 0)
	}
	return table, nil
}

// load returns the requested columns of a slice in memory of the manager's device.
func (p *tablePart) load(ctx context.Context, slice *buffer.Buffer) (*buffer.Buffer, error) {
	if p.request.Columns == nil {
		return p.local(ctx, slice)
	}
	selected, err := slice.Select(p.request.Columns...)
	if err != nil {
		return nil, err
	}
	loaded, err := p.local(ctx, selected)
	return release.OnError(loaded, err, selected.Release())
}

func (p *tablePart) local(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	if dev := table.Device(); dev == nil || dev.Same(p.manager.Device()) {
		return table, table.Retain()
	}
	return p.move(ctx, table, p.manager)
}

// errFewRows is the error of a slice that is not divided any more.
var errFewRows = errors.New("the table has too few rows to be divided")

// halve divides the first slice into two.
func (p *tablePart) halve(ctx context.Context) error {
	whole := p.left[0]
	rows, err := whole.NumRows(ctx)
	if err != nil {
		return err
	}
	if rows < leastRows {
		return errFewRows
	}
	first, err := whole.Slice(0, rows/2)
	if err != nil {
		return err
	}
	second, err := whole.Slice(rows/2, rows-rows/2)
	if err != nil {
		return errors.Join(err, first.Release())
	}
	p.left = append([]numberedSlice{{first, whole.number, whole.first}, {second, whole.number, whole.first}}, p.left[1:]...)
	return whole.Release()
}

// Close implements buffer.Reader.
func (p *tablePart) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	left := p.left
	p.left = nil
	return release.All(left)
}
