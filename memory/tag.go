package memory

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dustin/go-humanize"
)

// TagStats are the figures of all memory that was allocated under one tag.
type TagStats struct {
	Tag string
	// InUse and Peak are bytes.
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

// tagTotals are the running figures of one tag.
type tagTotals struct {
	name        string
	inUse       atomic.Uint64
	peak        atomic.Uint64
	allocations atomic.Uint64
	frees       atomic.Uint64
}

func (t *tagTotals) book(bytes uint64) {
	t.allocations.Add(1)
	raise(&t.peak, t.inUse.Add(bytes))
}

func (t *tagTotals) unbook(bytes uint64) {
	t.frees.Add(1)
	subtract(&t.inUse, bytes)
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
	untagged tagTotals
	named    sync.Map // string → *tagTotals
}

func (t *tagTable) find(name string) *tagTotals {
	if name == "" {
		return &t.untagged
	}
	if found, ok := t.named.Load(name); ok {
		return found.(*tagTotals)
	}
	found, _ := t.named.LoadOrStore(name, &tagTotals{name: name})
	return found.(*tagTotals)
}

// stats returns the figures of every tag that was ever used, those that hold
// most first.
func (t *tagTable) stats() []TagStats {
	var all []TagStats
	if untagged := t.untagged.stats(); untagged.Allocations > 0 {
		all = append(all, untagged)
	}
	for _, totals := range t.named.Range {
		all = append(all, totals.(*tagTotals).stats())
	}
	slices.SortFunc(all, func(a, b TagStats) int {
		return cmp.Or(cmp.Compare(b.InUse, a.InUse), cmp.Compare(b.Peak, a.Peak), cmp.Compare(a.Tag, b.Tag))
	})
	return all
}

// holders returns the tags that hold memory now, at most limit of them.
func (t *tagTable) holders(limit int) []TagStats {
	all := slices.DeleteFunc(t.stats(), func(tag TagStats) bool { return tag.Blocks == 0 })
	return all[:min(limit, len(all))]
}

func (t *tagTable) resetPeaks() {
	t.untagged.peak.Store(t.untagged.inUse.Load())
	for _, totals := range t.named.Range {
		totals := totals.(*tagTotals)
		totals.peak.Store(totals.inUse.Load())
	}
}
