package source

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/memory"
)

// While a table is decoded and the query works on it, a goroutine collects the records of the next
// ones, and copies the bytes of their column chunks or other columns to the device on a stream of its
// own. The host still has these bytes, so the copies are given up as soon as other work needs their memory.

const (
	// mostStaged is the number of tables that wait for the consumer, beside the one that is collected.
	mostStaged = 2
	// stagedShare is the part, as a divisor, of the memory which is free that the copy of a table may take.
	stagedShare = 8
)

// staged is the records of a table.
type staged struct {
	records []arrow.Record
	rows    int64
	// copied is the bytes of their column chunks or packed columns on the device, or nil.
	copied deviceBytesOf
	// err is the error of the copy.
	err error
}

// release gives everything back.
func (s *staged) release() error {
	releaseRecords(s.records)
	return s.drop()
}

// drop gives the copy back.
func (s *staged) drop() error {
	copied := s.copied
	s.copied = nil
	return releaseBytes(copied)
}

// deviceBytesOf is the bytes of records on the device, ready to be decoded.
type deviceBytesOf interface {
	release() error
	// bytes is the memory on the device.
	bytes() uint64
}

// releaseBytes releases bytes of records, which may be nil.
func releaseBytes(copied deviceBytesOf) error {
	if copied == nil {
		return nil
	}
	return copied.release()
}

// stager stages the tables of a loader. It is the records of that loader.
type stager struct {
	// from collects the records of a table. It loads none.
	from    *loader
	stream  *device.Stream
	remove  func() // of the reclaimer
	context context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	waiting []*staged
	// changed is closed and replaced when waiting or ended changes.
	changed chan struct{}
	// ended is the error of collecting, or io.EOF.
	ended error
	// reclaims counts the calls of Reclaim.
	reclaims int
}

// stage makes a loader take staged tables. The context has the settings of the copies.
func (l *loader) stage(ctx context.Context) error {
	stream, err := l.manager.Device().NewStream()
	if err != nil {
		return err
	}
	s := &stager{from: newLoader(l.source, l.manager, l.request, l.schema, l.records), stream: stream, changed: make(chan struct{})}
	s.from.plain = l.plain
	s.context, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.remove = l.manager.AddReclaimer(s)
	l.records, l.take = s, s.take
	s.running.Go(s.run)
	return nil
}

// run collects tables until the consumer stops it.
func (s *stager) run() {
	for {
		next, err := s.collect()
		s.mu.Lock()
		if err == nil {
			s.waiting = append(s.waiting, next)
		} else {
			s.ended = err
		}
		s.change()
		for err == nil && len(s.waiting) > mostStaged {
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

// change wakes those who wait for a change. The caller holds the lock.
func (s *stager) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// collect returns the next table, or io.EOF.
func (s *stager) collect() (*staged, error) {
	l := s.from
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
	next := &staged{records: l.pending, rows: l.pendingRows}
	l.pending, l.pendingRows = nil, 0
	l.rows += next.rows
	if l.most > 0 && next.rows > l.most || !l.plain && !hasChunks(next.records[:1]) && !hasPacked(next.records) {
		return next, nil
	}
	return next, s.copy(next)
}

// copy copies the bytes of column chunks, if there is plenty of memory.
func (s *stager) copy(next *staged) (err error) {
	l, bytes := s.from, int64(0)
	for _, record := range next.records {
		bytes += chunkLength(record) + hostLength(record)
	}
	if uint64(bytes) > l.manager.Stats().Remaining/stagedShare {
		return nil
	}
	s.mu.Lock()
	before := s.reclaims
	s.mu.Unlock()
	if l.plain || hasPacked(next.records) {
		next.copied, next.err = l.beginHost(s.context, next.records, s.stream)
	} else {
		next.copied, next.err = copied(copyChunks(s.context, l.manager, l.schema, next.records, chunks.Options{Tag: l.request.Tag, CopyStream: s.stream}))
	}
	if short(next.err) {
		next.err = nil // the consumer tries again
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reclaims > before {
		err = next.drop()
	}
	return err
}

// copied returns column chunks as bytes of records.
func copied(batch *chunkBatch, err error) (deviceBytesOf, error) {
	if batch == nil {
		return nil, err
	}
	return batch, err
}

// take gives the loader its next table, with its copied column chunks.
func (s *stager) take(ctx context.Context) (next *staged, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting) == 0 {
		if s.ended != nil {
			return nil, s.ended
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if err := cancel.Error(ctx); err != nil && len(s.waiting) == 0 {
			return nil, err
		}
	}
	next, s.waiting = s.waiting[0], s.waiting[1:]
	s.change()
	return next, nil
}

// Reclaim implements [memory.Reclaimer]: it gives the copies up that wait, the last ones first, and the one that is made
// when it is complete.
func (s *stager) Reclaim(_ context.Context, bytes uint64) (released uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reclaims++
	for i := len(s.waiting) - 1; i >= 0 && released < bytes; i-- {
		if s.waiting[i].copied != nil {
			released += s.waiting[i].copied.bytes()
		}
		err = errors.Join(err, s.waiting[i].drop())
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
	return errors.Join(err, s.from.Close(), s.stream.Close())
}

var _ memory.Reclaimer = (*stager)(nil)
