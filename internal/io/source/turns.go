package source

import (
	"container/heap"
	"sync"
)

// turns limits the number of goroutines that work at a time. Of those that wait, one of the first part is
// next: if all parts were read at the same speed, the first one would be complete when the last one is.
type turns struct {
	mu      sync.Mutex
	free    int
	waiting turnQueue
}

func newTurns(most int) *turns { return &turns{free: most} }

// begin waits for the turn of a goroutine that works on a part. Call end afterwards.
func (t *turns) begin(part int) {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return
	}
	own := turn{part, make(chan struct{})}
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
	part   int
	begins chan struct{}
}

// turnQueue is a heap of turns by their parts.
type turnQueue []turn

func (q turnQueue) Len() int           { return len(q) }
func (q turnQueue) Less(i, k int) bool { return q[i].part < q[k].part }
func (q turnQueue) Swap(i, k int)      { q[i], q[k] = q[k], q[i] }
func (q *turnQueue) Push(next any)     { *q = append(*q, next.(turn)) }
func (q *turnQueue) Pop() any {
	last := len(*q) - 1
	next := (*q)[last]
	*q = (*q)[:last]
	return next
}
