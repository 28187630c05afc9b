package source

import (
	"container/heap"
	"sync"
)

// turns limits the number of goroutines that work at a time. Of the work that waits, the next is of a reader
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

// run calls f on a goroutine when it is the turn of a part. The goroutine goes on with the work that waits: to wake
// others for it takes as long as to read some hundred KiB.
func (t *turns) run(reader readerOrder, part int, f func()) {
	if t.take(turn{reader: reader, part: part, work: f}) {
		go t.work(f)
	}
}

// work does work, and then what waits.
func (t *turns) work(f func()) {
	for {
		f()
		next, ok := t.pass()
		if !ok {
			return
		}
		if f = next.work; f == nil {
			close(next.begins)
			return
		}
	}
}

// begin waits for the turn of a goroutine.
func (t *turns) begin(reader readerOrder, part int) {
	own := turn{reader: reader, part: part, begins: make(chan struct{})}
	if !t.take(own) {
		<-own.begins
	}
}

// end ends a turn.
func (t *turns) end() {
	next, ok := t.pass()
	switch {
	case !ok:
	case next.work != nil:
		go t.work(next.work)
	default:
		close(next.begins)
	}
}

// take reports whether a turn begins now. Otherwise it waits.
func (t *turns) take(own turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return true
	}
	heap.Push(&t.waiting, own)
	return false
}

// pass ends a turn, and returns the next one if one waits.
func (t *turns) pass() (next turn, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.free++
		return turn{}, false
	}
	return heap.Pop(&t.waiting).(turn), true
}

// turn is work that waits, or a goroutine that waits until begins is closed.
type turn struct {
	reader readerOrder
	part   int
	work   func()
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
