package memory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/memory/internal/atomics"
)

// TagStats are the statistics of the memory that was allocated under one tag.
type TagStats struct {
	Tag string
	// InUse and Peak are bytes. If several managers of a tree use the tag, Peak is
	// the sum of their peaks, which may exceed the highest simultaneous use.
	InUse, Peak uint64
	// Blocks counts the blocks held now, Allocations all blocks ever allocated.
	Blocks, Allocations uint64
}

// String formats the tag, its bytes and its blocks.
func (t TagStats) String() string {
	name := t.Tag
	if name == "" {
		name = "untagged"
	}
	return fmt.Sprintf("%s %s in %d blocks", name, humanize.IBytes(t.InUse), t.Blocks)
}

// tagTotals are the running statistics of one tag in one manager. Credit in tag
// caches counts as in use here.
type tagTotals struct {
	name    string
	account *account
	manager *Manager

	_           atomics.CacheLine
	inUse       atomic.Uint64
	peak        atomic.Uint64
	allocations atomic.Uint64
	frees       atomic.Uint64
	_           atomics.CacheLine
}

// add counts a block in the tag and in its manager and ancestors, without raising
// peaks. It returns the resulting bytes in use, in that order.
func (t *tagTotals) add(inUse []uint64, bytes uint64) []uint64 {
	t.allocations.Add(1)
	inUse = append(inUse, t.inUse.Add(bytes))
	for level := t.account; level != nil; level = level.parent {
		inUse = append(inUse, level.inUse.Add(bytes))
	}
	return inUse
}

// takeBack undoes add.
func (t *tagTotals) takeBack(bytes uint64) {
	subtract(&t.allocations, 1)
	subtract(&t.inUse, bytes)
	for level := t.account; level != nil; level = level.parent {
		subtract(&level.inUse, bytes)
	}
}

// raiseTo raises the peaks to the values that add returned.
func (t *tagTotals) raiseTo(inUse []uint64) {
	atomics.Raise(&t.peak, inUse[0])
	for level := t.account; level != nil; level = level.parent {
		inUse = inUse[1:]
		atomics.Raise(&level.peak, inUse[0])
	}
}

// bookWithinPeak counts a block if that makes no new peak of the tag, its manager or
// an ancestor. Credit in tag caches counts as in use.
func (t *tagTotals) bookWithinPeak(bytes uint64) bool {
	if !addUpTo(&t.inUse, bytes, &t.peak) {
		return false
	}
	if !t.account.bookWithinPeak(bytes) {
		subtract(&t.inUse, bytes)
		return false
	}
	t.allocations.Add(1)
	return true
}

// flushCredit adds the counts of a tag cache and returns its credit.
func (t *tagTotals) flushCredit(credit, allocations, frees uint64) {
	if allocations|frees != 0 {
		t.allocations.Add(allocations)
		t.frees.Add(frees)
	}
	if credit > 0 {
		subtract(&t.inUse, credit)
		t.account.unbook(credit)
	}
}

func (t *tagTotals) stats() TagStats {
	frees := t.frees.Load()
	allocations := t.allocations.Load()
	return TagStats{
		Tag: t.name, InUse: t.inUse.Load(), Peak: t.peak.Load(),
		Blocks: allocations - frees, Allocations: allocations,
	}
}

// tagTable finds the statistics of a tag. Tags are never removed; a program uses a
// limited number of names.
type tagTable struct {
	manager  *Manager
	untagged tagTotals
	// recent is the tag of the last lookup.
	recent atomic.Pointer[tagTotals]
	named  sync.Map // string → *tagTotals
	// mu guards all, which has the named tags in a slice that is fast to walk.
	mu  sync.Mutex
	all []*tagTotals
}

func (t *tagTable) open(m *Manager) {
	t.manager, t.untagged.manager, t.untagged.account = m, m, &m.account
}

func (t *tagTable) find(name string) *tagTotals {
	if name == "" {
		return &t.untagged
	}
	if recent := t.recent.Load(); recent != nil && recent.name == name {
		return recent
	}
	totals, ok := t.named.Load(name)
	if !ok {
		totals = t.add(name)
	}
	t.recent.Store(totals.(*tagTotals))
	return totals.(*tagTotals)
}

// add adds a tag, unless another goroutine did.
func (t *tagTable) add(name string) any {
	t.mu.Lock()
	defer t.mu.Unlock()
	totals, known := t.named.LoadOrStore(name, &tagTotals{name: name, account: &t.manager.account, manager: t.manager})
	if !known {
		t.all = append(t.all, totals.(*tagTotals))
	}
	return totals
}

// list returns the named tags.
func (t *tagTable) list() []*tagTotals {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all
}

// absorb adds the counts of a child manager that holds nothing any more.
func (t *tagTable) absorb(below map[string]TagStats) {
	for name, tag := range below {
		totals := t.find(name)
		totals.allocations.Add(tag.Allocations)
		totals.frees.Add(tag.Allocations - tag.Blocks)
	}
}

// read appends the statistics of every used tag. Tags that are added meanwhile hold nothing
// yet.
func (t *tagTable) read(list []TagStats) []TagStats {
	named := t.list()
	list = slices.Grow(list, len(named)+1)
	if t.untagged.allocations.Load() > 0 {
		list = append(list, t.untagged.stats())
	}
	for _, totals := range named {
		list = append(list, totals.stats())
	}
	return list
}

// sortTags orders tags by descending bytes in use. Sorting stably takes a quarter of the
// code for structs of this size.
func sortTags(sums map[string]TagStats) []TagStats {
	return slices.SortedStableFunc(maps.Values(sums), func(a, b TagStats) int {
		return cmp.Or(cmp.Compare(b.InUse, a.InUse), cmp.Compare(b.Peak, a.Peak), cmp.Compare(a.Tag, b.Tag))
	})
}

// holders returns the first tags that hold memory now, at most limit of them.
func holders(tags []TagStats, limit int) []TagStats {
	held := slices.DeleteFunc(slices.Clone(tags), func(tag TagStats) bool { return tag.Blocks == 0 })
	return held[:min(limit, len(held))]
}

func (t *tagTable) resetPeaks() {
	t.untagged.peak.Store(t.untagged.inUse.Load())
	for _, totals := range t.list() {
		totals.peak.Store(totals.inUse.Load())
	}
}
