package objectstore

import (
	"context"
	"math/bits"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// HedgeVariable names the environment variable that switches second requests off, by the value "off": see [Retry].
const HedgeVariable = "GPUFRAME_OBJECT_HEDGES"

const (
	// latest is the number of reads of a size of which times are kept, and fewest the number that is needed.
	latest, fewest = 64, 16
	// hedgeShare is the part of the reads, as a divisor, that have a second request at most.
	hedgeShare = 32
	// lateFactor is how many times longer than nearly all others a read takes before the second request.
	lateFactor = 2
	// usualHedgeAfter is the least time before a second request.
	usualHedgeAfter = 250 * time.Millisecond
)

// latencies are the times of the latest reads of a store. Reads of similar lengths are compared.
type latencies struct {
	mu      sync.Mutex
	classes [sizeClasses]latencyClass
	// reads have ended, and hedged had a second request.
	reads, hedged int64
}

// latencyClass has the times of reads of similar lengths.
type latencyClass struct {
	times []time.Duration // the next one replaces times[next]
	next  int
}

// sizeClasses is the number of classes: to 64 KiB, and for each power of four above.
const sizeClasses = 6

func sizeClass(bytes int) int {
	return min(max(0, (bits.Len64(uint64(max(0, bytes-1)))-16+1)/2), sizeClasses-1)
}

// add notes a read.
func (l *latencies) add(bytes int, time time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	c := &l.classes[sizeClass(bytes)]
	if len(c.times) < latest {
		c.times = append(c.times, time)
		return
	}
	c.times[c.next] = time
	c.next = (c.next + 1) % latest
}

// late returns the time after which a read takes much longer than others, or false if too few are known.
func (l *latencies) late(bytes int, least time.Duration) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := slices.Clone(l.classes[sizeClass(bytes)].times)
	if len(times) < fewest {
		return 0, false
	}
	slices.Sort(times)
	return max(least, lateFactor*times[len(times)*19/20]), true
}

// take reports whether a second request may be sent, and counts it.
func (l *latencies) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if (l.hedged+1)*hedgeShare > l.reads {
		return false
	}
	l.hedged++
	return true
}

// readHedged reads a range by one request, or by a second one if the first one takes long: the first answer counts, and the other
// request is cancelled. It returns when both have ended.
func (r *retrying) readHedged(ctx context.Context, object Object, into []byte, offset int64) error {
	begin := time.Now()
	after, ok := r.latencies.late(len(into), r.retry.HedgeAfter)
	if !ok || r.retry.HedgeAfter < 0 || strings.EqualFold(os.Getenv(HedgeVariable), "off") {
		err := r.store.ReadRange(ctx, object, into, offset)
		if err == nil {
			r.latencies.add(len(into), time.Since(begin))
		}
		return err
	}
	first := r.begin(ctx, object, into, offset)
	defer first.end()
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-first.ended:
		return first.err
	case <-timer.C:
	}
	if !r.latencies.take() {
		<-first.ended
		return first.err
	}
	if tally := tallyOf(ctx); tally != nil {
		tally.Hedges.Add(1)
	}
	second := r.begin(ctx, object, make([]byte, len(into)), offset)
	defer second.end()
	select {
	case <-first.ended:
		if first.err == nil || !temporary(first.err) {
			return first.err
		}
		<-second.ended
	case <-second.ended:
		if second.err != nil {
			<-first.ended
			return first.err
		}
	}
	if second.err != nil {
		return first.err
	}
	first.end() // before its slice is written
	copy(into, second.into)
	return nil
}

// flight is a request for a range that has begun.
type flight struct {
	into  []byte
	ended chan struct{} // closed when err is set
	err   error
	stop  context.CancelFunc
}

func (r *retrying) begin(ctx context.Context, object Object, into []byte, offset int64) *flight {
	f := &flight{into: into, ended: make(chan struct{})}
	ctx, f.stop = context.WithCancel(ctx)
	go func() {
		defer close(f.ended)
		begin := time.Now()
		if f.err = r.store.ReadRange(ctx, object, into, offset); f.err == nil {
			r.latencies.add(len(into), time.Since(begin))
		}
	}()
	return f
}

// end cancels the request and waits for its end.
func (f *flight) end() {
	f.stop()
	<-f.ended
}
