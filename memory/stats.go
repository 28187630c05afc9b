package memory

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
)

// Stats are a manager's figures at one moment, its children's included. Sizes are
// bytes as they were asked for, before any rounding by the resource.
type Stats struct {
	// Name is the manager's.
	Name string
	// Budget is the most that may be in use, InUse what is, Remaining what the
	// budget has left. Requests in progress, and what reservations hold for
	// later, count against Remaining already. A child without a budget of its own
	// has the Budget and the Remaining of the nearest manager above that has one.
	Budget, InUse, Remaining uint64
	// Peak is the most that was in use since the last ResetPeak.
	Peak uint64
	// Allocations and Frees count since the last ResetCounts, Failures the
	// requests that got no memory; Blocks is how many are held now.
	Allocations, Frees, Failures, Blocks uint64
	// External and ExternalBlocks are memory that other libraries own and this
	// manager has adopted. It is in no budget.
	External, ExternalBlocks uint64
	// Leaks counts blocks that were collected without having been released, and
	// DoubleReleases releases of what had been released before.
	Leaks, DoubleReleases uint64
	// Waiting is how many requests wait for memory in the whole tree.
	Waiting int
	// Own is the part of InUse that was allocated from this manager itself and
	// not from one of its children.
	Own uint64
	// Tags are the figures by tag, those that hold most first.
	Tags []TagStats
	// Children are the figures of the managers below, in the order in which they
	// were made. Own and their InUse add up to InUse.
	Children []Stats
}

// Stats returns the figures of one moment: while they are read nothing is
// allocated or freed in the whole tree of managers, so that they add up.
func (m *Manager) Stats() Stats {
	m.tree.stripes.lockAll()
	defer m.tree.stripes.unlockAll()
	s, _ := m.stats()
	return s
}

// stats also returns the tags with the sums of all below. All stripes are locked.
func (m *Manager) stats() (Stats, map[string]TagStats) {
	a := &m.account
	limit := a.effective()
	s := Stats{
		Name: a.name, Budget: limit.budget.Load(), Remaining: limit.remaining(), InUse: a.inUse.Load(), Peak: a.peak.Load(),
		Failures: a.failures.Load(), External: a.external.Load(), ExternalBlocks: a.externalBlocks.Load(),
		Leaks: a.leaks.Load(), DoubleReleases: a.doubleReleases.Load(),
		Waiting: int(m.tree.queue.length.Load()),
	}
	s.Own = s.InUse
	tags := make(map[string]TagStats)
	m.tags.add(tags)
	for _, child := range m.children.list() {
		below, belowTags := child.stats()
		s.Children = append(s.Children, below)
		s.Own -= below.InUse
		addTags(tags, belowTags)
	}
	s.Tags = sortTags(tags)
	for _, tag := range s.Tags {
		s.Allocations += tag.Allocations
		s.Blocks += tag.Blocks
	}
	s.Frees = s.Allocations - s.Blocks - a.freesBefore.Load()
	s.Allocations -= a.allocationsBefore.Load()
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

// ResetPeak sets the peak, and that of every tag, to what is in use now. Those of
// the children stay.
func (m *Manager) ResetPeak() {
	m.tree.stripes.lockAll()
	defer m.tree.stripes.unlockAll()
	m.account.peak.Store(m.account.inUse.Load())
	m.tags.resetPeaks()
}

// ResetCounts begins to count allocations, frees and failures anew. What is in
// use stays as it is, and so do the children's counts.
func (m *Manager) ResetCounts() {
	m.tree.stripes.lockAll()
	defer m.tree.stripes.unlockAll()
	a := &m.account
	s, _ := m.stats()
	a.allocationsBefore.Add(s.Allocations)
	a.freesBefore.Add(s.Frees)
	a.failures.Store(0)
}

// String formats the figures on one line.
func (s Stats) String() string {
	var b strings.Builder
	if s.Name != "" {
		fmt.Fprintf(&b, "%s: ", s.Name)
	}
	fmt.Fprintf(&b, "in use %s of %s (%s %%), peak %s, %s allocations, %s frees",
		humanize.Bytes(s.InUse), humanize.Bytes(s.Budget), percent(s.InUse, s.Budget),
		humanize.Bytes(s.Peak), humanize.Comma(int64(s.Allocations)), humanize.Comma(int64(s.Frees)))
	if s.Failures > 0 {
		fmt.Fprintf(&b, ", %s failed", humanize.Comma(int64(s.Failures)))
	}
	if s.Waiting > 0 {
		fmt.Fprintf(&b, ", %d waiting", s.Waiting)
	}
	if s.ExternalBlocks > 0 {
		fmt.Fprintf(&b, ", %s external in %s blocks", humanize.Bytes(s.External), humanize.Comma(int64(s.ExternalBlocks)))
	}
	if s.Leaks > 0 {
		fmt.Fprintf(&b, ", %s leaked", humanize.Comma(int64(s.Leaks)))
	}
	return b.String()
}

// tree formats the tags that hold memory and the children, a line each.
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
