package selection

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// rowsEach is the number of rows per thread in most kernels.
const rowsEach = 8

// takeValues takes values of a fixed width. The dictionary or data buffers that they
// refer to are shared.
func (g *gatherer) takeValues(target *pending, p part, l layout.Layout, s *source) (err error) {
	target.data.Dictionary = p.data.Dictionary
	if target.data.Buffers, err = g.takeFixed(p, l, 1, l.Width, 0, s, true); err != nil {
		return err
	}
	if l.Kind == layout.View {
		target.data.Buffers = append(target.data.Buffers, p.data.Buffers[2:]...)
	}
	return nil
}

// takeFixed takes the values of one buffer and, if validity is true, their validity. It
// returns the buffers for validity and values. Rows without a value get the filling.
func (g *gatherer) takeFixed(p part, l layout.Layout, buffer, width int, filling uint64, s *source, validity bool) ([]column.Bytes, error) {
	valid := p.valid(l)
	nullable := validity && (s.nulls || !valid.absent())
	bytes, err := bytesFor(s.capacity, width)
	if err != nil {
		return nil, err
	}
	buffers, err := g.allocate(bitmapIf(nullable, s.capacity), bytes)
	if err != nil || s.capacity == 0 || g.estimating() {
		return buffers, err
	}
	values, err := p.values(buffer, width, p.length)
	if err != nil {
		return nil, err
	}
	if !direct(width, values, buffers[1]) {
		if nullable || width == 0 {
			if err := g.takeBits(column.Bytes{}, buffers[0], bits{}, valid, s); err != nil {
				return nil, err
			}
		}
		if width == 0 {
			return buffers, nil
		}
		return buffers, g.takeWide(buffers[1], values, width, s)
	}
	if validity && filling == 0 && s.capacity <= togetherRows && !g.call.OnHost() {
		return buffers, g.takeTogether(takeJob{buffers[1], buffers[0], values, valid, width}, s)
	}
	return buffers, g.takeDirect(buffers[1], buffers[0], values, valid, width, filling, s)
}

// takeDirect takes values that one load moves, and their validity.
func (g *gatherer) takeDirect(out, outValid, values column.Bytes, valid bits, width int, filling uint64, s *source) error {
	if g.call.OnHost() {
		return s.takeFixedOnHost(out, outValid, values, valid, width, filling)
	}
	each := rowsEach
	if width == 16 {
		each = 4
	}
	name, arguments := "take_"+widthName(width), s.anyArguments
	if width == 4 || width == 8 {
		name, arguments = name+s.order.bits(), s.arguments
	}
	return launch(g.call, takeFile, name, s.capacity, each, arguments(out, outValid, values, valid.bytes, valid.at, filling)...)
}

// widthName returns the suffix in kernel names for a width that one load moves.
func widthName(width int) string {
	switch width {
	case 1:
		return "1"
	case 2:
		return "2"
	case 4:
		return "4"
	case 8:
		return "8"
	}
	return "16"
}

// direct reports whether one load can move a value.
func direct(width int, values, out column.Bytes) bool {
	switch width {
	case 1, 2, 4, 8, 16:
		return uint64(values.Pointer()|out.Pointer())%uint64(width) == 0
	}
	return false
}

// takeWide takes values of any size.
func (g *gatherer) takeWide(out, values column.Bytes, width int, s *source) error {
	if g.call.OnHost() {
		return s.takeFixedOnHost(out, column.Bytes{}, values, bits{}, width, 0)
	}
	unit := 1
	for _, u := range []int{16, 8, 4} {
		if width%u == 0 && uint64(values.Pointer())%uint64(u) == 0 {
			unit = u
			break
		}
	}
	units := width / unit
	if s.capacity > math.MaxInt/units {
		return fmt.Errorf("%d values of %d bytes: %w", s.capacity, width, memory.ErrOverflow)
	}
	return launch(g.call, takeFile, fmt.Sprint("take_wide_", unit), s.capacity*units, 4,
		s.anyArguments(out, values, uint32(units))...)
}

// takeBools takes bits.
func (g *gatherer) takeBools(target *pending, p part, l layout.Layout, s *source) (err error) {
	valid := p.valid(l)
	bytes := bitmapBytes(s.capacity)
	if target.data.Buffers, err = g.allocate(bitmapIf(s.nulls || !valid.absent(), s.capacity), bytes); err != nil {
		return err
	}
	return g.takeBits(target.data.Buffers[1], target.data.Buffers[0], p.bits(1), valid, s)
}

// takeValidity takes only the validity, if there is a bitmap.
func (g *gatherer) takeValidity(p part, l layout.Layout, s *source) ([]column.Bytes, error) {
	valid := p.valid(l)
	buffers, err := g.allocate(bitmapIf(s.nulls || !valid.absent(), s.capacity))
	if err != nil || buffers[0].Len() == 0 {
		return buffers, err
	}
	return buffers, g.takeBits(column.Bytes{}, buffers[0], bits{}, valid, s)
}

// takeBits takes bits and their validity. Either output may be empty.
func (g *gatherer) takeBits(out, outValid column.Bytes, values, valid bits, s *source) error {
	if s.capacity == 0 || g.estimating() {
		return nil
	}
	if g.call.OnHost() {
		return s.takeBitsOnHost(out, outValid, values, valid)
	}
	return launch(g.call, takeFile, "take_bits", s.capacity, rowsEach,
		s.anyArguments(out, outValid, values.bytes, values.at, valid.bytes, valid.at)...)
}

// widen converts narrower indices to 32 bits.
func (g *gatherer) widen(indices column.Bytes, t arrow.Type, n int) (column.Bytes, error) {
	buffers, err := g.scratch(4 * uint64(n))
	if err != nil || g.estimating() {
		return column.Bytes{}, err
	}
	if g.call.OnHost() {
		return buffers[0], widenOnHost(buffers[0], indices, t)
	}
	name := map[arrow.Type]string{arrow.INT8: "widen_i8", arrow.UINT8: "widen_u8", arrow.INT16: "widen_i16", arrow.UINT16: "widen_u16"}[t]
	return buffers[0], launch(g.call, takeFile, name, n, rowsEach, buffers[0], indices, uint64(n))
}

// bytesFor returns the size of n values in bytes.
func bytesFor(n, width int) (uint64, error) {
	if width > 0 && n > math.MaxInt/width {
		return 0, fmt.Errorf("%d values of %d bytes: %w", n, width, memory.ErrOverflow)
	}
	return uint64(n) * uint64(width), nil
}

// bitmapIf returns the size of a bitmap in bytes, or 0 if it is not needed.
func bitmapIf(needed bool, n int) uint64 {
	if !needed {
		return 0
	}
	return bitmapBytes(n)
}
