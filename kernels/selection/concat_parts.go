package selection

import (
	"fmt"
	"math"
	"slices"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/memory"
)

// concatValidity concatenates the validity bitmaps if any piece has one.
func (g *gatherer) concatValidity(target *pending, pieces []part, l layout.Layout) error {
	if !l.HasValidity() {
		if l.Kind != layout.Null {
			target.data.NullCount = 0
		}
		return nil
	}
	if !slices.ContainsFunc(pieces, func(p part) bool { return !p.valid(l).absent() }) {
		target.data.NullCount = 0
		target.data.Buffers = append(target.data.Buffers, column.Bytes{})
		return nil
	}
	target.data.NullCount = 0
	for _, p := range pieces {
		if count := p.nullCount(); count == column.UnknownNullCount {
			target.data.NullCount = column.UnknownNullCount
			break
		} else {
			target.data.NullCount += count
		}
	}
	return g.concatBits(target, pieces, func(p part) bits { return p.valid(l) })
}

// concatBits concatenates bitmaps. The bits of an absent bitmap are set.
func (g *gatherer) concatBits(target *pending, pieces []part, bitsOf func(part) bits) error {
	buffers, err := g.allocate(bitmapBytes(target.data.Length))
	if err != nil {
		return err
	}
	target.data.Buffers = append(target.data.Buffers, buffers[0])
	position := uint64(0)
	for _, p := range pieces {
		b, n := bitsOf(p), uint64(p.length)
		words := (position%32 + n + 31) / 32
		if err := launch(g.call, concatFile, "copy_bits", int(words), 1, buffers[0], position, b.bytes, b.at, n); err != nil {
			return err
		}
		position += n
	}
	return nil
}

// concatFixed concatenates the values of one buffer.
func (g *gatherer) concatFixed(target *pending, pieces []part, buffer, width int) error {
	out, err := g.room(target, width)
	if err != nil {
		return err
	}
	at := 0
	for _, p := range pieces {
		values, err := p.values(buffer, width, p.length)
		if err != nil {
			return err
		}
		if err := g.copy(out, at, values); err != nil {
			return err
		}
		at += values.Len()
	}
	return nil
}

// room appends a buffer for values of a width to the result.
func (g *gatherer) room(target *pending, width int) (column.Bytes, error) {
	bytes, err := bytesFor(target.data.Length, width)
	if err != nil {
		return column.Bytes{}, err
	}
	buffers, err := g.allocate(bytes)
	if err != nil {
		return column.Bytes{}, err
	}
	target.data.Buffers = append(target.data.Buffers, buffers[0])
	return buffers[0], nil
}

// copy copies bytes to position at of out.
func (g *gatherer) copy(out column.Bytes, at int, from column.Bytes) error {
	to, err := out.Slice(at, at+from.Len())
	if err != nil {
		return err
	}
	return to.CopyFrom(g.call.Stream, from)
}

// rebase writes integers of a width to position at of out. It adds a number to those
// below the limit; others become 0.
func (g *gatherer) rebase(out column.Bytes, at int, from column.Bytes, width int, add, limit uint64) error {
	if from.Len() == 0 {
		return nil
	}
	if err := checkAligned("offsets or indices", from, width); err != nil {
		return err
	}
	to, err := out.Slice(at, at+from.Len())
	if err != nil {
		return err
	}
	n := from.Len() / width
	return launch(g.call, concatFile, "rebase_"+widthName(width), n, rowsEach, to, from, uint64(n), add, limit)
}

// concatViews concatenates views, which refer to the data buffers of all pieces.
func (g *gatherer) concatViews(target *pending, pieces []part) error {
	out, err := g.room(target, viewBytes)
	if err != nil {
		return err
	}
	at := 0
	for _, p := range pieces {
		views, err := p.values(1, viewBytes, p.length)
		if err != nil {
			return err
		}
		if err := checkAligned("views", views, 4); err != nil {
			return err
		}
		to, err := out.Slice(at, at+views.Len())
		if err != nil {
			return err
		}
		behind := uint32(len(target.data.Buffers) - 2)
		if err := launch(g.call, concatFile, "rebase_views", p.length, rowsEach, to, views, uint64(p.length), behind); err != nil {
			return err
		}
		target.data.Buffers = append(target.data.Buffers, p.data.Buffers[2:]...)
		at += views.Len()
	}
	return nil
}

// concatDictionaries concatenates indices. If the dictionaries differ it also
// concatenates them, and rebases the indices to the concatenation.
func (g *gatherer) concatDictionaries(target *pending, pieces []part, l layout.Layout) error {
	dictionary := pieces[0].data.Dictionary
	if !slices.ContainsFunc(pieces, func(p part) bool { return !sameMemory(p.data.Dictionary, dictionary) }) {
		target.data.Dictionary = dictionary
		return g.concatFixed(target, pieces, 1, l.Width)
	}
	dictionaries := make([]part, len(pieces))
	values, bytes := 0, int64(0)
	for i, p := range pieces {
		dictionaries[i] = whole(p.data.Dictionary)
		valueLayout, err := layoutOf(p.data.Dictionary.Type())
		if err != nil {
			return err
		}
		tooLong := false
		if valueLayout.Kind == layout.Binary {
			bytes += int64(dictionaries[i].extent(valueLayout))
			tooLong = bytes > strategy.MaximumOffset(g.ctx, valueLayout.Width)
		}
		if values += dictionaries[i].length; tooLong || values < 0 || uint64(max(values, 1)-1) > l.MaximumIndex() {
			// The indices and the offsets may be wide enough if each value is kept once,
			// which the host does.
			host, err := g.throughHost(pieces)
			if err == nil {
				*target = *host
			}
			return err
		}
	}
	out, err := g.room(target, l.Width)
	if err != nil {
		return err
	}
	at, behind := 0, 0
	for i, p := range pieces {
		indices, err := p.values(1, l.Width, p.length)
		if err != nil {
			return err
		}
		size := dictionaries[i].length
		if err := g.rebase(out, at, indices, l.Width, uint64(behind), uint64(size)); err != nil {
			return err
		}
		at, behind = at+indices.Len(), behind+size
	}
	target.dictionary, err = g.concat(dictionaries)
	return err
}

// sameMemory reports whether two columns consist of the same buffers.
func sameMemory(a, b *column.Column) bool {
	x, y := a.Data(), b.Data()
	if a == b {
		return true
	}
	return x.Length == y.Length && x.Offset == y.Offset &&
		slices.EqualFunc(x.Buffers, y.Buffers, func(a, b column.Bytes) bool { return a == b }) &&
		slices.EqualFunc(x.Children, y.Children, sameMemory) &&
		(x.Dictionary == nil || sameMemory(x.Dictionary, y.Dictionary))
}

// concatListViews concatenates list views, and all elements of their children.
func (g *gatherer) concatListViews(target *pending, pieces []part, l layout.Layout) error {
	out, err := g.room(target, l.Width)
	if err != nil {
		return err
	}
	at, behind := 0, 0
	for _, p := range pieces {
		offsets, err := p.values(1, l.Width, p.length)
		if err != nil {
			return err
		}
		if err := g.rebase(out, at, offsets, l.Width, uint64(behind), math.MaxUint64); err != nil {
			return err
		}
		at, behind = at+offsets.Len(), behind+p.data.Children[0].Len()
		if int64(behind) > l.MaximumOffset() {
			return fmt.Errorf("the views of %v reach to %d, there are more elements: %w", l.Storage, l.MaximumOffset(), memory.ErrOverflow)
		}
	}
	if err := g.concatFixed(target, pieces, 2, l.Width); err != nil {
		return err
	}
	return g.concatChildren(target, pieces, func(p part, i int) part { return whole(p.data.Children[i]) })
}

// concatChildren concatenates, for each child, the part that belongs to each piece.
func (g *gatherer) concatChildren(target *pending, pieces []part, childOf func(p part, i int) part) error {
	for i := range pieces[0].data.Children {
		children := make([]part, len(pieces))
		for k, p := range pieces {
			children[k] = childOf(p, i)
		}
		child, err := g.concat(children)
		if err != nil {
			return err
		}
		target.children = append(target.children, child)
	}
	return nil
}
