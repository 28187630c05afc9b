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

// TagStats are the figures of all memory that was allocated under one tag.
type TagStats struct {
	Tag string
	// InUse and Peak are bytes. Where several managers of a tree use the tag,
	// Peak is the sum of their peaks, which may be more than there ever was at a
	// time.
	InUse, Peak uint64
	// Blocks counts what is held now, Allocations all there ever were.
	Blocks, Allocations uint64
}

// String formats the tag, its bytes and its blocks.
func (t TagStats) String() string {
	name := t.Tag
	if name == "" {
		name = "untagged"
	}
	return fmt.Sprintf("%s %s in %d blocks", name, humanize.Bytes(t.InUse), t.Blocks)
}

// tagTotals are the running figures of one tag in one manager. What is in caches
// counts as in use here.
type tagTotals struct {
	name    string
	account *account

	_           atomics.CacheLine
	inUse       atomic.Uint64
	peak        atomic.Uint64
	allocations atomic.Uint64
	frees       atomic.Uint64
	_           atomics.CacheLine
}

// add counts a block in the tag and in the managers above, but for their peaks.
// It returns what is counted as in use then, in that order.
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

// raiseTo lifts the peaks to what add returned.
func (t *tagTotals) raiseTo(inUse []uint64) {
	atomics.Raise(&t.peak, inUse[0])
	for level := t.account; level != nil; level = level.parent {
		inUse = inUse[1:]
		atomics.Raise(&level.peak, inUse[0])
	}
}

// bookWithinPeak counts a block if neither the tag nor a manager above it then
// has more than it ever had, going by what is counted as in use.
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

// settle takes over what a tag cache had.
func (t *tagTotals) settle(credit, allocations, frees uint64) {
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

// tagTable finds the figures of a tag. Tags are never forgotten: there are as
// many as a program has names for its memory.
type tagTable struct {
	account  *account
	untagged tagTotals
	// recent is the tag that was asked for last.
	recent atomic.Pointer[tagTotals]
	named  sync.Map // string → *tagTotals
}

func (t *tagTable) open(a *account) { t.account, t.untagged.account = a, a }

func (t *tagTable) find(name string) *tagTotals {
	if name == "" {
		return &t.untagged
	}
	if recent := t.recent.Load(); recent != nil && recent.name == name {
		return recent
	}
	found, ok := t.named.Load(name)
	if !ok {
		found, _ = t.named.LoadOrStore(name, &tagTotals{name: name, account: t.account})
	}
	t.recent.Store(found.(*tagTotals))
	return found.(*tagTotals)
}

// absorb adds what was counted below in a manager that holds nothing any more.
func (t *tagTable) absorb(below map[string]TagStats) {
	for name, tag := range below {
		totals := t.find(name)
		totals.allocations.Add(tag.Allocations)
		totals.frees.Add(tag.Allocations - tag.Blocks)
	}
}

// add adds the figures of every tag that was ever used to those of the same tags
// in sums.
func (t *tagTable) add(sums map[string]TagStats) {
	add := func(totals *tagTotals) {
		tag := totals.stats()
		sum := sums[tag.Tag]
		sums[tag.Tag] = TagStats{
			Tag: tag.Tag, InUse: sum.InUse + tag.InUse, Peak: sum.Peak + tag.Peak,
			Blocks: sum.Blocks + tag.Blocks, Allocations: sum.Allocations + tag.Allocations,
		}
	}
	if t.untagged.allocations.Load() > 0 {
		add(&t.untagged)
	}
	for _, totals := range t.named.Range {
		add(totals.(*tagTotals))
	}
}

// sortTags orders tags by what they hold, those with most first.
func sortTags(sums map[string]TagStats) []TagStats {
	return slices.SortedFunc(maps.Values(sums), func(a, b TagStats) int {
		return cmp.Or(cmp.Compare(b.InUse, a.InUse), cmp.Compare(b.Peak, a.Peak), cmp.Compare(a.Tag, b.Tag))
	})
}

// holders returns those of the tags that hold memory now, at most limit of them.
func holders(tags []TagStats, limit int) []TagStats {
	held := slices.DeleteFunc(slices.Clone(tags), func(tag TagStats) bool { return tag.Blocks == 0 })
	return held[:min(limit, len(held))]
}

func (t *tagTable) resetPeaks() {
	t.untagged.peak.Store(t.untagged.inUse.Load())
	for _, totals := range t.named.Range {
		totals := totals.(*tagTotals)
		totals.peak.Store(totals.inUse.Load())
	}
}
