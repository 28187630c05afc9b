package selection

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Choose returns a column that has the value of a if the mask is true, the value of b
// if the mask is false, and null if the mask is null. All three columns have the same
// length, the mask is of type bool, and a and b have the same type.
//
// One kernel chooses booleans and values of 1, 2, 4, 8 or 16 bytes, without a wait. All
// other types are concatenated as by [ConcatColumns] and taken from the result as by
// [Take], with the waits of both. The caller releases the column.
func Choose(ctx context.Context, mask, a, b *column.Column, options ...kernels.Options) (*column.Column, error) {
	return operation("choose", options, func(only kernels.Options) (*column.Column, error) {
		return choose(ctx, mask, a, b, only)
	})
}

func choose(ctx context.Context, mask, a, b *column.Column, options kernels.Options) (*column.Column, error) {
	call, err := op.Begin(ctx, options, a, b, mask)
	if err != nil {
		return nil, err
	}
	if !isBool(mask.Type()) {
		return nil, fmt.Errorf("the mask is %v, it has to be of booleans: %w", mask.Type(), column.ErrInvalid)
	}
	if !arrow.TypeEqual(a.Type(), b.Type()) {
		return nil, fmt.Errorf("%v and %v are not of one type: %w", a.Type(), b.Type(), column.ErrInvalid)
	}
	if a.Len() != mask.Len() || b.Len() != mask.Len() {
		return nil, fmt.Errorf("%d and %d elements to choose from by a mask of %d: %w", a.Len(), b.Len(), mask.Len(), memory.ErrRange)
	}
	l, err := layoutOf(a.Type())
	if err != nil {
		return nil, err
	}
	g := newGatherer(ctx, &call)
	if call.Estimating() {
		return nil, g.estimateChoice(mask, a, b, l)
	}
	like, err := sameRows(ctx, mask, a, b)
	if err != nil {
		return nil, err
	}
	chosen, err := g.choose(mask, a, b, like, l)
	if err = errors.Join(err, g.release()); err != nil {
		return nil, errors.Join(err, chosen.Release())
	}
	if chosen.Len() != mask.Len() {
		return chosen, nil // the host knows the row count
	}
	return rowsLike(chosen, like)
}

// choose makes the result. The result has the row count of like.
func (g *gatherer) choose(mask, a, b, like *column.Column, l layout.Layout) (*column.Column, error) {
	by, err := layoutOf(mask.Type())
	if err != nil {
		return nil, err
	}
	if !g.call.OnHost() && (l.Kind == layout.Fixed || l.Kind == layout.Bits) && mask.Len() > 0 {
		if chosen, ok, err := g.chooseValues(whole(mask), whole(a), whole(b), by, l); ok || err != nil {
			return chosen, err
		}
	}
	// Offsets after the last row are undefined, so only the rows are concatenated.
	n, err := like.NumRows(g.ctx)
	if err != nil {
		return nil, err
	}
	parts := [3]part{whole(mask), whole(a), whole(b)}
	for i := range parts {
		parts[i].length = n
	}
	capacity := mask.Len()
	if like.DeviceRows().Len() == 0 {
		capacity = n
	}
	buffers, err := g.scratch(8 * uint64(capacity))
	if err != nil {
		return nil, err
	}
	s := &source{
		order: listed64, indices: buffers[0], limit: 2 * uint64(n), capacity: capacity, rows: like.DeviceRows(),
		nulls: !parts[0].valid(by).absent(), once: true, exact: true,
	}
	if n > 0 {
		if err := g.chooseRows(buffers[0], parts[0], by); err != nil {
			return nil, err
		}
	}
	both, err := concatAll(g.ctx, g.call, [][]part{parts[1:]})
	if err != nil {
		return nil, err
	}
	g.held = append(g.held, both[0])
	chosen, err := g.columns(both, s)
	if err != nil {
		return nil, err
	}
	return chosen[0], nil
}

// estimateChoice reports the sizes of a choice. Those of types that are concatenated and
// taken are upper bounds: each row is in one of both columns.
func (g *gatherer) estimateChoice(mask, a, b *column.Column, l layout.Layout) error {
	by, err := layoutOf(mask.Type())
	if err != nil {
		return err
	}
	if !g.call.OnHost() && (l.Kind == layout.Fixed || l.Kind == layout.Bits) && mask.Len() > 0 {
		if _, ok, err := g.chooseValues(whole(mask), whole(a), whole(b), by, l); err != nil {
			return err
		} else if ok {
			return g.sizes.estimate(g.call)
		}
	}
	both := newGatherer(g.ctx, g.call)
	if err := both.estimateConcat([]part{whole(a), whole(b)}); err != nil {
		return err
	}
	if l.Kind == layout.Binary {
		g.sizes.scratch = both.sizes.result
	} else {
		g.sizes.result = both.sizes.result // dictionaries and children may be shared
	}
	if _, err := g.scratch(8 * uint64(mask.Len())); err != nil {
		return err
	}
	if _, err := g.columns([]*column.Column{a, b}, &source{
		order: listed64, limit: 2 * uint64(mask.Len()), capacity: mask.Len(), rows: mask.DeviceRows(),
		nulls: !whole(mask).valid(by).absent(), once: true,
	}); err != nil {
		return err
	}
	return g.sizes.estimate(g.call)
}

// chooseRows writes, for each row of the mask, the index of the chosen row in the
// concatenation of both columns.
func (g *gatherer) chooseRows(out column.Bytes, mask part, by layout.Layout) error {
	isTrue, valid := mask.bits(1), mask.valid(by)
	if !g.call.OnHost() {
		return launch(g.call, chooseFile, "choose_rows", mask.length, rowsEach,
			out, isTrue.bytes, isTrue.at, valid.bytes, valid.at, uint64(mask.length))
	}
	bytes, err := hostBytes(out, isTrue.bytes)
	if err != nil {
		return err
	}
	isValid, err := valid.onHost()
	if err != nil {
		return err
	}
	for i := range uint64(mask.length) {
		row := i
		switch {
		case !isValid.set(i):
			row = noRow
		case !bitutil.BitIsSet(bytes[1], int(isTrue.at+i)):
			row += uint64(mask.length)
		}
		putWord(bytes[0], 8, i, int64(row))
	}
	return nil
}

// chooseValues makes the result with one choose kernel. ok is false if one load cannot
// move a value, because of its width or alignment.
func (g *gatherer) chooseValues(mask, a, b part, by, l layout.Layout) (chosen *column.Column, ok bool, err error) {
	n := mask.length
	isTrue, valid := mask.bits(1), mask.valid(by)
	aValid, bValid := a.valid(l), b.valid(l)
	nullable := !valid.absent() || !aValid.absent() || !bValid.absent()
	var buffers []column.Bytes
	aValues, bValues := a.bits(1), b.bits(1)
	name, each := "choose_bits", 4
	bytes := bitmapBytes(n)
	if l.Kind == layout.Fixed {
		if bytes, err = bytesFor(n, l.Width); err != nil {
			return nil, false, err
		}
		if !direct(l.Width, aValues.bytes, bValues.bytes) {
			return nil, false, nil
		}
		name = "choose_" + widthName(l.Width)
		each = max(2, 32/max(l.Width, 4)) // the same number as in the kernels
	}
	if buffers, err = g.allocate(bitmapIf(nullable, n), bytes); err != nil {
		return nil, false, err
	}
	if g.estimating() {
		return nil, true, nil
	}
	if err := launch(g.call, chooseFile, name, n, each, buffers[1], buffers[0],
		isTrue.bytes, isTrue.at, valid.bytes, valid.at, aValues.bytes, aValues.at, aValid.bytes, aValid.at,
		bValues.bytes, bValues.at, bValid.bytes, bValid.at, uint64(n)); err != nil {
		return nil, false, err
	}
	data := column.Data{Type: a.data.Type, Length: n, Buffers: buffers, NullCount: column.UnknownNullCount, Manager: g.call.Manager}
	if !nullable {
		data.NullCount = 0
	}
	chosen, err = column.New(data)
	return chosen, true, err
}
