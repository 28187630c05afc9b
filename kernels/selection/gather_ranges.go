package selection

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// ranges are rows of strings or lists that were found and not copied yet: where
// each begins in the result, and where in the input.
type ranges struct {
	offsets, begins column.Bytes
	width           int
	rows            int
	// total has the sum of the lengths.
	total memory.Slice[int64]
}

// takeRanges takes offsets and validity, and calls then with how many bytes or
// elements the result has room for: as many as there are in the input where no row
// is taken twice, or else as many as there turn out to be.
func (g *gatherer) takeRanges(made *pending, p part, l layout, s *source, extent int, then func(r ranges, room int) error) error {
	valid := p.valid(l)
	width := uint64(l.width)
	count := uint64(s.capacity) + 1
	tiles := (count-1)/(blockThreads*rowsEach) + 1
	if count > math.MaxInt64/16 {
		return fmt.Errorf("%d rows: %w", s.capacity, memory.ErrOverflow)
	}
	buffers, err := g.allocate(bitmapIf(s.nulls || !valid.absent(), s.capacity), count*width)
	if err != nil {
		return err
	}
	made.data.Buffers = buffers
	scratch, err := g.allocate(count*width, (tiles+1)*8)
	if err != nil {
		return err
	}
	sums, err := memory.Reinterpret[int64](scratch[1])
	if err != nil {
		return err
	}
	r := ranges{offsets: buffers[1], begins: scratch[0], width: l.width, rows: s.capacity}
	if err := g.addRanges(&r, buffers[0], p, valid, sums, int(tiles), s); err != nil {
		return err
	}
	if s.once {
		return then(r, extent)
	}
	fetched := g.fetch(r.total.AsBytes())
	g.later(func() error {
		total := int64(binary.NativeEndian.Uint64(fetched))
		if total > l.maximumOffset() {
			return fmt.Errorf("the result has %d bytes or elements, the offsets of %v reach to %d: take in parts, or as the type with large offsets: %w",
				total, l.storage, l.maximumOffset(), memory.ErrOverflow)
		}
		return then(r, int(total))
	})
	return nil
}

// addRanges finds the rows and adds up their lengths.
func (g *gatherer) addRanges(r *ranges, outValid column.Bytes, p part, valid bits, sums memory.Slice[int64], tiles int, s *source) error {
	at := 0
	if tiles > 1 {
		at = tiles
	}
	var err error
	if r.total, err = sums.Slice(at, at+1); err != nil {
		return err
	}
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
	file := fmt.Sprint("take_ranges_", r.width)
	if err := launch(g.call.Stream, file, file+string(s.order), r.rows+1, rowsEach,
		s.arguments(r.offsets, r.begins, outValid, offsets, valid.bytes, valid.at, sums)...); err != nil || tiles == 1 {
		return err
	}
	if err := launch(g.call.Stream, "add_sums", "add_sums", 1, 1, sums, uint64(tiles)); err != nil {
		return err
	}
	return launch(g.call.Stream, file, fmt.Sprint("add_ranges_", r.width), r.rows+1, rowsEach, r.offsets, uint64(r.rows+1), sums)
}

// takeBinary takes strings.
func (g *gatherer) takeBinary(made *pending, p part, l layout, s *source) error {
	if s.consecutive() {
		err := g.takeOffsets(made, p, l, s)
		made.data.Buffers = append(made.data.Buffers, p.data.Buffers[2])
		return err
	}
	data := p.data.Buffers[2]
	return g.takeRanges(made, p, l, s, data.Len(), func(r ranges, room int) error {
		buffers, err := g.allocate(uint64(room))
		if err != nil {
			return err
		}
		made.data.Buffers = append(made.data.Buffers, buffers[0])
		if room == 0 {
			return nil
		}
		if g.call.OnHost() {
			return r.copyOnHost(buffers[0], data)
		}
		file := fmt.Sprint("copy_ranges_", r.width)
		return launch(g.call.Stream, file, file, room, 4*16, buffers[0], r.offsets, r.begins, uint64(r.rows), uint64(room), data, data.Bytes())
	})
}

// takeLists takes lists: their elements are rows of the child.
func (g *gatherer) takeLists(made *pending, p part, l layout, s *source) error {
	if s.consecutive() {
		made.share(p.data.Children)
		return g.takeOffsets(made, p, l, s)
	}
	child := whole(p.data.Children[0])
	return g.takeRanges(made, p, l, s, child.length, func(r ranges, room int) error {
		elements := &source{order: listed32, limit: uint64(child.length), capacity: room}
		width := uint64(4)
		if uint64(child.length) > math.MaxUint32 {
			elements.order, width = listed64, 8
		}
		if s.once { // or else there are as many as there is room for
			elements.once, elements.rows = true, r.total
		}
		buffers, err := g.allocate(uint64(room) * width)
		if err != nil {
			return err
		}
		elements.indices = buffers[0]
		if room > 0 {
			if err := g.expandRanges(r, elements); err != nil {
				return err
			}
		}
		return g.child(made, child, elements)
	})
}

func (g *gatherer) expandRanges(r ranges, elements *source) error {
	if g.call.OnHost() {
		return r.expandOnHost(elements)
	}
	file := fmt.Sprint("expand_ranges_", r.width)
	return launch(g.call.Stream, file, file+string(elements.order), elements.capacity, 4,
		elements.indices, r.offsets, r.begins, uint64(r.rows), uint64(elements.capacity))
}

// consecutive reports whether the rows follow one another as in the input, so that
// what their offsets embrace can be shared.
func (s *source) consecutive() bool { return s.order == ruled && s.last != 0 }

// takeOffsets takes the offsets of consecutive rows as they are: one more than
// there are rows.
func (g *gatherer) takeOffsets(made *pending, p part, l layout, s *source) (err error) {
	if made.data.Buffers, err = g.takeValidity(p, l, s); err != nil || p.length == 0 {
		made.data.Buffers = append(made.data.Buffers, column.Bytes{})
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
	taken, err := g.takeFixed(offsets, l, 1, l.width, 0, &further, false)
	if err != nil {
		return err
	}
	made.data.Buffers = append(made.data.Buffers, taken[1])
	return nil
}
