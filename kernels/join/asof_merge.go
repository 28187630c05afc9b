package join

import (
	"errors"
	"math/bits"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

// mergePlan is how the keys of an as-of join become words of at most 64 bits, which have
// the order of the keys.
type mergePlan struct {
	// plans are those of the left and the right rows. They differ only in the columns.
	plans [2]*rowkey.Plan
	// The low lastBits bits of a word are the last key. nulls are the bits that are set if a
	// key is null.
	lastBits int
	nulls    uint64
	// hasNaN is set if nan as the last key is NaN.
	hasNaN bool
	nan    uint64
}

// Release releases the columns of the plans.
func (p *mergePlan) Release() error {
	e := encoding{plans: p.plans}
	return e.Release()
}

// describe finds the parts of a word: those of source number last are the last key.
func (p *mergePlan) describe(last int) {
	s := &p.plans[0].Segments[0]
	for _, piece := range s.Pieces {
		switch {
		case piece.Content == rowkey.Nulls:
			p.nulls |= 1 << (s.Bits - piece.Offset - 1)
		case piece.Source == last:
			p.lastBits = piece.Bits
			p.hasNaN, p.nan = piece.Content == rowkey.Real, piece.NaN
		}
	}
}

// items are the rows of a table by the words of their keys, 64 bits each: struct Items of
// as_of.cu.
type items struct {
	words memory.Slice[uint8]
	// low is the number of low bits that are the number of the row. If it is zero, numbers
	// has the numbers of the rows, unless these are in order.
	low     int
	numbers memory.Slice[uint8]
	rows    int
}

// layout returns the items as kernels take them.
func (t *items) layout() itemsLayout {
	return itemsLayout{items: t.words, rows: t.numbers, count: uint64(t.rows), low: uint64(t.low)}
}

// sortItems encodes the rows of a table and sorts them by the bits of their words from bit
// from on, if there are any.
func sortItems(c *call, held *release.Stack, plan *rowkey.Plan, from int) (*items, error) {
	t := &items{rows: plan.Sources[0].Column.Len()}
	if low := max(bits.Len(uint(t.rows-1)), 1); plan.Bits()+low <= rowkey.WordBits {
		t.low = low
	}
	sort := radix.Sort{Width: 64, Low: t.low + from, High: t.low + plan.Bits(), Rows: t.rows}
	if t.low == 0 {
		sort.Numbers = radix.RowNumbers
	}
	sorts := sort.High > sort.Low && t.rows > 1
	sizes, bitmaps := plan.DeviceScratch(), len(plan.Sources)
	sizes = append(sizes, sort.KeyBytes())
	var more [3]uint64 // what the sort needs
	if sorts {
		sizes = append(sizes, sort.NumberBytes())
		if sort.SecondBuffers() {
			more[0], more[1] = sort.KeyBytes(), sort.NumberBytes()
		}
		more[2] = sort.StateBytes()
	}
	block, kept, err := c.Scratch(sizes...)
	if err != nil {
		return nil, err
	}
	held.Add(block)
	other, scratch, err := c.Scratch(more[:]...)
	if err != nil {
		return nil, err
	}
	err = func() error {
		encoder, err := rowkey.NewDevice(&c.Call, plan, kept[:bitmaps])
		if err != nil {
			return err
		}
		t.words = kept[bitmaps]
		buffers := radix.Buffers{Keys: [2]memory.Slice[uint8]{t.words, scratch[0]}, State: scratch[2]}
		to, all := t.words, rowkey.DeviceRows{Rows: t.rows}
		if sorts {
			t.numbers = kept[bitmaps+1]
			buffers.Numbers, to = [2]memory.Slice[uint8]{t.numbers, scratch[1]}, buffers.Keys[sort.Source()]
		}
		if t.low > 0 {
			err = encoder.EncodeItems(all, t.low, to)
		} else {
			err = encoder.Encode(0, 0, all, to)
		}
		if err != nil || !sorts {
			return err
		}
		return sort.Run(&c.Call, buffers)
	}()
	return t, errors.Join(err, other.Release())
}

// planMerge returns the plan of an as-of join on a GPU, which held releases. It returns nil
// if the keys have no words of at most 64 bits. It waits for the ranges of integers if the
// words and the numbers of the rows would not fit 64 bits together.
func (a *asOfMatcher) planMerge() (*mergePlan, error) {
	left, right, d := a.left, a.right, &a.distances
	last := len(left) - 1
	if l, err := layout.Of(left[last].Type()); err != nil || d.wanted && d.real && l.Width == 2 {
		return nil, err
	}
	by, _, err := numbered(a.call, &a.held, [2][]*column.Column{left[:last], right[:last]})
	if err != nil {
		return nil, err
	}
	p := &mergePlan{}
	var sources [2][]rowkey.Source
	for side, keys := range [2][]*column.Column{append(by[0], left[last]), append(by[1], right[last])} {
		if sources[side], err = sourcesOf(keys, false); err != nil || sources[side] == nil {
			return nil, errors.Join(err, rowkey.Release(sources[0]))
		}
		p.plans[side] = &rowkey.Plan{Sources: sources[side]} // for Release
	}
	a.held.Add(p)
	for i := range sources[0] {
		x, y := &sources[0][i], &sources[1][i]
		x.Nullable = op.Nullable(x.Column) || op.Nullable(y.Column)
		y.Nullable = x.Nullable
	}
	e := encoding{plans: [2]*rowkey.Plan{rowkey.NewPlan(sources[0]), rowkey.NewPlan(sources[1])}}
	if numbers := bits.Len(uint(max(left[0].Len(), right[0].Len()) - 1)); e.plans[0].Bits()+numbers > rowkey.WordBits {
		if err := e.shorten(a.call, sources); err != nil {
			return nil, err
		}
	}
	p.plans = e.plans
	if !fits(p.plans[0]) {
		return nil, nil
	}
	p.describe(last)
	return p, nil
}

// hasWords reports whether both sides can be merged by their words.
func (f *asOfFacts) hasWords() bool { return f.words }

// isCached reports whether all right rows fit the shared memory of a block, whatever the order of the left ones.
func (f *asOfFacts) isCached() bool { return f.right <= mergeCached }

// merge merges left rows in their order.
func (a *asOfMatcher) merge() (*matches, error) { return a.mergeFrom(a.plan.plans[0].Bits()) }

// mergeSorted merges left rows that are sorted by the leading digits of their words. Their order serves only to make the
// right rows of a tile few, and a digit costs a pass over all rows. All digits are sorted by if the right rows are few.
func (a *asOfMatcher) mergeSorted() (*matches, error) {
	tiles := bits.Len(uint(a.right[0].Len() / tileRightRows))
	all := a.plan.plans[0].Bits()
	if tiles == 0 {
		return a.mergeFrom(0)
	}
	return a.mergeFrom(max(all-(tiles+mergeDigit-1)/mergeDigit*mergeDigit, 0))
}

// mergeFrom finds the nearest rows by the words of both sides, of which the left ones are sorted by the bits from a number
// on. The caller releases the matches.
func (a *asOfMatcher) mergeFrom(leftFrom int) (*matches, error) {
	p, from := a.plan, 0
	if a.options.Sorted {
		from = p.lastBits
	}
	right, err := sortItems(a.call, &a.held, p.plans[1], from)
	if err != nil {
		return nil, err
	}
	left, err := sortItems(a.call, &a.held, p.plans[0], leftFrom)
	if err != nil {
		return nil, err
	}
	block, slices, err := a.uint32s(left.rows)
	if err != nil {
		return nil, err
	}
	m := &matches{probe: left.rows, build: right.rows, first: slices[0], single: true, block: block}
	m.held.Add(block)
	return release.OnError(m, a.launchMerge(m, p, left, right))
}

func (a *asOfMatcher) launchMerge(m *matches, p *mergePlan, left, right *items) error {
	real, options, d := 0, a.options, &a.distances
	if d.real {
		real = 8 * d.width
	}
	l := mergeLayout{
		left: left.layout(), right: right.layout(), lastBits: uint64(p.lastBits), nulls: p.nulls, nan: p.nan, limit: d.limit,
		direction: uint32(options.Direction), notEqual: kernelset.Flag(options.NotEqual), wanted: kernelset.Flag(d.wanted), hasNan: kernelset.Flag(p.hasNaN),
		real: uint32(real),
	}
	blocks := min((left.rows+mergeTile-1)/mergeTile, max(a.Stream.Device().Info().Multiprocessors, 1)*mergeBlocks)
	return a.launchTiles("as_of", "merge_nearest", blocks, m.first, l.asArgument())
}
