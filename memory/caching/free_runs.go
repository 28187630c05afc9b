package caching

import (
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
)

// cut takes a run that is in no set for a stream, and gives the stream what is
// left of it.
func (r *Resource) cut(f *front, node *bestfit.Node, size uint64) *bestfit.Node {
	node.State = runInUse
	if node.Bytes > size && (r.options.OversizeBytes == 0 || node.Bytes < r.options.OversizeBytes) {
		r.place(f, r.split(node, size))
	}
	return node
}

// split cuts a run in two and returns the second part.
func (r *Resource) split(node *bestfit.Node, size uint64) *bestfit.Node {
	rest := r.space.Split(node, size)
	r.ground.follows(node, rest)
	return rest
}

// join adds the run after a run to it.
func (r *Resource) join(node *bestfit.Node) {
	r.ground.follows(r.space.Next(node), node)
	r.space.Join(node)
}

// enlist and delist put free runs into their front's set and take them out.
func (r *Resource) enlist(f *front, node *bestfit.Node) {
	if f.free[node.Pool].Insert(&r.space, node) {
		r.free += node.Bytes
	}
}

func (r *Resource) delist(f *front, node *bestfit.Node) {
	if f.free[node.Pool].Remove(&r.space, node) {
		r.free -= node.Bytes
	}
}

// give makes a run free that was used last by the front's stream.
func (r *Resource) give(f *front, node *bestfit.Node) {
	r.place(f, node)
	if r.free/3 > r.reserved/4 && !r.gathering {
		r.shrinking.freed(r)
	}
}

// place puts a run into the set of the front whose stream used it last, joined
// with its neighbours where they are free for that stream too.
func (r *Resource) place(f *front, node *bestfit.Node) {
	known := node.State == runFree && r.space.Next(node) == nil && r.space.Previous(node) == nil
	node.State, node.Owner = runFree, f.number
	for next := r.space.Next(node); next != nil && r.joins(node, next); next = r.space.Next(node) {
		node.Mark = max(node.Mark, r.markFor(f, next))
		r.delist(r.owners[next.Owner], next)
		r.join(node)
	}
	for previous := r.space.Previous(node); previous != nil && r.joins(node, previous); previous = r.space.Previous(node) {
		mark := max(node.Mark, r.markFor(f, previous))
		r.delist(r.owners[previous.Owner], previous)
		r.join(previous)
		node = previous
		node.Owner, node.Mark = f.number, mark
	}
	r.enlist(f, node)
	if !known && r.space.Next(node) == nil && r.space.Previous(node) == nil {
		r.ground.idle(node)
	}
}

// unite makes everybody's what no work is pending on, so that it is one run with
// its neighbours whoever used those. With wait set that is all that is free, after
// the work that used it.
func (r *Resource) unite(wait bool) (err error) {
	for _, f := range r.owners[1:] {
		if f == nil {
			continue
		}
		f.epochs.ask(f.epochs.now())
		for pool := range f.free {
			f.free[pool].Each(&r.space, func(node *bestfit.Node) bool {
				if wait {
					err = f.epochs.wait(node.Mark)
				}
				if err == nil && (wait || f.epochs.over(node.Mark)) {
					r.delist(f, node)
					node.Mark = 0
					r.place(r.common, node)
				}
				return err == nil
			})
		}
	}
	return err
}

// joins reports whether a run that becomes free may be joined with its neighbour:
// if that is free, and used last by the same stream or by no pending work.
func (r *Resource) joins(node, neighbour *bestfit.Node) bool {
	return neighbour.State == runFree &&
		(neighbour.Owner == node.Owner || r.owners[neighbour.Owner].epochs.over(neighbour.Mark))
}

// markFor returns the epoch of a front in which a free run was used last.
func (r *Resource) markFor(f *front, node *bestfit.Node) uint64 {
	if node.Owner == f.number {
		return node.Mark
	}
	return 0
}

// gather makes everything that was freed fit for use: what waits in the fronts,
// and what was held for further streams.
func (r *Resource) gather() {
	r.gathering = true
	defer func() { r.gathering = false }()
	for _, f := range r.owners[1:] {
		if f == nil {
			continue
		}
		for _, node := range f.drain(false) {
			r.give(f, node)
		}
	}
	r.settleHeld()
}
