package observetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/internal/base/callstack"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe/internal/stacks"
)

// NoLeaks fails the test at its end if blocks that were allocated or adopted in the tree
// of the manager after this call are still held, or were collected without being released.
// It names the tag and the stack of each.
//
// Cleanups run in reverse order: call NoLeaks after the cleanup that closes the manager
// is registered. It records the stack of every allocation, which costs one or two
// microseconds each.
//
// The garbage collector finds lost blocks in groups: a manager with
// memory.Options.TrackAllocations finds each one separately. Blocks that are lost and not
// yet collected are reported as still held.
func NoLeaks(t testing.TB, m *memory.Manager) {
	t.Helper()
	l := &leaks{live: make(map[*block]bool)}
	stop := m.Observe(memory.Observer{SampleBytes: 1, Sampled: l.sampled})
	t.Cleanup(func() {
		t.Helper()
		stop()
		for _, b := range l.list() {
			t.Error(b)
		}
	})
}

// leaks are the blocks that have not been released.
type leaks struct {
	mu    sync.Mutex
	count int
	live  map[*block]bool
	lost  []*block
}

// block describes a block. It does not refer to the block itself, which must remain
// collectable.
type block struct {
	number int
	sample memory.Sample
	stack  callstack.Stack
	lost   bool
}

func (l *leaks) sampled(s memory.Sample) func(leaked bool) {
	b := &block{sample: s, stack: callstack.Capture(1, stacks.Deepest)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	b.number = l.count
	l.live[b] = true
	return func(leaked bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.live, b)
		if leaked {
			b.lost = true
			l.lost = append(l.lost, b)
		}
	}
}

// list returns the blocks that leaked, in the order of allocation.
func (l *leaks) list() []*block {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.lost)
	for b := range l.live {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b *block) int { return cmp.Compare(a.number, b.number) })
	return list
}

// String describes the leak, with the stack of the allocation.
func (b *block) String() string {
	var text strings.Builder
	text.WriteString("observetest: ")
	if b.sample.Origin != memory.Owned {
		fmt.Fprintf(&text, "%v ", b.sample.Origin)
	}
	fmt.Fprintf(&text, "block of %s, tag %q", humanize.IBytes(b.sample.Bytes), b.sample.Tag)
	if name := b.sample.Manager.Name(); name != "" {
		fmt.Fprintf(&text, ", manager %q", name)
	}
	state := "is still held"
	if b.lost {
		state = "was collected without being released"
	}
	fmt.Fprintf(&text, ", %s, allocated at\n%s", state, stacks.Text(stacks.Frames(b.stack), "\t"))
	return strings.TrimSuffix(text.String(), "\n")
}
