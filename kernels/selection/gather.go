package selection

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/driver/hostword"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// gatherer takes rows of columns. It walks down each column and enqueues all work of
// sizes that the host knows. Work that needs memory of a size that only the device
// knows is deferred: runDeferred fetches all such sizes together and continues, in one round
// per level of strings and lists.
type gatherer struct {
	ctx  context.Context
	call *op.Call
	// held is released when the results hold references.
	held []retainable
	// The next round fetches the destinations and runs the functions.
	wanted []memory.Destination
	then   []func() error
	// bad is the word in which kernels record the first row with an index out of
	// bounds. judge moves its value to firstBad.
	bad      *hostword.Word
	firstBad uint64
	// together are taken by one launch.
	together together
	// sizes are collected by an estimate.
	sizes sizes
}

// pending is a column under construction.
type pending struct {
	data     column.Data
	children []*pending
	// dictionary is the dictionary under construction, or nil.
	dictionary *pending
	// shared is a column of the input that is the result. If it is set, no other field
	// is used.
	shared *column.Column
}

// gather takes the rows of columns that a source selects. The caller has begun the call
// with the columns, and releases the results. Rows past the source's count on the
// device are written like null rows. If the source may take a row twice, or asks for
// exact sizes, gather waits for the sizes of strings and lists in the result.
func gather(ctx context.Context, call *op.Call, columns []*column.Column, s *source) ([]*column.Column, error) {
	g := newGatherer(ctx, call)
	taken, err := g.columns(columns, s)
	if err == nil && g.estimating() {
		err = g.sizes.estimate(call)
	}
	return g.end(taken, err)
}

// end releases what the gatherer holds. If that fails, or something failed before, it releases the
// results too.
func (g *gatherer) end(columns []*column.Column, err error) ([]*column.Column, error) {
	if err = errors.Join(err, g.release()); err != nil {
		return nil, errors.Join(err, release.All(columns))
	}
	return columns, nil
}

func (g *gatherer) release() error {
	var failures []error
	if g.bad != nil { // err was set before, and kernels may still write to the word
		failures = append(failures, g.bad.ReleaseAfter(g.call.Stream))
		g.bad = nil
	}
	for _, each := range g.held {
		if err := each.Release(); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// columns takes rows of columns and makes the results. An estimate makes none.
func (g *gatherer) columns(columns []*column.Column, s *source) (taken []*column.Column, err error) {
	begun := make([]*pending, len(columns))
	for i, c := range columns {
		if begun[i], err = g.take(whole(c), s, false); err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
	}
	if g.estimating() {
		return nil, nil
	}
	if err := g.runDeferred(); err != nil {
		return nil, err
	}
	taken = make([]*column.Column, len(columns))
	for i, p := range begun {
		if taken[i], err = g.column(p); err != nil {
			return nil, errors.Join(fmt.Errorf("column %d: %w", i, err), release.All(taken[:i]))
		}
	}
	return taken, nil
}

// take begins to take rows of a part. Only a nested part may get null rows that its
// format cannot represent: they lie under a null of a parent.
func (g *gatherer) take(p part, s *source, nested bool) (*pending, error) {
	l, err := layoutOf(p.data.Type)
	if err != nil {
		return nil, err
	}
	target := &pending{data: column.Data{Type: s.resultType(p.data.Type), Length: s.capacity, NullCount: column.UnknownNullCount}}
	switch l.Kind {
	case layout.Null:
		target.data.NullCount = s.capacity
	case layout.Fixed, layout.View, layout.Dictionary:
		err = g.takeValues(target, p, l, s)
	case layout.Bits:
		err = g.takeBools(target, p, l, s)
	case layout.Binary:
		err = g.takeBinary(target, p, l, s)
	case layout.List:
		err = g.takeLists(target, p, l, s)
	case layout.ListView:
		err = g.takeListViews(target, p, l, s)
	case layout.FixedSizeList:
		err = g.takeFixedSizeLists(target, p, l, s)
	case layout.Struct:
		err = g.takeStructs(target, p, l, s)
	case layout.SparseUnion, layout.DenseUnion:
		err = g.takeUnion(target, p, l, s, nested)
	case layout.RunEnds:
		err = g.takeRuns(target, p, l, s)
	}
	if err != nil {
		return nil, err
	}
	if l.HasValidity() {
		target.knowNulls()
	} else if l.Kind != layout.Null {
		target.data.NullCount = 0
	}
	return target, nil
}

// knowNulls sets the null count to zero if a column has no bitmap. It is called again
// for columns with buffers that are allocated later.
func (p *pending) knowNulls() {
	if len(p.data.Buffers) > 0 && p.data.Buffers[0].Len() == 0 {
		p.data.NullCount = 0
	}
}

// child takes rows of a child.
func (g *gatherer) child(target *pending, p part, s *source) error {
	c, err := g.take(p, s, true)
	target.children = append(target.children, c)
	return err
}

// share makes the children of the input the children of the result.
func (p *pending) share(children []*column.Column) {
	for _, c := range children {
		p.children = append(p.children, &pending{shared: c})
	}
}

// fetch requests bytes. They are complete when deferred work runs.
func (g *gatherer) fetch(from column.Bytes) []byte {
	to := make([]byte, from.Len())
	g.wanted = append(g.wanted, memory.Destination{From: from, Data: to})
	return to
}

// later defers work until the requested bytes are complete.
func (g *gatherer) later(then func() error) { g.then = append(g.then, then) }

// runDeferred fetches bytes and runs deferred work, round by round, until no work is left.
func (g *gatherer) runDeferred() error {
	if err := g.takeRest(); err != nil {
		return err
	}
	if g.bad != nil && len(g.wanted) == 0 {
		if err := g.call.Stream.Synchronize(g.ctx); err != nil {
			return err
		}
		if err := g.judge(); err != nil {
			return err
		}
	}
	for len(g.wanted)+len(g.then) > 0 {
		wanted, then := g.wanted, g.then
		g.wanted, g.then = nil, nil
		if err := memory.Download(g.ctx, g.call.Stream, wanted); err != nil {
			return err
		}
		if err := g.judge(); err != nil {
			return err
		}
		for _, follow := range then {
			if err := follow(); err != nil {
				return err
			}
		}
		if err := g.takeRest(); err != nil {
			return err
		}
	}
	return nil
}

// judge reads the word of the kernels that check bounds, after they have completed, and
// releases it. Later kernels use the same indices, so they need no check.
func (g *gatherer) judge() error {
	if g.bad == nil {
		return nil
	}
	g.firstBad = g.bad.Value()
	g.bad.Release()
	g.bad = nil
	if g.firstBad != noRow {
		return ErrBounds
	}
	return nil
}

// column makes the finished column.
func (g *gatherer) column(p *pending) (*column.Column, error) {
	if p.shared != nil {
		return p.shared, p.shared.Retain()
	}
	var err error
	data := p.data
	data.Manager = g.call.Manager
	for _, child := range p.children {
		var c *column.Column
		if c, err = g.column(child); err != nil {
			break
		}
		data.Children = append(data.Children, c)
	}
	var dictionary, finished *column.Column
	if err == nil && p.dictionary != nil {
		dictionary, err = g.column(p.dictionary)
		data.Dictionary = dictionary
	}
	if err == nil {
		data.Type, err = withChildTypes(data.Type, data.Children, dictionary)
	}
	if err == nil {
		finished, err = column.New(data)
	}
	// The column holds references to its children and dictionary.
	if err = errors.Join(err, release.All(data.Children), dictionary.Release()); err != nil {
		return nil, errors.Join(err, finished.Release())
	}
	return finished, nil
}

// allocate allocates buffers of a result in one block.
func (g *gatherer) allocate(bytes ...uint64) ([]column.Bytes, error) {
	if g.estimating() {
		return g.collect(&g.sizes.result, bytes)
	}
	return g.hold(g.call.Allocate(bytes...))
}

// scratch allocates buffers that are released with the gatherer.
func (g *gatherer) scratch(bytes ...uint64) ([]column.Bytes, error) {
	if g.estimating() {
		return g.collect(&g.sizes.scratch, bytes)
	}
	return g.hold(g.call.Scratch(bytes...))
}

func (g *gatherer) hold(block *memory.Block, buffers []column.Bytes, err error) ([]column.Bytes, error) {
	if err != nil {
		return nil, err
	}
	if block != nil {
		g.held = append(g.held, block)
	}
	return buffers, nil
}
