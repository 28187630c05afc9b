package source

import (
	"container/heap"
	"sync"
)

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
