package window

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// noRow is a number that no row has: row numbers are below order.MaxRows.
const noRow = math.MaxUint32

// pick computes a function that returns the value of one row: it finds the numbers of
// the rows, and takes them.
func (a *arrangement) pick(f Function, value *column.Column, frame *framing) (*column.Column, error) {
	if bytes, ok := column.ElementBytes(value.Type()); ok && f.kind == shift && a.shifts(f, value, bytes) {
		return a.shift(f, value, bytes)
	}
	if bytes, ok := column.ElementBytes(value.Type()); ok && f.kind == shift && (bytes == 4 || bytes == 8) {
		if shifted, err := a.shiftSpread(f, value, bytes); shifted != nil || err != nil {
			return shifted, err
		}
	}
	numbers, err := a.picked(f, value, frame)
	if err != nil {
		return nil, err
	}
	taken, err := selection.TakeColumnWith(a.ctx, value, numbers, selection.TakeOptions{Options: a.options, Bounds: selection.Null})
	return release.OnError(taken, err, numbers.Release())
}

// shifts reports whether one kernel reads the values of Lag and Lead where they are: on a
// GPU, if the table is in order and the values are words.
func (a *arrangement) shifts(f Function, value *column.Column, bytes int) bool {
	skips := f.skipNulls && op.Nullable(value)
	isWord := bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16
	return isWord && !skips && a.listed.Len() == 0 && a.rows <= mostShifted
}

func (a *arrangement) shift(f Function, value *column.Column, bytes int) (*column.Column, error) {
	call, in, err := a.begin(value)
	if err != nil {
		return nil, err
	}
	_, offset := a.pickOffset(f)
	return a.newColumn(&call, value.Type(), true, func(out op.Buffers) error {
		if call.OnHost() {
			return a.shiftOnHost(int(offset), bytes, in, out)
		}
		return a.launchFor(&call, shiftLoads, fmt.Sprintf("over_shift_%d", 8*bytes), a.argument(), valuesArgument(in, folding{}), offset, out.Values, out.Valid)
	})
}

func (a *arrangement) shiftOnHost(offset, bytes int, in op.View, out op.Buffers) error {
	h, err := a.host()
	from, fromErr := in.Host()
	to, toErr := out.Host()
	if err := errors.Join(err, fromErr, toErr); err != nil {
		return err
	}
	clear(to.Values)
	clear(to.Valid)
	// The rows of a part share no byte of the validity with those of another one.
	return parallel.Run(a.ctx, (h.n+7)/8, parallel.Parts(h.n), func(_, begin, end int) {
		for place := 8 * begin; place < min(8*end, h.n); place++ {
			first, limit := h.bounds(place)
			at := place + offset
			if at < first || at >= limit || !from.IsValid(at) {
				continue
			}
			copy(to.Values[place*bytes:(place+1)*bytes], from.Values[at*bytes:])
			to.Valid[place/8] |= 1 << (place % 8)
		}
	})
}

// presence is, for functions that skip nulls, the number of values up to each place, and the
// places of the values.
type presence struct {
	counts, places memory.Slice[uint32]
	block          *memory.Block
}

// pickOffset returns the kernel's function and offset, which reaches no further than beyond the table.
func (a *arrangement) pickOffset(f Function) (function uint32, offset int64) {
	switch f.kind {
	case first:
		return 1, 0
	case nth:
		function = 1
	case last:
		return 2, 0
	}
	beyond := int64(a.capacity) + 1
	return function, min(max(f.number, -beyond), beyond)
}

// picked returns the numbers of the rows.
func (a *arrangement) picked(f Function, value *column.Column, frame *framing) (*column.Column, error) {
	call, in, err := a.begin(value)
	if err != nil {
		return nil, err
	}
	call.Tag = op.ScratchTag
	var p presence
	skips := f.skipNulls && in.Valid.Len() > 0 && !(f.kind == shift && f.number == 0) && a.rows > 0
	if skips {
		if p, err = a.present(&call, in); err != nil {
			return nil, err
		}
	}
	numbered, err := a.newColumn(&call, arrow.PrimitiveTypes.Uint32, false, func(out op.Buffers) error {
		function, offset := a.pickOffset(f)
		if call.OnHost() {
			return a.pickOnHost(function, int(offset), frame, p, out)
		}
		return spreading{a, &call, 4, "spread_rows_32"}.write(out, func(out op.Buffers) error {
			return a.launch(&call, "over_pick", a.argument(), frame.argument(), out.Values, function, offset, p.counts, p.places)
		})
	})
	return release.OnError(numbered, err, p.block.Release())
}

// present counts the values of a column.
func (a *arrangement) present(call *op.Call, in op.View) (presence, error) {
	n := 4 * uint64(a.rows)
	block, slices, err := call.Scratch(n, n)
	if err != nil {
		return presence{}, err
	}
	p := presence{block: block}
	var countsErr, placesErr error
	p.counts, countsErr = memory.Reinterpret[uint32](slices[0])
	p.places, placesErr = memory.Reinterpret[uint32](slices[1])
	err = errors.Join(countsErr, placesErr)
	switch {
	case err != nil:
	case call.OnHost():
		err = a.presentOnHost(in, p)
	default:
		err = a.scan(call, in, folding{fold: foldCount}, true, emptyWriting, p)
	}
	if err != nil {
		return presence{}, errors.Join(err, block.Release())
	}
	return p, nil
}

func (a *arrangement) presentOnHost(in op.View, p presence) error {
	h, err := a.host()
	valid, validErr := in.Valid.Host()
	counts, countsErr := p.counts.Host()
	places, placesErr := p.places.Host()
	if err := errors.Join(err, validErr, countsErr, placesErr); err != nil {
		return err
	}
	view := op.HostView{Valid: valid, Bit: in.Bit, Rows: h.n}
	count := uint32(0)
	for place := range h.n {
		if view.IsValid(h.row(place)) {
			places[count] = uint32(place)
			count++
		}
		counts[place] = count
	}
	return nil
}

func (a *arrangement) pickOnHost(function uint32, offset int, frame *framing, p presence, out op.Buffers) error {
	h, err := a.host()
	framed, frameErr := frame.host()
	to, outErr := out.Host()
	counts, countsErr := p.counts.Host()
	places, placesErr := p.places.Host()
	if err := errors.Join(err, frameErr, outErr, countsErr, placesErr); err != nil {
		return err
	}
	numbers := op.Elements[uint32](to.Values)
	for i := range numbers {
		numbers[i] = noRow
	}
	before := func(place int) int {
		if place == 0 {
			return 0
		}
		return int(counts[place-1])
	}
	return parallel.Run(a.ctx, h.n, parallel.Parts(h.n), func(_, begin, end int) {
		for place := begin; place < end; place++ {
			first, end := h.bounds(place)
			if function != 0 {
				first, end = framed.bounds(&h, place)
			}
			own := place
			if len(counts) > 0 {
				own = int(counts[place])
				if own > 0 && int(places[own-1]) == place || offset > 0 {
					own--
				}
				first, end = before(first), before(end)
			}
			at := own + offset
			switch function {
			case 1:
				at = first + offset
			case 2:
				at = end - 1 - offset
			}
			if at < first || at >= end {
				continue
			}
			if len(counts) > 0 {
				at = int(places[at])
			}
			numbers[h.row(place)] = uint32(h.row(at))
		}
	})
}
