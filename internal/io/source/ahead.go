package source

import (
	"context"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// ahead are the records of a sequence of parts, such as row groups, in order. Parts are
// decoded concurrently, before the consumer needs them: at least two, and more as long as they
// are small.
type ahead struct {
	// parts is the number of parts.
	parts int
	// bytes returns the approximate memory of a part.
	bytes func(part int) int64
	// most is the number of parts and mostBytes the memory that may be in flight.
	most      int
	mostBytes int64
	// decode passes the records of a part to yield, until it fails, yield returns
	// false, or the context is done. It runs on the part's goroutine.
	decode func(ctx context.Context, part int, yield func(arrow.Record) bool) error
	// needed, if it is not nil, is called when the consumer needs the first record, and at the end.
	needed func()
	// closing releases what all parts share, when no part is in flight. It learns
	// whether a part has failed.
	closing func(failed bool) error
	// without, if it is not nil, reports for each part whether its records are left out.
	without []bool

	context context.Context
	stop    context.CancelFunc
	// flights are the parts in flight, the next one of the consumer first.
	flights  []*flight
	started  int
	inFlight int64
	running  sync.WaitGroup
}

// flight is a part that is being decoded.
type flight struct {
	part    int
	bytes   int64
	records chan arrow.Record
	// err is set before records is closed.
	err error
}

func (a *ahead) begin() *ahead {
	a.context, a.stop = context.WithCancel(context.Background())
	return a
}

// fill starts parts, up to the limits, as long as take accepts their memory.
func (a *ahead) fill(take func(bytes int64) bool) {
	for ; a.started < a.parts; a.started++ {
		part := a.started
		if a.leavesOut(part) {
			continue
		}
		bytes := a.bytes(part)
		if n := len(a.flights); n >= a.most || n >= 2 && a.inFlight+bytes > a.mostBytes || !take(bytes) {
			return
		}
		f := &flight{part: part, bytes: bytes, records: make(chan arrow.Record, 1)}
		a.inFlight += bytes
		a.flights = append(a.flights, f)
		a.running.Go(func() {
			defer close(f.records)
			f.err = a.decode(a.context, part, func(record arrow.Record) bool {
				select {
				case f.records <- record:
					return true
				case <-a.context.Done():
					record.Release()
					return false
				}
			})
		})
	}
}

// leavesOut reports whether the records of a part are left out.
func (a *ahead) leavesOut(part int) bool { return a.without != nil && a.without[part] }

// next implements [records].
func (a *ahead) next(ctx context.Context) (arrow.Record, error) {
	if a.needed != nil {
		a.needed()
		a.needed = nil
	}
	for {
		a.fill(func(int64) bool { return true })
		if len(a.flights) == 0 {
			return nil, io.EOF
		}
		first := a.flights[0]
		select {
		case record, ok := <-first.records:
			if ok && a.leavesOut(first.part) {
				record.Release()
				continue
			}
			if ok {
				return record, nil
			}
		case <-ctx.Done():
			return nil, cancel.Error(ctx)
		}
		if first.err != nil && !a.leavesOut(first.part) {
			return nil, first.err
		}
		a.inFlight -= first.bytes
		a.flights = a.flights[1:]
	}
}

// close implements [records]. It waits for the parts in flight.
func (a *ahead) close(failed bool) error {
	a.stop()
	if a.needed != nil {
		a.needed() // goroutines that wait for their turns end
	}
	for _, f := range a.flights {
		for record := range f.records {
			record.Release()
		}
	}
	a.running.Wait()
	for _, f := range a.flights {
		failed = failed || f.err != nil
	}
	return a.closing(failed)
}
