package memory

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/explore"
	"github.com/gpuframe/gpuframe/internal/testing/race"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// queueScene is one tree of managers, or two, with requests that are interleaved in
// every order. It checks the queue's invariants after each step.
type queueScene struct {
	world    *explore.World
	resource *numbered
	clock    time.Time
	roots    []*Manager
	actors   []explore.Actor
	// log holds the results of the actors' calls.
	log []string
	// before are the aged requests, in their state before the step.
	before []agedRequest
	// transition is the first transition that request_state.go does not list.
	transition error
	// lowered is set if a budget was lowered, so that use may exceed it. urgent is set
	// if requests of a higher priority pass others.
	lowered, urgent bool
}

// numbered is a resource that hands out numbers instead of memory.
type numbered struct {
	world                *explore.World
	device               *device.Device
	capacity, used, next uint64
	// counted is the used memory plus the memory of Free calls in progress. most is its
	// maximum.
	counted, most uint64
	fail          error
}

func (n *numbered) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	n.world.Step("asked", nil)
	if n.fail != nil {
		return resource.Allocation{}, n.fail
	}
	if bytes > n.capacity-n.used {
		return resource.Allocation{}, device.ErrOutOfMemory
	}
	n.next++
	n.used += bytes
	n.counted += bytes
	n.most = max(n.most, n.counted)
	return resource.Allocation{Pointer: device.Pointer(n.next << 20), Bytes: bytes, Stream: stream}, nil
}

func (n *numbered) Free(allocation resource.Allocation, _ []*device.Stream) error {
	n.used -= allocation.Bytes
	n.world.Step("freed", nil)
	n.counted -= allocation.Bytes
	return nil
}

func (n *numbered) Device() *device.Device  { return n.device }
func (n *numbered) Kind() device.MemoryKind { return device.MemoryHost }
func (n *numbered) Close() error            { return nil }

// agedRequest is a request that no other may pass, with the bytes reserved at its
// account.
type agedRequest struct {
	waiter   *waiter
	short    *account
	reserved uint64
	ahead    []*waiter
}

const passing = time.Minute

// skipInShortTests skips the explorations with the most interleavings.
func skipInShortTests(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes two seconds of processor time: run without -short")
	}
}

// exploreQueue explores the actors that setUp adds.
func exploreQueue(t *testing.T, setUp func(s *queueScene)) {
	t.Helper()
	if race.Enabled {
		t.Skip("one goroutine runs at a time here, and the race detector is slow")
	}
	host, err := device.Open("host")
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Close()) }()
	outcomes := make(map[string]int)
	run := func() (explore.Result, error) {
		clear(outcomes)
		return explore.Run(200_000, func(w *explore.World) explore.System {
			s := &queueScene{world: w, resource: &numbered{world: w, device: host, capacity: 1 << 40}, clock: time.Unix(0, 0)}
			setUp(s)
			for _, root := range s.roots {
				root.tree.step, root.tree.observer = w.Step, s.observer()
			}
			return explore.System{
				Actors: s.actors, Check: s.check, State: s.state,
				End: func() error {
					slices.Sort(s.log)
					outcomes[strings.Join(s.log, ", ")]++
					return s.end()
				},
				Close: func() {
					for _, root := range s.roots {
						_ = root.Close()
					}
				},
			}
		})
	}
	// The stripe of a request depends on the address of its goroutine's stack, which may
	// differ between two runs of the same steps. Few explorations meet that, but most do under the
	// address sanitizer: then one processor runs them, which hands out stacks in one order.
	result, err := run()
	for attempts := 1; errors.Is(err, explore.ErrNotDeterministic) && attempts < 10; attempts++ {
		result, err = run()
	}
	if errors.Is(err, explore.ErrNotDeterministic) {
		processors := runtime.GOMAXPROCS(1)
		result, err = run()
		runtime.GOMAXPROCS(processors)
	}
	require.NoError(t, err)
	t.Logf("%d runs, %d states, %d different outcomes", result.Runs, result.States, len(outcomes))
	require.NotZero(t, result.Ended)
}

// root creates a tree of managers.
func (s *queueScene) root(budget uint64) *Manager {
	m, err := NewManager(s.resource.device, Options{
		Name: "root", Budget: budget, Resource: s.resource, Stream: s.resource.device.DefaultStream(), NoBackstop: true, PassingPeriod: passing,
	})
	if err != nil {
		panic(err)
	}
	m.tree.clock.start, m.tree.clock.read = s.clock, func() time.Time { return s.clock }
	s.roots = append(s.roots, m)
	return m
}

func (s *queueScene) child(m *Manager, name string, budget uint64) *Manager {
	child, err := m.Child(name, budget)
	if err != nil {
		panic(err)
	}
	return child
}

func (s *queueScene) hold(m *Manager, bytes uint64, tag string) *Block {
	block, err := m.Allocate(bytes, AllocateOptions{Tag: tag})
	if err != nil {
		panic(err)
	}
	return block
}

func (s *queueScene) actor(name string, run func()) {
	s.actors = append(s.actors, explore.Actor{Name: name, Run: run})
}

// ended records the result of a call, and fails the run for unexpected errors.
func (s *queueScene) ended(name string, err error, allowed ...error) bool {
	if err == nil {
		s.log = append(s.log, name+" succeeded")
		return true
	}
	for _, each := range allowed {
		if errors.Is(err, each) {
			s.log = append(s.log, fmt.Sprintf("%s: %v", name, each))
			return false
		}
	}
	panic(fmt.Sprintf("%s: %v", name, err))
}

// request adds an actor that allocates and releases.
func (s *queueScene) request(name string, m *Manager, allocate func() (*Block, error), allowed ...error) {
	s.actor(name, func() {
		block, err := allocate()
		if s.ended(name, err, allowed...) {
			s.world.Step(name+" holds", nil)
			s.release(block)
		}
	})
}

func (s *queueScene) plain(name string, m *Manager, bytes uint64, tag string, allowed ...error) {
	s.request(name, m, func() (*Block, error) { return m.Allocate(bytes, AllocateOptions{Tag: tag}) }, allowed...)
}

func (s *queueScene) wait(name string, m *Manager, bytes uint64, allowed ...error) {
	s.waitWith(name, context.Background(), m, bytes, 0, allowed...)
}

func (s *queueScene) waitWith(name string, ctx context.Context, m *Manager, bytes uint64, priority int, allowed ...error) {
	s.request(name, m, func() (*Block, error) { return m.AllocateWait(ctx, bytes, AllocateOptions{Priority: priority}) }, allowed...)
}

func (s *queueScene) release(block *Block) {
	if err := block.Release(); err != nil {
		panic(err)
	}
}

func (s *queueScene) releases(name string, block *Block) {
	s.actor(name, func() { s.release(block) })
}

// ages adds an actor that advances the clock by the passing period.
func (s *queueScene) ages() { s.actor("clock", func() { s.clock = s.clock.Add(passing) }) }

// observer records transitions that request_state.go does not list.
func (s *queueScene) observer() observer {
	return observer{
		request: func(from, to requestState) {
			if !slices.Contains(requestTransitions[from], to) && s.transition == nil {
				s.transition = fmt.Errorf("a request goes from state %d to %d", from, to)
			}
		},
		place: func(from, to placeState) {
			if !slices.Contains(placeTransitions[from], to) && s.transition == nil {
				s.transition = fmt.Errorf("a place goes from state %d to %d", from, to)
			}
		},
	}
}

// check checks the invariants.
func (s *queueScene) check() error {
	if s.transition != nil {
		return s.transition
	}
	var most uint64
	for _, root := range s.roots {
		t := root.tree
		t.stripes.lockAll()
		err := s.checkManager(root)
		most += root.account.reserved.Load()
		if err == nil && root.account.peak.Load() > s.resource.most {
			err = fmt.Errorf("the peak is %d, the resource never had more than %d in use", root.account.peak.Load(), s.resource.most)
		}
		t.stripes.unlockAll()
		if err != nil {
			return err
		}
		if err := s.checkQueue(&t.queue); err != nil {
			return err
		}
	}
	if s.resource.used > most {
		return fmt.Errorf("the resource has handed out %d bytes, and %d are reserved", s.resource.used, most)
	}
	if s.urgent {
		return nil
	}
	return s.checkOrder()
}

// checkManager checks the sums in a manager and those below it. The caller holds all
// stripes.
func (s *queueScene) checkManager(m *Manager) error {
	a := &m.account
	reserved, budget, inUse := a.reserved.Load(), a.budget.Load(), a.inUse.Load()
	if reserved > budget && !s.lowered {
		return fmt.Errorf("%s: %d are reserved in a budget of %d", a.name, reserved, budget)
	}
	stats, _ := m.stats()
	var below, promised uint64
	for _, child := range m.children.list() {
		if err := s.checkManager(child); err != nil {
			return err
		}
		below += child.account.inUse.Load()
		if child.account.guaranteed.Load() {
			promised += child.account.budget.Load()
		} else {
			promised += child.account.reserved.Load()
		}
	}
	var tags uint64
	for _, tag := range stats.Tags {
		tags += tag.InUse
	}
	switch own := inUse - below; {
	case below > inUse:
		return fmt.Errorf("%s: %d are in use, %d of them below", a.name, inUse, below)
	case tags != inUse:
		return fmt.Errorf("%s: %d are in use, %d by the tags", a.name, inUse, tags)
	case own+promised > reserved:
		return fmt.Errorf("%s: %d are reserved; %d are in use and %d promised", a.name, reserved, own, promised)
	case inUse > a.peak.Load():
		return fmt.Errorf("%s: %d are in use, the peak is %d", a.name, inUse, a.peak.Load())
	}
	return nil
}

// checkQueue checks that the counters at the accounts match the queued requests.
func (s *queueScene) checkQueue(q *queue) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := make(map[*account]int64)
	for _, w := range q.waiting {
		waiting[w.shortAt]++
		switch {
		case w.shortAt == nil:
			return fmt.Errorf("a request for %d waits nowhere", w.bytes)
		case !w.place.queued() && w.place != trying:
			return fmt.Errorf("a request for %d in the queue is in state %d", w.bytes, w.place)
		case w.place.queued() == w.isDecided():
			return fmt.Errorf("a request for %d is in state %d, and decided is %t", w.bytes, w.place, w.isDecided())
		}
	}
	for a, count := range waiting {
		if a.waiting.Load() != count {
			return fmt.Errorf("%s: %d requests wait, %d are counted", a.name, count, a.waiting.Load())
		}
	}
	if q.length.Load() != int64(len(q.waiting)) {
		return fmt.Errorf("%d requests wait, %d are counted", len(q.waiting), q.length.Load())
	}
	return nil
}

// checkOrder checks that no other request took bytes needed by a request that had aged
// before the step.
func (s *queueScene) checkOrder() error {
	var now []agedRequest
	for _, root := range s.roots {
		q := &root.tree.queue
		for _, old := range s.before {
			if old.waiter.account.root() != &root.account || !slices.Contains(q.waiting, old.waiter) || old.waiter.shortAt != old.short || old.waiter.place == trying {
				continue
			}
			gone := slices.ContainsFunc(old.ahead, func(w *waiter) bool { return w.place == trying || !slices.Contains(q.waiting, w) })
			if grown := old.short.reserved.Load(); grown > old.reserved && !gone {
				return fmt.Errorf("%s: %d bytes more are reserved, although a request for %d waits there and has aged",
					old.short.name, grown-old.reserved, old.waiter.bytes)
			}
		}
		for i, w := range q.waiting {
			if w.agedAt <= root.tree.clock.now() && w.place != trying {
				now = append(now, agedRequest{w, w.shortAt, w.shortAt.reserved.Load(), slices.Clone(q.waiting[:i])})
			}
		}
	}
	s.before = now
	return nil
}

// state returns a description of the trees.
func (s *queueScene) state() string {
	var b strings.Builder
	fmt.Fprint(&b, s.clock.Unix(), s.resource.used, s.resource.most, s.resource.fail, s.log)
	for _, root := range s.roots {
		q := &root.tree.queue
		fmt.Fprint(&b, "|", q.interested.Load(), q.releases.Load(), q.closed, root.tree.neighbours.waiting.Load())
		for _, w := range q.waiting {
			fmt.Fprint(&b, " ", w.bytes, w.ticket, w.priority, w.keepsPlace, w.place, w.releases, w.isDecided())
		}
		var describe func(m *Manager)
		describe = func(m *Manager) {
			a := &m.account
			fmt.Fprint(&b, " (", a.name, a.budget.Load(), a.reserved.Load(), a.inUse.Load(), a.peak.Load(), a.guaranteed.Load(), a.ended.Load(), a.waiting.Load())
			for _, child := range m.children.list() {
				describe(child)
			}
			fmt.Fprint(&b, ")")
		}
		describe(root)
	}
	return b.String()
}

// end checks that no memory is in use, no bytes are reserved and no request waits.
func (s *queueScene) end() error {
	if s.resource.used != 0 {
		return fmt.Errorf("the resource still has %d in use", s.resource.used)
	}
	for _, root := range s.roots {
		stats := root.Stats()
		q := &root.tree.queue
		if stats.InUse != 0 || stats.Blocks != 0 || stats.Remaining != stats.Budget || stats.Waiting != 0 {
			return fmt.Errorf("at the end: %v, %d remain of %d, %d wait", stats, stats.Remaining, stats.Budget, stats.Waiting)
		}
		if q.interested.Load() != 0 || len(q.waiting) != 0 || root.tree.neighbours.waiting.Load() != 0 {
			return fmt.Errorf("at the end %d are interested and %d wait", q.interested.Load(), len(q.waiting))
		}
		for _, child := range root.children.list() {
			if child.account.reserved.Load() != 0 && !child.account.ended.Load() {
				return fmt.Errorf("at the end %s has %d reserved", child.account.name, child.account.reserved.Load())
			}
		}
		block, err := root.Allocate(stats.Budget, AllocateOptions{})
		if err == nil {
			err = block.Release()
		}
		if err != nil && !errors.Is(err, device.ErrOutOfMemory) {
			return fmt.Errorf("at the end the whole budget: %w", err)
		}
	}
	return nil
}
