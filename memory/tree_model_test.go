package memory_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// node is the model of a manager: plain sums that are recomputed for each check.
type node struct {
	manager  *memory.Manager
	name     string
	parent   *node
	children []*node
	// budget is the node's own budget; a child may have none.
	budget     uint64
	limited    bool
	guaranteed bool
	// reservation stays set after the guarantee has ended.
	reservation bool
	// closed is set if the node was closed, ended if it or an ancestor was closed.
	closed, ended bool

	tags     map[string]*tagFigures
	peak     uint64
	failures uint64
	misuses  uint64
}

// tagFigures are the statistics of a manager's own blocks.
type tagFigures struct {
	inUse, peak                uint64
	allocations, frees, blocks uint64
}

// held is a block and the node that should count it.
type held struct {
	block      *memory.Block
	owner      *node
	tag        string
	bytes      uint64
	references int
}

func (n *node) own() (bytes uint64) {
	for _, tag := range n.tags {
		bytes += tag.inUse
	}
	return bytes
}

func (n *node) inUse() uint64 {
	bytes := n.own()
	for _, child := range n.children {
		bytes += child.inUse()
	}
	return bytes
}

func (n *node) blocks() (count uint64) {
	for _, tag := range n.tags {
		count += tag.blocks
	}
	for _, child := range n.children {
		count += child.blocks()
	}
	return count
}

// reserved returns the bytes that count against the budget: bytes in use and unused
// bytes of reservations.
func (n *node) reserved() uint64 {
	bytes := n.own()
	for _, child := range n.children {
		if child.guaranteed {
			bytes += child.budget
		} else {
			bytes += child.reserved()
		}
	}
	return bytes
}

// limit returns the manager with the effective budget.
func (n *node) limit() *node {
	for !n.limited {
		n = n.parent
	}
	return n
}

// nameFor returns the name of a new child.
func (n *node) nameFor(name string) string {
	taken := func(candidate string) bool {
		return slices.ContainsFunc(n.children, func(child *node) bool { return child.name == candidate })
	}
	candidate := name
	for number := 2; name != "" && taken(candidate); number++ {
		candidate = fmt.Sprintf("%s %d", name, number)
	}
	return candidate
}

// fits reports whether a request may succeed.
func (n *node) fits(bytes uint64) bool {
	for level := n; level != nil && bytes > 0; level = level.parent {
		if reserved := level.reserved(); level.limited && (bytes > level.budget || reserved > level.budget-bytes) {
			return false
		}
		if level.guaranteed {
			break
		}
	}
	return true
}

func (n *node) up(each func(*node)) {
	for level := n; level != nil; level = level.parent {
		each(level)
	}
}

func (n *node) down(each func(*node)) {
	each(n)
	for _, child := range n.children {
		child.down(each)
	}
}

func (n *node) tag(name string) *tagFigures {
	if n.tags[name] == nil {
		n.tags[name] = new(tagFigures)
	}
	return n.tags[name]
}

func (n *node) fail() { n.up(func(level *node) { level.failures++ }) }

func (n *node) book(tag string, bytes uint64) {
	t := n.tag(tag)
	t.allocations++
	t.blocks++
	t.inUse += bytes
	t.peak = max(t.peak, t.inUse)
	n.up(func(level *node) { level.peak = max(level.peak, level.inUse()) })
}

// end ends a node and its descendants.
func (n *node) end() { n.down(func(below *node) { below.ended, below.guaranteed = true, false }) }

// forget removes closed children that hold nothing, but keeps their counts.
func (n *node) forget(candidates ...*node) {
	for _, child := range slices.Clone(candidates) {
		if !child.closed || child.blocks() > 0 {
			continue
		}
		child.down(func(below *node) {
			for name, tag := range below.tags {
				n.tag(name).allocations += tag.allocations
				n.tag(name).frees += tag.frees
			}
		})
		n.children = slices.DeleteFunc(n.children, func(other *node) bool { return other == child })
	}
}

// sums adds up the tags of a manager and its descendants.
func (n *node) sums() map[string]tagFigures {
	sums := make(map[string]tagFigures)
	n.down(func(below *node) {
		for name, tag := range below.tags {
			sum := sums[name]
			sum.inUse += tag.inUse
			sum.peak += tag.peak
			sum.allocations += tag.allocations
			sum.frees += tag.frees
			sum.blocks += tag.blocks
			sums[name] = sum
		}
	})
	return sums
}

// requireSame compares all visible state.
func (n *node) requireSame(t require.TestingT, s memory.Stats) {
	require.Equal(t, n.name, s.Name)
	require.Equal(t, n.limit().budget, s.Budget, "%s budget", n.name)
	require.Equal(t, n.inUse(), s.InUse, "%s in use", n.name)
	require.Equal(t, n.own(), s.Own, "%s own", n.name)
	require.Equal(t, n.peak, s.Peak, "%s peak", n.name)
	limit := n.limit()
	require.Equal(t, limit.budget-min(limit.budget, limit.reserved()), s.Remaining, "%s remaining", n.name)
	require.Equal(t, n.failures, s.Failures, "%s failures", n.name)
	require.Equal(t, n.misuses, s.DoubleReleases, "%s double releases", n.name)
	require.Equal(t, n.blocks(), s.Blocks, "%s blocks", n.name)
	require.Zero(t, s.Waiting)
	require.Zero(t, s.Leaks)
	var allocations, frees uint64
	sums := n.sums()
	for _, tag := range s.Tags {
		want := sums[tag.Tag]
		require.Equal(t, memory.TagStats{
			Tag: tag.Tag, InUse: want.inUse, Peak: want.peak, Blocks: want.blocks, Allocations: want.allocations,
		}, tag, "%s", n.name)
		allocations += want.allocations
		frees += want.frees
		delete(sums, tag.Tag)
	}
	require.Empty(t, sums, "%s: tags that are missing", n.name)
	require.Equal(t, allocations, s.Allocations, "%s allocations", n.name)
	require.Equal(t, frees, s.Frees, "%s frees", n.name)
	require.Len(t, s.Children, len(n.children), "%s children", n.name)
	inUse := s.Own
	for i, child := range n.children {
		child.requireSame(t, s.Children[i])
		require.Equal(t, s.Children[i].InUse, child.manager.Stats().InUse)
		inUse += s.Children[i].InUse
	}
	require.Equal(t, s.InUse, inUse, "%s: children add up", n.name)
}

// forest is a tree of managers under test.
type forest struct {
	t        *rapid.T
	root     *node
	resource *small
	blocks   []*held
	released []*memory.Block
	made     int
	// every holds all managers ever created, including forgotten ones.
	every []*node
}

func (f *forest) nodes() (all []*node) {
	f.root.down(func(n *node) { all = append(all, n) })
	return all
}

// any draws a manager in the tree; it may be closed.
func (f *forest) any() *node { return rapid.SampledFrom(f.nodes()).Draw(f.t, "manager") }

func (f *forest) request() (bytes uint64, options memory.AllocateOptions) {
	bytes = rapid.OneOf(rapid.Uint64Range(0, 60), rapid.Uint64Range(0, 1200)).Draw(f.t, "bytes")
	tag := rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e", "f"}).Draw(f.t, "tag")
	return bytes, memory.AllocateOptions{Tag: tag}
}

func (f *forest) allocate(*rapid.T) {
	n := f.any()
	bytes, options := f.request()
	kind := rapid.SampledFrom([]string{"plain", "plain", "plain", "resource fails", "device full", "wait", "cancelled"}).Draw(f.t, "kind")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	failure := errors.New("broken")
	switch kind {
	case "resource fails":
		f.resource.set(func(uint64) error { return failure })
	case "device full":
		f.resource.set(func(uint64) error { return device.ErrOutOfMemory })
	case "cancelled":
		cancel()
	}
	defer f.resource.set(nil)

	var block *memory.Block
	var err error
	switch fits := n.fits(bytes); {
	case kind == "cancelled", kind == "wait" && (fits || n.ended):
		block, err = n.manager.AllocateWait(ctx, bytes, options)
	default:
		block, err = n.manager.Allocate(bytes, options)
	}
	if kind == "cancelled" {
		require.ErrorIs(f.t, err, context.Canceled)
		return
	}
	if n.ended {
		require.ErrorIs(f.t, err, memory.ErrClosed)
		return
	}
	// A tag is known after its first use, except the empty tag.
	if options.Tag != "" && kind != "wait" {
		n.tag(options.Tag)
	}
	switch {
	case !n.fits(bytes):
		var budget *memory.BudgetError
		require.ErrorAs(f.t, err, &budget)
		require.Zero(f.t, budget.Waiting)
		n.fail()
	case kind == "resource fails" && bytes > 0:
		require.ErrorIs(f.t, err, failure)
		n.fail()
	case kind == "device full" && bytes > 0:
		require.ErrorIs(f.t, err, device.ErrOutOfMemory)
		n.fail()
	default:
		require.NoError(f.t, err)
		require.Equal(f.t, bytes, block.Bytes())
		require.Same(f.t, n.manager, block.Manager())
		n.book(options.Tag, bytes)
		f.blocks = append(f.blocks, &held{block, n, options.Tag, bytes, 1})
	}
}

func (f *forest) retain(t *rapid.T) {
	if len(f.blocks) == 0 {
		t.Skip("nothing is held")
	}
	h := rapid.SampledFrom(f.blocks).Draw(t, "block")
	require.NoError(t, h.block.Retain())
	h.references++
	require.Equal(t, h.references, h.block.References())
}

func (f *forest) release(t *rapid.T) {
	if len(f.blocks) == 0 {
		t.Skip("nothing is held")
	}
	f.free(rapid.IntRange(0, len(f.blocks)-1).Draw(t, "block"))
}

func (f *forest) free(at int) {
	h := f.blocks[at]
	require.NoError(f.t, h.block.Release())
	if h.references--; h.references > 0 {
		return
	}
	tag := h.owner.tags[h.tag]
	tag.inUse -= h.bytes
	tag.blocks--
	tag.frees++
	f.blocks = slices.Delete(f.blocks, at, at+1)
	if len(f.released) < 20 {
		f.released = append(f.released, h.block)
	}
}

// useDead calls methods of a released block. Its state may already belong to another
// block.
func (f *forest) useDead(t *rapid.T) {
	if len(f.released) == 0 {
		t.Skip("nothing was released")
	}
	block := rapid.SampledFrom(f.released).Draw(t, "dead block")
	require.ErrorIs(t, block.Check(), memory.ErrReleased)
	require.ErrorIs(t, block.Retain(), memory.ErrReleased)
	require.Zero(t, block.Pointer())
	require.Zero(t, block.Bytes())
	for _, h := range f.blocks {
		require.NotEqual(t, h.block.Identity(), block.Identity())
	}
	if rapid.Bool().Draw(t, "release") {
		require.ErrorIs(t, block.Release(), memory.ErrReleased)
		for _, n := range f.every {
			if n.manager == block.Manager() {
				n.up(func(level *node) { level.misuses++ })
			}
		}
	}
}

func (f *forest) child(t *rapid.T) {
	n := f.any()
	if len(f.nodes()) > 12 {
		t.Skip("there are enough")
	}
	f.made++
	name := rapid.SampledFrom([]string{"", "a", "b", "b 2", fmt.Sprintf("manager %d", f.made)}).Draw(t, "name")
	budget := rapid.Uint64Range(0, 1000).Draw(t, "budget")
	reservation := rapid.Bool().Draw(t, "reservation")
	var manager *memory.Manager
	var err error
	if reservation {
		manager, err = n.manager.Reserve(name, budget)
	} else {
		manager, err = n.manager.Child(name, budget)
	}
	if n.ended {
		require.ErrorIs(t, err, memory.ErrClosed)
		return
	}
	if reservation && !n.fits(budget) {
		require.ErrorIs(t, err, memory.ErrBudget)
		n.fail()
		return
	}
	n.forget(n.children...)
	require.NoError(t, err)
	made := &node{
		manager: manager, name: n.nameFor(name), parent: n, tags: make(map[string]*tagFigures),
		budget: budget, limited: reservation || budget > 0, guaranteed: reservation, reservation: reservation,
	}
	require.Equal(t, made.name, manager.Name())
	n.children = append(n.children, made)
	f.every = append(f.every, made)
}

func (f *forest) close(t *rapid.T) {
	n := f.any()
	if n == f.root {
		t.Skip("the root is closed at the end")
	}
	err := n.manager.Close()
	switch {
	case n.closed:
		require.ErrorIs(t, err, memory.ErrClosed)
		return
	case n.blocks() > 0 || n.misuses > 0:
		require.ErrorIs(t, err, memory.ErrLeak)
	default:
		require.NoError(t, err)
	}
	n.closed = true
	n.end()
	n.parent.forget(n)
}

func (f *forest) setBudget(t *rapid.T) {
	n := f.any()
	budget := rapid.OneOf(rapid.Uint64Range(0, 1500), rapid.Just(uint64(0)), rapid.Just(uint64(math.MaxUint64))).Draw(t, "budget")
	err := n.manager.SetBudget(budget)
	if n.reservation {
		require.ErrorIs(t, err, device.ErrInvalidValue)
		return
	}
	require.NoError(t, err)
	n.budget, n.limited = budget, budget > 0 && budget < math.MaxUint64
	if n.parent == nil && !n.limited {
		n.limited = true
		if budget == 0 {
			n.budget = n.manager.Device().Info().TotalMemory
		}
	}
}

func (f *forest) resetPeak(*rapid.T) {
	n := f.any()
	n.manager.ResetPeak()
	n.peak = n.inUse()
	for _, tag := range n.tags {
		tag.peak = tag.inUse
	}
}

func (f *forest) checkBudget(t *rapid.T) {
	n := f.any()
	bytes, _ := f.request()
	if n.fits(bytes) {
		require.NoError(t, n.manager.Check(bytes))
	} else {
		require.ErrorIs(t, n.manager.Check(bytes), memory.ErrBudget)
	}
}

func (f *forest) same(t *rapid.T) { f.root.requireSame(t, f.root.manager.Stats()) }

// In every history a tree of managers agrees with plain sums.
func TestTreeAgainstAModel(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		caching, err := memory.NewCachingResource(dev, memory.CachingOptions{})
		require.NoError(t, err)
		defer func() { assert.NoError(t, caching.Close()) }()
		property.Check(t, func(t *rapid.T) {
			budget := rapid.Uint64Range(1, 2000).Draw(t, "budget")
			resource := &small{Resource: caching, capacity: 1 << 40}
			mgr, err := memory.NewManager(dev, memory.Options{
				Name: "root", Budget: budget, Resource: resource, NoBackstop: rapid.Bool().Draw(t, "no backstop"),
				OnLeak: func(memory.Leak) {},
			})
			require.NoError(t, err)
			f := &forest{t: t, resource: resource, root: &node{
				manager: mgr, name: "root", budget: budget, limited: true, tags: make(map[string]*tagFigures),
			}}
			f.every = []*node{f.root}
			t.Repeat(map[string]func(*rapid.T){
				"":             f.same,
				"allocate":     f.allocate,
				"allocate too": f.allocate,
				"release":      f.release,
				"retain":       f.retain,
				"use dead":     f.useDead,
				"child":        f.child,
				"close":        f.close,
				"set budget":   f.setBudget,
				"reset peak":   f.resetPeak,
				"check":        f.checkBudget,
			})
			for len(f.blocks) > 0 {
				f.free(0)
			}
			f.same(t)
			err = mgr.Close()
			if f.root.misuses > 0 {
				require.ErrorIs(t, err, memory.ErrLeak)
			} else {
				require.NoError(t, err)
			}
		})
	})
}
