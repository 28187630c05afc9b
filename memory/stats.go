package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
)

// Stats are a manager's statistics at one moment, including its children. Sizes are
// the requested bytes, before any rounding by the resource.
type Stats struct {
	// Name is the name of the manager.
	Name string
	// Budget is the maximum number of bytes in use, InUse the number in use,
	// Remaining the number still available. Requests in progress and unused
	// reservations reduce Remaining. A child without a budget reports the Budget and
	// Remaining of the nearest ancestor that has one.
	Budget, InUse, Remaining uint64
	// Peak is the maximum of InUse since the last ResetPeak.
	Peak uint64
	// Allocations, Frees and Failures count since the last ResetCounts. A failure is
	// a request that got no memory. Blocks is the number of blocks held now.
	Allocations, Frees, Failures, Blocks uint64
	// Retries counts the requests since the last ResetCounts that got no memory and were repeated in
	// another way: see [Retrying]. They are no failures.
	Retries uint64
	// External and ExternalBlocks are the bytes and blocks that other libraries own
	// and this manager has adopted. They are in no budget.
	External, ExternalBlocks uint64
	// Leaks counts blocks that were collected without being released. DoubleReleases
	// counts releases of blocks that were already released.
	Leaks, DoubleReleases uint64
	// Waiting is the number of requests in the whole tree that wait for memory.
	Waiting int
	// Own is the part of InUse that was allocated from this manager and not from its
	// children.
	Own uint64
	// Tags are the statistics by tag, ordered by descending InUse.
	Tags []TagStats
	// Children are the statistics of the child managers, in order of creation. Own
	// and the InUse of all children add up to InUse.
	Children []Stats
}

// Stats returns the statistics of one moment: nothing in the whole tree of managers
// is allocated or freed while they are read, so they are consistent.
func (m *Manager) Stats() Stats {
	// The first reading makes room for the second and brings the figures into the cache,
	// so that the second stops allocations for a short time only.
	var read reading
	m.read(&read)
	m.tree.stripes.lockAll()
	m.read(&read)
	m.tree.stripes.unlockAll()
	s, _ := read.stats()
	return s
}

// Remaining returns the bytes that the manager could still allocate at least, by its budget or the
// nearest one above it. It is less than Remaining of [Stats], which stops allocations to read them
// all, by what is reserved for the next small ones.
func (m *Manager) Remaining() uint64 { return m.account.effective().remaining() }

// reading has the figures of a manager without its children, as they were read.
type reading struct {
	figures Stats
	tags    []TagStats
	// freesBefore and allocationsBefore are the counts at the last reset.
	freesBefore, allocationsBefore uint64
	children                       []reading
}

// stats reads the statistics, and returns also the tags summed over the manager and its
// descendants. All stripes are locked.
func (m *Manager) stats() (Stats, map[string]TagStats) {
	var read reading
	m.read(&read)
	return read.stats()
}

// read reads the figures of the manager and its descendants, in the memory of an earlier
// reading. Sums are made later, because all stripes are locked if the figures must be those
// of one moment.
func (m *Manager) read(to *reading) {
	a := &m.account
	limit := a.effective()
	to.figures = Stats{
		Name: a.name, Budget: limit.budget.Load(), Remaining: limit.remaining(), InUse: a.inUse.Load(), Peak: a.peak.Load(),
		Failures: a.failures.Load(), Retries: a.retries.Load(), External: a.external.Load(), ExternalBlocks: a.externalBlocks.Load(),
		Leaks: a.leaks.Load(), DoubleReleases: a.doubleReleases.Load(),
		Waiting: int(m.tree.queue.length.Load()),
	}
	to.tags = m.tags.read(to.tags[:0])
	to.freesBefore, to.allocationsBefore = a.freesBefore.Load(), a.allocationsBefore.Load()
	children := m.children.list()
	to.children = slices.Grow(to.children[:0], len(children))[:len(children)]
	for i, child := range children {
		child.read(&to.children[i])
	}
}

// stats sums a reading, and returns also the tags summed over the manager and its
// descendants.
func (r *reading) stats() (Stats, map[string]TagStats) {
	s := r.figures
	s.Own = s.InUse
	tags := make(map[string]TagStats, len(r.tags))
	for _, tag := range r.tags {
		tags[tag.Tag] = tag
	}
	for i := range r.children {
		below, belowTags := r.children[i].stats()
		s.Children = append(s.Children, below)
		s.Own -= below.InUse
		addTags(tags, belowTags)
	}
	s.Tags = sortTags(tags)
	for _, tag := range s.Tags {
		s.Allocations += tag.Allocations
		s.Blocks += tag.Blocks
	}
	s.Frees = s.Allocations - s.Blocks - r.freesBefore
	s.Allocations -= r.allocationsBefore
	return s, tags
}

func addTags(sums, more map[string]TagStats) {
	for name, tag := range more {
		sum := sums[name]
		sums[name] = TagStats{
			Tag: name, InUse: sum.InUse + tag.InUse, Peak: sum.Peak + tag.Peak,
			Blocks: sum.Blocks + tag.Blocks, Allocations: sum.Allocations + tag.Allocations,
		}
	}
}

// ResetPeak sets the peak of the manager and of its tags to the bytes in use
// now. The peaks of the children do not change.
func (m *Manager) ResetPeak() {
	m.tree.stripes.lockAll()
	defer m.tree.stripes.unlockAll()
	m.account.peak.Store(m.account.inUse.Load())
	m.tags.resetPeaks()
}

// ResetCounts restarts the counts of allocations, frees and failures at zero. Memory
// in use and the counts of the children do not change.
func (m *Manager) ResetCounts() {
	m.tree.stripes.lockAll()
	defer m.tree.stripes.unlockAll()
	a := &m.account
	s, _ := m.stats()
	a.allocationsBefore.Add(s.Allocations)
	a.freesBefore.Add(s.Frees)
	a.failures.Store(0)
	a.retries.Store(0)
}

// String formats the statistics on one line.
func (s Stats) String() string {
	var b strings.Builder
	if s.Name != "" {
		fmt.Fprintf(&b, "%s: ", s.Name)
	}
	fmt.Fprintf(&b, "in use %s of %s (%s %%), peak %s, %s allocations, %s frees",
		humanize.IBytes(s.InUse), humanize.IBytes(s.Budget), percent(s.InUse, s.Budget),
		humanize.IBytes(s.Peak), humanize.Comma(int64(s.Allocations)), humanize.Comma(int64(s.Frees)))
	if s.Failures > 0 {
		fmt.Fprintf(&b, ", %s failed", humanize.Comma(int64(s.Failures)))
	}
	if s.Waiting > 0 {
		fmt.Fprintf(&b, ", %d waiting", s.Waiting)
	}
	if s.ExternalBlocks > 0 {
		fmt.Fprintf(&b, ", %s external in %s blocks", humanize.IBytes(s.External), humanize.Comma(int64(s.ExternalBlocks)))
	}
	if s.Leaks > 0 {
		fmt.Fprintf(&b, ", %s leaked", humanize.Comma(int64(s.Leaks)))
	}
	return b.String()
}

// tree formats the tags that hold memory and the children, one line each.
func (s Stats) tree(indent string) string {
	var b strings.Builder
	for _, tag := range holders(s.Tags, len(s.Tags)) {
		fmt.Fprintf(&b, "\n%stag %s", indent, tag)
	}
	for _, child := range s.Children {
		fmt.Fprintf(&b, "\n%schild %s%s", indent, child, child.tree(indent+"\t"))
	}
	return b.String()
}

func percent(part, whole uint64) string {
	if whole == 0 {
		return "0.0"
	}
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(whole))
}
