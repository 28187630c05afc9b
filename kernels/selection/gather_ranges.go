package selection

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/memory"
)

// ranges are rows of strings or lists that were located but not copied yet: their
// positions in the result and in the input.
type ranges struct {
	offsets, begins column.Bytes
	width           int
	rows            int
	// extent is the number of bytes or elements in the input. Offsets beyond it are
	// unsound.  most is the largest allowed offset of the result.
	extent, most int64
	// total holds the sum of the lengths.
	total memory.Slice[int64]
	// mean is about the mean length of strings.
	mean int
}

// takeRanges takes offsets and validity. It then calls then with room, the number of
// bytes or elements to allocate for the result. If no row is taken twice, room is the
// bound that visible computes. Otherwise it is the exact sum, which is fetched.
func (g *gatherer) takeRanges(target *pending, p part, l layout.Layout, s *source, extent int, then func(r ranges, room int) error) error {
	r := ranges{width: l.Width, rows: s.capacity, extent: int64(extent), most: l.MaximumOffset()}
	if g.estimating() {
		if !s.once {
			return errUnbounded(l)
		}
		return errors.Join(g.findRanges(target, p, l, s, &r), then(r, extent))
	}
	if !s.once || s.exact {
		if err := g.findRanges(target, p, l, s, &r); err != nil {
			return err
		}
		fetched := g.fetch(r.total.AsBytes())
		g.later(func() error {
			total := int64(binary.NativeEndian.Uint64(fetched))
			if total > strategy.MaximumOffset(g.ctx, l.Width) {
				return g.takeWidened(target, p, l, s, r, total, then)
			}
			return then(r, int(total))
		})
		return nil
	}
	return g.visible(p, l, extent, func(room int) error {
		r.most = int64(room)
		if err := g.findRanges(target, p, l, s, &r); err != nil {
			return err
		}
		return then(r, room)
	})
}

// takeWidened locates the rows again, with 64-bit offsets.
func (g *gatherer) takeWidened(target *pending, p part, l layout.Layout, s *source, r ranges, total int64, then func(r ranges, room int) error) error {
	pieces := []part{p}
	if err := g.widenPieces(target, &l, total, pieces); err != nil {
		return err
	}
	r.width, r.most = l.Width, total
	again := *s
	again.bad = nil // the indices were checked
	if err := g.findRanges(target, pieces[0], l, &again, &r); err != nil {
		return err
	}
	return then(r, int(total))
}

const (
	// boundBytes is the number of bytes or elements below which a smaller allocation is
	// not worth a wait.
	boundBytes = 64 << 10
	// boundShare defines a small slice: at most 1/boundShare of the rows in the buffer
	// of offsets. The result of a larger slice is allocated as long as all data of the
	// input.
	boundShare = 2
)

// visible calls then with an upper bound of the number of bytes or elements in a part's
// rows.
//
// The bound is the size of all rows in the buffers, which the host knows. For a small
// slice it is the difference of two offsets. On a GPU that takes a wait of some 10 µs,
// and saves memory for rows outside the slice. A stream that is being captured cannot
// wait and uses the larger bound.
func (g *gatherer) visible(p part, l layout.Layout, extent int, then func(room int) error) error {
	inBuffer := p.data.Buffers[1].Len()/l.Width - 1
	small := p.length > 0 && p.length <= inBuffer/boundShare && extent > boundBytes
	if !small || streamwork.RefuseCapture(g.call.Stream) != nil {
		return then(extent)
	}
	ends, err := g.fetchEnds(p, l)
	if err != nil {
		return err
	}
	g.later(func() error {
		from, to := wordAt(ends[0], l.Width, 0), wordAt(ends[1], l.Width, 0)
		if from < 0 || to < from || to > int64(extent) {
			return then(extent)
		}
		return then(int(to - from))
	})
	return nil
}

// fetchEnds fetches the first and the last offset of a part.
func (g *gatherer) fetchEnds(p part, l layout.Layout) (ends [2][]byte, err error) {
	for end, at := range []int{p.offset, p.offset + p.length} {
		offset, err := p.data.Buffers[1].Slice(at*l.Width, (at+1)*l.Width)
		if err != nil {
			return ends, err
		}
		ends[end] = g.fetch(offset)
	}
	return ends, nil
}

// findRanges allocates offsets and validity and locates the rows.
func (g *gatherer) findRanges(target *pending, p part, l layout.Layout, s *source, r *ranges) error {
	valid := p.valid(l)
	width := uint64(l.Width)
	count := uint64(s.capacity) + 1
	tiles := (count-1)/(blockThreads*rowsEach) + 1
	if count > math.MaxInt64/16 {
		return fmt.Errorf("%d rows: %w", s.capacity, memory.ErrOverflow)
	}
	buffers, err := g.allocate(bitmapIf(s.nulls || !valid.absent(), s.capacity), count*width)
	if err != nil {
		return err
	}
	target.data.Buffers = buffers
	target.knowNulls()
	// One tile needs no state for the sums of the tiles before it.
	state := uint64(0)
	if tiles > 1 {
		state = lookback.Bytes(tiles, 8)
	}
	scratch, err := g.scratch(count*width, 8, state)
	if err != nil || g.estimating() {
		return err
	}
	if r.total, err = memory.Reinterpret[int64](scratch[1]); err != nil {
		return err
	}
	r.offsets, r.begins = buffers[1], scratch[0]
	return g.addRanges(r, buffers[0], p, valid, scratch[2], s)
}

// addRanges locates the rows and adds up their lengths.
func (g *gatherer) addRanges(r *ranges, outValid column.Bytes, p part, valid bits, state column.Bytes, s *source) (err error) {
	var offsets column.Bytes
	if p.length > 0 {
		if offsets, err = p.values(1, r.width, p.length+1); err != nil {
			return err
		}
		if err := checkAligned("offsets", offsets, r.width); err != nil {
			return err
		}
	}
	if g.call.OnHost() {
		return s.takeRangesOnHost(r, outValid, offsets, valid)
	}
	if state.Len() > 0 {
		if err := state.Fill(g.call.Stream, 0); err != nil {
			return err
		}
	}
	return launch(g.call, rangesFile, fmt.Sprint("take_ranges_", r.width), r.rows+1, rowsEach,
		s.anyArguments(r.offsets, r.begins, outValid, offsets, valid.bytes, valid.at, r.total, state, uint64(r.extent), uint64(r.most))...)
}

// shortRows and shortBytes bound the columns of short strings, which a kernel copies by rows:
// on few rows the other kernel has more threads, and long strings it copies no slower.
const (
	shortRows  = 1 << 16
	shortBytes = 24
	shortData  = 16 // the kernel reads two words of the data
)

// copy copies the bytes of strings to a buffer with room for them.
func (r ranges) copy(call *op.Call, out, data column.Bytes, room int) error {
	if call.OnHost() {
		return r.copyOnHost(out, data)
	}
	if r.rows >= shortRows && data.Len() >= shortData && r.mean <= shortBytes {
		return r.copyRows(call, out, data, room)
	}
	return r.copyPieces(call, out, data, room)
}

// copyRows copies by rows. The data has shortData bytes or more.
func (r ranges) copyRows(call *op.Call, out, data column.Bytes, room int) error {
	return r.launchCopy(call, "copy_rows_", r.rows, 4, out, data, room)
}

// copyPieces copies pieces of 16 bytes of the output.
func (r ranges) copyPieces(call *op.Call, out, data column.Bytes, room int) error {
	return r.launchCopy(call, "copy_ranges_", room, 4*16, out, data, room)
}

func (r ranges) launchCopy(call *op.Call, name string, elements, each int, out, data column.Bytes, room int) error {
	return launch(call, rangesFile, fmt.Sprint(name, r.width), elements, each, out, r.offsets, r.begins, uint64(r.rows), uint64(room), data, data.Bytes())
}

// takeBinary takes strings.
func (g *gatherer) takeBinary(target *pending, p part, l layout.Layout, s *source) error {
	if s.consecutive() {
		err := g.takeOffsets(target, p, l, s)
		target.data.Buffers = append(target.data.Buffers, p.data.Buffers[2])
		return err
	}
	data := p.data.Buffers[2]
	return g.takeRanges(target, p, l, s, data.Len(), func(r ranges, room int) error {
		buffers, err := g.allocate(uint64(room))
		if err != nil {
			return err
		}
		target.data.Buffers = append(target.data.Buffers, buffers[0])
		if room == 0 || g.estimating() {
			return nil
		}
		r.mean = room / max(r.rows, 1)
		if s.once && !s.exact {
			r.mean = room / max(p.length, 1) // of the input, as room is
		}
		return r.copy(g.call, buffers[0], data, room)
	})
}

// takeLists takes lists: their elements are rows of the child.
func (g *gatherer) takeLists(target *pending, p part, l layout.Layout, s *source) error {
	if s.consecutive() {
		target.share(p.data.Children)
		return g.takeOffsets(target, p, l, s)
	}
	child := whole(p.data.Children[0])
	return g.takeRanges(target, p, l, s, child.length, func(r ranges, room int) error {
		elements := &source{order: listed32, limit: uint64(child.length), capacity: room}
		width := uint64(4)
		if uint64(child.length) > math.MaxUint32 {
			elements.order, width = listed64, 8
		}
		elements.once, elements.exact = s.once, s.exact
		if s.once && !s.exact { // otherwise room is the exact number of elements
			elements.rows = r.total
		}
		buffers, err := g.scratch(uint64(room) * width)
		if err != nil {
			return err
		}
		elements.indices = buffers[0]
		if room > 0 && !g.estimating() {
			if err := g.expandRanges(r, elements); err != nil {
				return err
			}
		}
		return g.child(target, child, elements)
	})
}

func (g *gatherer) expandRanges(r ranges, elements *source) error {
	if g.call.OnHost() {
		return r.expandOnHost(elements)
	}
	return launch(g.call, rangesFile, fmt.Sprint("expand_ranges_", r.width), elements.capacity, 4,
		elements.indices, r.offsets, r.begins, uint64(r.rows), uint64(elements.capacity), elements.order.wide())
}

// consecutive reports whether the rows are consecutive in the input, so that the data
// between their offsets can be shared.
func (s *source) consecutive() bool { return s.order == ruled && s.last != 0 }

// takeOffsets copies the offsets of consecutive rows, one more than there are rows.
func (g *gatherer) takeOffsets(target *pending, p part, l layout.Layout, s *source) (err error) {
	if target.data.Buffers, err = g.takeValidity(p, l, s); err != nil || p.length == 0 {
		target.data.Buffers = append(target.data.Buffers, column.Bytes{})
		return err
	}
	further := *s
	further.last, further.limit, further.capacity = s.last+1, s.limit+1, s.capacity+1
	further.limitRows, err = g.counted(count{rows: s.limitRows, capacity: p.length, size: 1, more: 1, most: further.limit})
	if err != nil {
		return err
	}
	further.rows = further.limitRows
	offsets := p
	offsets.length++
	offsets.data.NullCount = 0 // null rows have offsets too
	taken, err := g.takeFixed(offsets, l, 1, l.Width, 0, &further, false)
	if err != nil {
		return err
	}
	target.data.Buffers = append(target.data.Buffers, taken[1])
	return nil
}
