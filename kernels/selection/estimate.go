package selection

import (
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
)

// sizes are the bytes of the blocks that an operator allocates. An operator that is
// estimated collects them instead of allocating: the gatherer runs the same code, and
// skips kernels, copies and waits.
type sizes struct{ result, scratch []uint64 }

// estimate reports the sizes to the caller of the operator. It returns
// kernels.ErrEstimated.
func (s *sizes) estimate(call *op.Call) error { return call.Estimate(s.result, s.scratch) }

// estimating reports whether the gatherer only collects sizes.
func (g *gatherer) estimating() bool { return g.call.Estimating() }

// collect adds the size of a block, and returns as many empty buffers as it would have.
func (g *gatherer) collect(blocks *[]uint64, bytes []uint64) ([]column.Bytes, error) {
	total, err := op.Bytes(bytes...)
	*blocks = append(*blocks, total)
	return make([]column.Bytes, len(bytes)), err
}

// errUnbounded reports strings or lists that may be taken several times each.
func errUnbounded(l layout.Layout) error {
	return fmt.Errorf("an estimate of %v has no bound, because rows may be taken several times: promise with Distinct that they are not: %w",
		l.Storage, device.ErrNotSupported)
}

// estimateConcat collects the sizes of the concatenation of pieces. Strings and lists
// are counted as if the pieces had all bytes and elements in memory.
func (g *gatherer) estimateConcat(pieces []part) error {
	l, err := layoutOf(pieces[0].data.Type)
	if err != nil {
		return err
	}
	total, nullable := 0, false
	for _, p := range pieces {
		total += p.length
		nullable = nullable || !p.valid(l).absent()
	}
	if g.call.OnHost() || l.Kind == layout.DenseUnion || l.Kind == layout.RunEnds || total == 0 {
		return g.estimateUpload(pieces, total)
	}
	add := func(bytes uint64) { _, err = g.allocate(bytes) }
	if nullable {
		add(bitmapBytes(total))
	}
	each := func(childOf func(p part, i int) part) error {
		for i := range pieces[0].data.Children {
			if err := g.estimateConcat(mapped(pieces, func(p part) part { return childOf(p, i) })); err != nil {
				return err
			}
		}
		return err
	}
	extents := func(p part, i int) part { return whole(p.data.Children[i]) }
	switch l.Kind {
	case layout.Fixed, layout.View:
		add(uint64(total) * uint64(l.Width))
	case layout.Dictionary:
		add(uint64(total) * uint64(l.Width))
		first := pieces[0].data.Dictionary
		for _, p := range pieces {
			if !sameMemory(p.data.Dictionary, first) {
				return g.estimateConcat(mapped(pieces, func(p part) part { return whole(p.data.Dictionary) }))
			}
		}
	case layout.Bits:
		add(bitmapBytes(total))
	case layout.Binary:
		add(uint64(total+1) * g.estimateWidth(pieces, l))
		bytes := uint64(0)
		for _, p := range pieces {
			bytes += uint64(p.extent(l))
		}
		add(bytes)
	case layout.List:
		add(uint64(total+1) * g.estimateWidth(pieces, l))
		return each(extents)
	case layout.ListView:
		add(uint64(total) * uint64(l.Width))
		add(uint64(total) * uint64(l.Width))
		return each(extents)
	case layout.FixedSizeList:
		size := l.ListSize()
		return each(func(p part, i int) part { return p.child(i, p.offset*size, p.length*size) })
	case layout.SparseUnion:
		add(uint64(total))
		return each(func(p part, i int) part { return p.child(i, p.offset, p.length) })
	case layout.Struct:
		return each(func(p part, i int) part { return p.child(i, p.offset, p.length) })
	}
	return err
}

// estimateWidth returns the width of the offsets of a concatenation of all bytes or elements in memory,
// and collects the wider offsets of pieces that it may need.
func (g *gatherer) estimateWidth(pieces []part, l layout.Layout) uint64 {
	extent, rows := int64(0), uint64(0)
	for _, p := range pieces {
		extent += int64(p.extent(l))
		rows += uint64(p.offset + p.length + 1)
	}
	if extent <= strategy.MaximumOffset(g.ctx, l.Width) {
		return uint64(l.Width)
	}
	const wide = 8
	_, _ = g.scratch(rows * wide) // an overflow shows in the size of the result too
	return wide
}

func mapped(pieces []part, f func(part) part) []part {
	parts := make([]part, len(pieces))
	for i, p := range pieces {
		parts[i] = f(p)
	}
	return parts
}

// estimateUpload collects the sizes of a column that the host concatenates: those of all
// memory of the pieces, and of bitmaps that not every piece has.
func (g *gatherer) estimateUpload(pieces []part, rows int) error {
	var bytes []uint64
	for _, p := range pieces {
		bytes = appendMemory(bytes, p.data, bitmapBytes(rows))
	}
	_, err := g.allocate(bytes...)
	return err
}

func appendMemory(bytes []uint64, data column.Data, bitmap uint64) []uint64 {
	bytes = append(bytes, bitmap)
	for _, b := range data.Buffers {
		bytes = append(bytes, b.Bytes())
	}
	for _, child := range data.Children {
		bytes = appendMemory(bytes, child.Data(), bitmapBytes(child.Len()))
	}
	if data.Dictionary != nil {
		bytes = appendMemory(bytes, data.Dictionary.Data(), bitmapBytes(data.Dictionary.Len()))
	}
	return bytes
}
