package source

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
	"github.com/gpuframe/gpuframe/memory"
)

// While a table is decoded and the query works on it, a goroutine collects the records of the next
// ones, and copies them to the device on another stream. The host still has them, so the copies are
// given up as soon as other work needs their memory.

const (
	// mostStaged is the number of tables that are copied or wait for the consumer, without the one that is collected.
	mostStaged = 3
	// stagedShare is the part, as a divisor, of the memory which is free that the copy of a table may take.
	stagedShare = 4
	// mostCopied is the number of tables that are copied at a time: the pages of one are planned while the bytes of another
	// one are transferred.
	mostCopied = 2
	// smallerTables is the number of tables at the beginning that are smaller, each half as long as the next one: the
	// device has work while the large ones are read.
	smallerTables = 3
)

// copyStreams are the streams that copy, one for each device, and decompressStreams those that decompress tables, in turn: a
// page takes as long as all pages of a table, so that two tables are decompressed at the same time. They are few, because
// a GPU has eight queues of work for all streams: with eight streams here, a table waited for the copies of later ones. They
// stay, because columns are of them.
var (
	copyStreams       perdevice.Cache[*device.Stream]
	decompressStreams [2]perdevice.Cache[*device.Stream]
)

// staged is the records of a table.
type staged struct {
	records []arrow.Record
	rows    int64
	// copied is the records on the device, or nil, and length the length of the copy.
	copied *tableCopy
	length uint64
	// err is the error of the copy.
	err error
	// whole is set if the records may be copied as one table.
	whole bool
	// number is that of the table.
	number int
	// reclaims is the number of calls of Reclaim before the table was among those that it looks at.
	reclaims int
	// ended is closed when the copy has ended.
	ended chan struct{}
}

// isReady reports whether the copy has ended.
func (s *staged) isReady() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// release gives everything back.
func (s *staged) release() error {
	release.Arrow(s.records)
	return s.copied.Release()
}

// stager stages the tables of a loader. It is the records of that loader.
type stager struct {
	// from collects the records of a table. It loads none.
	from   *loader
	stream *device.Stream
	// most is the number of rows of a table that is not exceeded, or zero, as the consumer has found.
	most int64
	// tables is the number of tables that were collected.
	tables  int
	remove  func() // of the reclaimer
	context context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	waiting []*staged
	// copying is the number of copies that have not ended.
	copying int
	// changed is closed and replaced when waiting, copying or ended changes.
	changed chan struct{}
	// ended is the error of collecting, or io.EOF.
	ended error
	// reclaims counts the calls of Reclaim.
	reclaims int
}

// stage makes a loader take staged tables. The context has the settings of the copies.
func (l *loader) stage(ctx context.Context) error {
	stream, err := copyStreams.Get(l.manager.Device(), (*device.Device).NewStream)
	if err != nil {
		return err
	}
	s := &stager{from: newLoader(l.source, l.manager, l.request, l.schema, l.records), stream: stream, most: l.most, changed: make(chan struct{})}
	s.from.filter = l.filter
	s.context, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.remove = l.manager.AddReclaimer(s)
	l.records = s
	l.take = func(ctx context.Context) (*staged, error) { return s.take(ctx, l.most) }
	s.running.Go(s.run)
	return nil
}

// run collects tables until the consumer stops it.
func (s *stager) run() {
	for {
		next, err := s.collect()
		s.mu.Lock()
		if err == nil {
			next.reclaims = s.reclaims
			s.waiting = append(s.waiting, next)
			s.copying++
			s.running.Go(func() { s.copy(next) })
		} else {
			s.ended = err
		}
		s.change()
		for err == nil && (len(s.waiting) >= mostStaged || s.copying == mostCopied) {
			changed := s.changed
			s.mu.Unlock()
			select {
			case <-changed:
			case <-s.context.Done():
				err = s.context.Err()
			}
			s.mu.Lock()
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// change wakes the goroutines that wait for a change. The caller holds the lock.
func (s *stager) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// collect returns the next table, or io.EOF.
func (s *stager) collect() (*staged, error) {
	l := s.from
	s.mu.Lock()
	l.most = s.most
	s.mu.Unlock()
	l.weight = deviceBytes >> max(0, smallerTables-s.tables)
	s.tables++
	if err := l.collect(s.context); err != nil {
		l.failed = true
		return nil, err
	}
	if len(l.pending) == 0 {
		return nil, io.EOF
	}
	if err := l.unmixed(s.context); err != nil {
		return nil, err
	}
	next := &staged{number: s.tables, records: l.pending, rows: l.pendingRows, length: copyLength(l.pending), ended: make(chan struct{})}
	l.pending, l.pendingRows = nil, 0
	l.rows += next.rows
	next.whole = l.most == 0 || next.rows <= l.most
	return next, nil
}

// copy copies the records of a table, if there is plenty of memory.
func (s *stager) copy(next *staged) {
	l := s.from
	if next.whole && l.manager.Check(stagedShare*next.length) == nil {
		target := l.target(s.stream)
		if target.decompress, next.err = decompressStreams[next.number%len(decompressStreams)].Get(l.manager.Device(), (*device.Device).NewStream); next.err == nil {
			next.copied, next.err = copyTable(s.context, target, next.records)
		}
		if short(next.err) || errors.Is(next.err, delimited.ErrFault) {
			next.err = nil // the consumer tries again
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next.length += next.copied.decompressed()
	if s.reclaims > next.reclaims {
		next.err = errors.Join(next.err, next.copied.Release())
		next.copied = nil
	}
	s.copying--
	close(next.ended)
	s.change()
}

// take gives the loader its next table. most is the number of rows of a table that is not exceeded, or zero.
func (s *stager) take(ctx context.Context, most int64) (next *staged, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = most
	for len(s.waiting) == 0 || !s.waiting[0].isReady() {
		if s.ended != nil && len(s.waiting) == 0 {
			return nil, s.ended
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if err := cancel.Error(ctx); err != nil {
			return nil, err
		}
	}
	next, s.waiting = s.waiting[0], s.waiting[1:]
	s.change()
	return next, nil
}

// Reclaim implements [memory.Reclaimer]: it gives copies up, the last ones first. It waits for the end of those that are
// made: they take spare memory, and do not wait for it.
func (s *stager) Reclaim(ctx context.Context, bytes uint64) (released uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reclaims++
	for i := len(s.waiting) - 1; i >= 0 && released < bytes; i-- {
		next := s.waiting[i]
		if !next.isReady() {
			s.mu.Unlock()
			select {
			case <-next.ended: // and its copy is given up
			case <-ctx.Done():
			}
			s.mu.Lock()
			return released + next.length, err
		}
		if next.copied != nil {
			released += next.length
			err = errors.Join(err, next.copied.Release())
			next.copied = nil
		}
	}
	return released, err
}

// next implements [records]. The loader calls take instead.
func (s *stager) next(context.Context) (arrow.Record, error) { return nil, io.EOF }

// close implements [records].
func (s *stager) close(failed bool) (err error) {
	s.stop()
	s.running.Wait()
	s.remove()
	for _, each := range s.waiting {
		err = errors.Join(err, each.release())
	}
	s.waiting = nil
	s.from.failed = s.from.failed || failed
	return errors.Join(err, s.from.Close())
}

var _ memory.Reclaimer = (*stager)(nil)
