package selection

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// takeListViews takes list views. The result shares the child of the input.
func (g *gatherer) takeListViews(target *pending, p part, l layout.Layout, s *source) error {
	offsets, err := g.takeFixed(p, l, 1, l.Width, 0, s, true)
	if err != nil {
		return err
	}
	sizes, err := g.takeFixed(p, l, 2, l.Width, 0, s, false)
	if err != nil {
		return err
	}
	target.data.Buffers = append(offsets, sizes[1])
	target.share(p.data.Children)
	return nil
}

// takeStructs takes the same rows of every child. A child that is not nullable gets no
// nulls from null structs: its values there are undefined.
func (g *gatherer) takeStructs(target *pending, p part, l layout.Layout, s *source) (err error) {
	if target.data.Buffers, err = g.takeValidity(p, l, s); err != nil {
		return err
	}
	fields := l.Storage.(*arrow.StructType)
	for i := range p.data.Children {
		if err := g.child(target, p.child(i, p.offset, p.length), s.under(fields.Field(i))); err != nil {
			return err
		}
	}
	return nil
}

// takeUnion takes type ids, and the rows of all children of a sparse union or the
// offsets of a dense union. The children of a dense union are shared. Unions have no
// validity bitmap. A null row of a sparse union is null in every child. A null row of a
// dense union must lie under a null of a parent, and gets an arbitrary value.
func (g *gatherer) takeUnion(target *pending, p part, l layout.Layout, s *source, nested bool) error {
	union := l.Storage.(arrow.UnionType)
	filling := 0
	if l.Kind == layout.DenseUnion && (s.nulls || s.rows.Len() > 0) {
		for filling < len(p.data.Children) && p.data.Children[filling].Len() == 0 {
			filling++
		}
		if s.nulls && (!nested || filling == len(p.data.Children)) {
			return fmt.Errorf("null rows of %v: the format has no place for them: %w", l.Storage, device.ErrNotSupported)
		}
	}
	code := uint64(0)
	if codes := union.TypeCodes(); filling < len(codes) {
		code = uint64(uint8(codes[filling]))
	}
	ids, err := g.takeFixed(p, l, 0, 1, code, s, false)
	if err != nil {
		return err
	}
	target.data.Buffers = ids[1:]
	if l.Kind == layout.DenseUnion {
		offsets, err := g.takeFixed(p, l, 1, 4, 0, s, false)
		if err != nil {
			return err
		}
		target.data.Buffers = append(target.data.Buffers, offsets[1])
		target.share(p.data.Children)
		return nil
	}
	for i := range p.data.Children {
		if err := g.child(target, p.child(i, p.offset, p.length), s); err != nil {
			return err
		}
	}
	return nil
}

// takeRuns takes rows of a run-end encoded column. The result has one run per row, so
// it may take a value several times even if it takes each row once.
func (g *gatherer) takeRuns(target *pending, p part, l layout.Layout, s *source) error {
	if int64(s.capacity) > l.MaximumOffset() {
		return fmt.Errorf("%d runs, the run ends of %v reach to %d: %w", s.capacity, l.Storage, l.MaximumOffset(), memory.ErrOverflow)
	}
	ends := whole(p.data.Children[0])
	buffers, err := g.allocate(uint64(s.capacity) * uint64(l.Width))
	if err != nil {
		return err
	}
	indices, err := g.scratch(8 * uint64(s.capacity))
	if err != nil {
		return err
	}
	runs := &source{
		order: listed64, indices: indices[0], limit: uint64(p.data.Children[1].Len()),
		capacity: s.capacity, rows: s.rows, nulls: s.nulls,
	}
	if s.capacity > 0 && !g.estimating() {
		if err := g.findRuns(indices[0], buffers[0], ends, p.offset, l.Width, s); err != nil {
			return err
		}
	}
	target.children = append(target.children, &pending{data: column.Data{
		Type: p.data.Children[0].Type(), Length: s.capacity, Buffers: []column.Bytes{{}, buffers[0]},
	}})
	return g.child(target, whole(p.data.Children[1]), runs)
}

func (g *gatherer) findRuns(out, outEnds column.Bytes, ends part, offset, width int, s *source) error {
	values, err := ends.values(1, width, ends.length)
	if err != nil {
		return err
	}
	if err := checkAligned("run ends", values, width); err != nil {
		return err
	}
	if g.call.OnHost() {
		return s.takeRunsOnHost(out, outEnds, values, width, offset)
	}
	if err := launch(g.call, takeFile, fmt.Sprint("take_runs_", width), s.capacity, 1,
		s.anyArguments(out, values, uint64(ends.length), uint64(offset))...); err != nil {
		return err
	}
	return launch(g.call, takeFile, fmt.Sprint("count_runs_", width), s.capacity, rowsEach, outEnds, uint64(s.capacity))
}
