package exchange

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/exchange/internal/pack"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// leastRows is the number of rows below which a slice is not divided because of too little
// memory.
const leastRows = 256

// mover moves columns to a manager. One goroutine uses it.
type mover struct {
	ctx     context.Context
	to      *memory.Manager
	options Options
	routes  map[string]Route
	// dictionaries are those that were moved, by the original.
	dictionaries map[*column.Column]*column.Column
	// ordered are the blocks of sources that this mover's streams were ordered after, before the
	// movers of other destinations enqueued copies of them.
	ordered map[*memory.Block]bool
	// lane is a second stream of the destination for peer copies, or nil.
	lane *device.Stream
	// pinned is the memory of a round, nil until it is needed.
	pinned    []byte
	allocator *memory.PinnedAllocator
}

func newMover(ctx context.Context, to *memory.Manager, options Options) *mover {
	return &mover{ctx: ctx, to: to, options: options, routes: map[string]Route{}, dictionaries: map[*column.Column]*column.Column{}}
}

// close releases what the mover holds. It keeps the columns that it has returned.
func (m *mover) close() error {
	var failures []error
	for _, moved := range m.dictionaries {
		failures = append(failures, moved.Release())
	}
	if m.lane != nil {
		failures = append(failures, m.to.Stream().WaitStream(m.lane), m.lane.Close())
		m.lane = nil
	}
	if m.allocator != nil {
		m.allocator.Free(m.pinned)
		failures = append(failures, m.allocator.Close())
	}
	return errors.Join(failures...)
}

func (m *mover) route(from *device.Device) (Route, error) {
	if known, ok := m.routes[from.Name()]; ok {
		return known, nil
	}
	route, err := RouteBetween(from, m.to.Device())
	if err == nil {
		m.routes[from.Name()] = route
	}
	return route, err
}

// columns moves a column with a number of rows that the host knows. The result is the column
// in one piece or in several ones, in order; the caller releases them.
func (m *mover) columns(c *column.Column) (pieces []*column.Column, err error) {
	if err := cancel.Error(m.ctx); err != nil {
		return nil, err
	}
	if c.Device() != nil && c.Device().Same(m.to.Device()) {
		if err := c.Retain(); err != nil {
			return nil, err
		}
		return []*column.Column{c}, nil
	}
	var p pack.Plan
	s, err := p.All(c)
	if err != nil {
		return nil, err
	}
	if p.Sliced {
		return m.slice(c)
	}
	copied, err := m.copy(s, &p)
	if err != nil {
		return nil, err
	}
	return []*column.Column{copied}, nil
}

// slice moves a slice with strings or lists: it copies it to memory of its size first, in two
// parts if the device has too little memory for that, and so on.
func (m *mover) slice(c *column.Column) (pieces []*column.Column, err error) {
	compact, err := selection.CompactColumn(m.ctx, c, kernels.Options{Tag: op.ScratchTag})
	if err == nil {
		moved, err := m.wholeColumn(compact)
		if moved, err = release.OnError(moved, err, compact.Release()); err != nil {
			return nil, err
		}
		return []*column.Column{moved}, nil
	}
	if rows := c.Len(); rows >= leastRows && isShort(err) {
		for _, bounds := range [2][2]int{{0, rows / 2}, {rows / 2, rows}} {
			half, err := m.half(c, bounds[0], bounds[1])
			if err != nil {
				return nil, errors.Join(err, release.All(pieces))
			}
			pieces = append(pieces, half...)
		}
		return pieces, nil
	}
	return nil, fmt.Errorf("copy a slice on %s: %w", c.Device(), err)
}

func (m *mover) half(c *column.Column, from, to int) ([]*column.Column, error) {
	if err := cancel.Error(m.ctx); err != nil {
		return nil, err
	}
	half, err := c.Slice(from, to-from)
	if err != nil {
		return nil, err
	}
	pieces, err := m.slice(half)
	if err = errors.Join(err, half.Release()); err != nil {
		return nil, errors.Join(err, release.All(pieces))
	}
	return pieces, nil
}

func isShort(err error) bool {
	return errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory)
}

// wholeColumn moves a column and all that its offsets refer to. The caller releases the
// result.
func (m *mover) wholeColumn(c *column.Column) (*column.Column, error) {
	var p pack.Plan
	s, err := p.All(c)
	if err != nil {
		return nil, err
	}
	return m.copy(s, &p)
}

// dictionary moves a dictionary once. The result is borrowed from the mover.
func (m *mover) dictionary(c *column.Column) (*column.Column, error) {
	if moved := m.dictionaries[c]; moved != nil {
		return moved, nil
	}
	moved, err := m.wholeColumn(c)
	if err != nil {
		return nil, fmt.Errorf("dictionary: %w", err)
	}
	m.dictionaries[c] = moved
	return moved, nil
}

// copy makes a column of a plan.
func (m *mover) copy(s *pack.Shape, p *pack.Plan) (copied *column.Column, err error) {
	if len(p.Regions) == 0 {
		return m.column(s, p, nil)
	}
	block, err := m.to.AllocateContext(m.ctx, p.Bytes, memory.AllocateOptions{Tag: m.options.Tag})
	if err != nil {
		return nil, fmt.Errorf("on %s: %w", m.to.Device(), err)
	}
	all, err := memory.View[uint8](block, 0, int(p.Bytes))
	if err == nil {
		all, err = m.fresh(all)
	}
	if err == nil {
		err = m.transfer(all, p)
	}
	if err == nil {
		copied, err = m.column(s, p, block)
	}
	return release.OnError(copied, err, block.Release())
}

// column makes a column of its shape and the block with its regions.
func (m *mover) column(s *pack.Shape, p *pack.Plan, block *memory.Block) (copied *column.Column, err error) {
	data := s.Data
	data.Manager = m.to
	for _, number := range s.Regions {
		var bytes column.Bytes
		if number != pack.Absent {
			r := p.Regions[number]
			if bytes, err = memory.View[uint8](block, r.At, r.Source.Len()); err != nil {
				return nil, err
			}
		}
		data.Buffers = append(data.Buffers, bytes)
	}
	defer func() {
		// The column holds its own references.
		copied, err = release.OnError(copied, err, release.All(data.Children))
	}()
	for _, child := range s.Children {
		c, err := m.column(child, p, block)
		if err != nil {
			return nil, err
		}
		data.Children = append(data.Children, c)
	}
	if s.Dictionary != nil {
		if data.Dictionary, err = m.dictionary(s.Dictionary); err != nil {
			return nil, err
		}
	}
	// A part of a column without equal elements has none either.
	if known := s.Of.Known(); s.Whole || known.Unique == column.Yes {
		data.Known = known
	}
	if copied, err = column.New(data); err != nil {
		return nil, err
	}
	if bounds, known := s.Of.Bounds(); known && s.Whole {
		copied.LearnBounds(bounds)
	}
	return copied, nil
}

// transfer fills memory with the regions of a plan, which are all on one device.
func (m *mover) transfer(to memory.Slice[uint8], p *pack.Plan) error {
	from := p.Regions[0].Source.Block().Device()
	route, err := m.route(from)
	if err != nil {
		return err
	}
	move := m.byPeerCopies
	switch route.Means {
	case Pinned:
		move = m.throughPinned
	case PeerCopy:
		for _, r := range p.Regions {
			m.options.Traffic.peer.Add(r.Source.Bytes())
		}
	}
	if err := move(to, p); err != nil {
		return fmt.Errorf("%v: %w", route, err)
	}
	return nil
}

func (m *mover) byPeerCopies(to memory.Slice[uint8], p *pack.Plan) error {
	for _, r := range p.Regions {
		if err := cancel.Error(m.ctx); err != nil {
			return err
		}
		destination, err := to.Slice(int(r.At), int(r.At)+r.Source.Len())
		if err != nil {
			return err
		}
		source := r.Source
		if m.ordered[source.Block()] {
			source = source.Unordered()
		}
		if err := destination.CopyFrom(m.stream(source.Block()), source); err != nil {
			return err
		}
	}
	return nil
}

// throughPinned fills the memory in rounds: from the device to pinned memory, and from there to
// the other device. A round ends at any byte.
func (m *mover) throughPinned(to memory.Slice[uint8], p *pack.Plan) error {
	m.growPinned(min(m.options.RoundBytes, p.Bytes))
	next := 0 // the first region that is not moved
	for begin := uint64(0); begin < p.Bytes; begin += uint64(len(m.pinned)) {
		if err := cancel.Error(m.ctx); err != nil {
			return err
		}
		end := min(begin+uint64(len(m.pinned)), p.Bytes)
		if err := m.round(to, p, &next, begin, end); err != nil {
			return err
		}
		m.options.Traffic.rounds.Add(1)
	}
	return nil
}

// growPinned makes the pinned memory at least as long as given. If none is left to pin, it is
// pageable memory, which transfers stage.
func (m *mover) growPinned(bytes uint64) {
	if uint64(len(m.pinned)) >= bytes {
		return
	}
	if m.allocator == nil {
		m.allocator = memory.NewPinnedAllocator(m.to.Device(), 0)
	}
	m.allocator.Free(m.pinned)
	m.pinned = m.allocator.AllocateUninitialized(int(bytes))
}

// round moves the parts of regions that lie between two positions of the memory.
func (m *mover) round(to memory.Slice[uint8], p *pack.Plan, next *int, begin, end uint64) error {
	var from []memory.Destination
	var sources []memory.Source
	for i := *next; i < len(p.Regions) && p.Regions[i].At < end; i++ {
		r := p.Regions[i]
		first, last := max(r.At, begin), min(r.At+r.Source.Bytes(), end)
		if last == r.At+r.Source.Bytes() {
			*next = i + 1
		}
		if first >= last {
			continue
		}
		part, err := r.Source.Slice(int(first-r.At), int(last-r.At))
		if err != nil {
			return err
		}
		staged := m.pinned[first-begin : last-begin]
		from = append(from, memory.Destination{From: part, Data: staged})
		sources = append(sources, memory.Source{Offset: first - begin, Data: staged})
		m.options.Traffic.pinned.Add(last - first)
	}
	if len(from) == 0 {
		return nil
	}
	if err := memory.Download(m.ctx, nil, from); err != nil {
		return err
	}
	destination, err := to.Slice(int(begin), int(end))
	if err != nil {
		return err
	}
	return memory.Upload(m.ctx, m.to.Stream(), destination, sources)
}
