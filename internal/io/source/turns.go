package source

import (
	"container/heap"
	"runtime"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Readahead is what the readers of a query share. It limits the number of goroutines that read and decode at a
// time, and the memory of what is read before a reader's first table is needed. It is safe for concurrent use.
type Readahead struct {
	turns turns

	mu sync.Mutex
	// left is the memory that may still be read early.
	left int64
}

// mostEarly is the memory of what the readers of a query read early.
const mostEarly = 1 << 30

// NewReadahead returns the readahead of a query on the device of a manager. If that is a GPU, an eighth of the processors
// stays free for the goroutines that start its work: they would wait for milliseconds behind those that read.
func NewReadahead(m *memory.Manager) *Readahead {
	processors := runtime.GOMAXPROCS(0)
	if m != nil && m.Device().Kind() != device.Host {
		processors -= processors / 8
	}
	return &Readahead{turns: turns{free: processors}, left: mostEarly}
}

// readerTurns are the turns of one reader.
type readerTurns struct {
	*Readahead
	order readerOrder
	// early is the memory that the reader has taken of that for early reading.
	early int64
}

// reader returns the turns of the next reader.
func (r *Readahead) reader() *readerTurns { return &readerTurns{Readahead: r, order: r.turns.next()} }

// begin waits for the turn of a goroutine that works on a part. Call end afterwards.
func (r *readerTurns) begin(part int) { r.turns.begin(r.order, part) }

func (r *readerTurns) end() { r.turns.end() }

// takeEarly takes memory for early reading, or returns false if too little is left.
func (r *readerTurns) takeEarly(bytes int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes > r.left {
		return false
	}
	r.left, r.early = r.left-bytes, r.early+bytes
	return true
}

// need notes that the reader's tables are needed now: it is ahead of those that read early.
func (r *readerTurns) need() {
	r.turns.need(r.order)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left, r.early = r.left+r.early, 0
}

// turns limits the number of goroutines that work at a time. Of those that wait, the next one is of a reader
// whose tables are needed, of the first such reader, and of its first part: if all parts were read at the same
// speed, the first one would be complete when the last one is.
type turns struct {
	mu      sync.Mutex
	free    int
	readers int
	waiting turnQueue
}

// readerOrder is the place of a reader among others. The lock of the turns guards what it points to.
type readerOrder struct {
	number int
	needed *bool
}

// next returns the order of another reader.
func (t *turns) next() readerOrder {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readers++
	return readerOrder{t.readers, new(bool)}
}

// need moves a reader to the front.
func (t *turns) need(reader readerOrder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !*reader.needed {
		*reader.needed = true
		heap.Init(&t.waiting)
	}
}

// begin waits for the turn of a goroutine.
func (t *turns) begin(reader readerOrder, part int) {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return
	}
	own := turn{reader, part, make(chan struct{})}
	heap.Push(&t.waiting, own)
	t.mu.Unlock()
	<-own.begins
}

// end ends a turn.
func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.free++
		return
	}
	close(heap.Pop(&t.waiting).(turn).begins)
}

// turn is a goroutine that waits.
type turn struct {
	reader readerOrder
	part   int
	begins chan struct{}
}

// before reports whether a turn is ahead of another one.
func (t turn) before(other turn) bool {
	switch {
	case *t.reader.needed != *other.reader.needed:
		return *t.reader.needed
	case t.reader.number != other.reader.number:
		return t.reader.number < other.reader.number
	}
	return t.part < other.part
}

// turnQueue is a heap of turns.
type turnQueue []turn

func (q turnQueue) Len() int           { return len(q) }
func (q turnQueue) Less(i, k int) bool { return q[i].before(q[k]) }
func (q turnQueue) Swap(i, k int)      { q[i], q[k] = q[k], q[i] }
func (q *turnQueue) Push(next any)     { *q = append(*q, next.(turn)) }
func (q *turnQueue) Pop() any {
	last := len(*q) - 1
	next := (*q)[last]
	*q = (*q)[:last]
	return next
}
