package group

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/keys/hashtable"
	"github.com/gpuframe/gpuframe/internal/op"
)

// Several keys become one key of up to 128 bits. Each is a digit: an integer less the least one, with a further value
// for null, or the number of a group for other types. As many digits as their ranges allow make a word of 64 bits,
// and two words a key that is numbered at once. A numbering costs more than all else: on an H100 the hash
// table takes 17 ms for 10⁸ different keys, and packing six keys reads them once. So integers are not numbered
// before they are packed, even if few of the integers of their range occur.

// digit is a key of several.
type digit struct {
	source
	// least is the value of 0, bound the number of values.
	least, bound uint64
}

// packs reports whether the keys of a number of rows are packed: the host waits for their ranges.
func (f *numberer) packs(rows int) bool { return f.measures(rows) }

// pack finds the groups of several columns. The caller releases them.
func (f *numberer) pack(flat []*column.Column) (numbered, error) {
	digits, err := f.digits(flat)
	if err != nil {
		return nil, err
	}
	for {
		p := packing(digits)
		groups, err := f.findPacked(flat[0], p)
		if err != nil || len(p.digits) == len(digits) {
			return groups, err
		}
		numbers, err := f.numbersOf(groups)
		if err != nil {
			return nil, err
		}
		digits = append([]digit{{source: numbers.source, bound: max(numbers.bound, 1)}}, digits[len(p.digits):]...)
	}
}

// digits returns the columns as digits. It waits once for the ranges of all integers.
func (f *numberer) digits(flat []*column.Column) ([]digit, error) {
	var integers []*column.Column
	for _, c := range flat {
		integer, err := integerType(c.Type())
		if err != nil {
			return nil, err
		}
		if integer != nil {
			integers = append(integers, c)
		}
	}
	bounds, hasValues, err := f.boundsOf(integers)
	if err != nil {
		return nil, err
	}
	digits, next := make([]digit, len(flat)), 0
	for i, c := range flat {
		if next < len(integers) && integers[next] == c {
			places := placesBetween(bounds[next], hasValues[next], op.Nullable(c))
			digits[i].least, digits[i].bound = bounds[next].Least, places
			next++
			if places > 0 {
				if digits[i].source, err = sourceOf(f.call, c); err != nil {
					return nil, err
				}
				continue
			}
		}
		groups, err := f.find(c)
		if err != nil {
			return nil, err
		}
		numbers, err := f.numbersOf(groups)
		if err != nil {
			return nil, err
		}
		digits[i] = digit{source: numbers.source, bound: max(numbers.bound, 1)}
	}
	return digits, nil
}

// placesBetween returns the number of values between bounds, with null, or 0 if it has no 64 bits.
func placesBetween(b column.Bounds, hasValues, nullable bool) uint64 {
	places := uint64(1) // without values the place of null, or any
	if hasValues {
		if b.Greatest-b.Least >= math.MaxUint64-1 {
			return 0
		}
		places = b.Greatest - b.Least + 1
		if nullable {
			places++
		}
	}
	return places
}

// packed are the digits of a key of one or two words.
type packed struct {
	digits []digit
	// first is the number of digits in the first word, and bound that of its values.
	first int
	bound uint64
}

// packing chooses the digits of a key: as many of the first ones as fit two words.
func packing(digits []digit) (p packed) {
	bounds, word := [2]uint64{1, 1}, 0
	for i, d := range digits[:min(len(digits), mostDigits)] {
		high, low := bits.Mul64(bounds[word], d.bound)
		if high != 0 {
			if word++; word == len(bounds) {
				break
			}
			low = d.bound
		}
		bounds[word] = low
		p.digits = digits[:i+1]
		if word == 0 {
			p.first = i + 1
		}
	}
	p.bound = bounds[0]
	return p
}

// width is the number of bytes of a key.
func (p *packed) width() int {
	switch {
	case len(p.digits) > p.first:
		return 2 * wordBytes
	case p.bound > 1<<32:
		return wordBytes
	}
	return wordBytes / 2
}

// argument returns the digits as the kernel takes them.
func (p *packed) argument() any {
	l := packedLayout{count: uint32(len(p.digits)), first: uint32(p.first)}
	for i := range p.digits {
		d := &p.digits[i]
		l.digit[i] = packedDigitLayout{values: d.source.layout(), least: d.least, bound: d.bound}
	}
	return l.asArgument()
}

// findPacked finds the groups of packed keys of the rows of a model. The caller releases them.
func (f *numberer) findPacked(model *column.Column, p packed) (numbered, error) {
	rows, counted, err := model.Extent(f.call.Context())
	if err != nil {
		return nil, err
	}
	width := p.width()
	result := op.Result{Length: model.Len()}
	switch width {
	case 2 * wordBytes:
		result.Type = &arrow.Decimal128Type{Precision: 38} // compared by its bits
	case wordBytes:
		result.Type = arrow.PrimitiveTypes.Uint64
	default:
		result.Type = arrow.PrimitiveTypes.Uint32
	}
	if counted.Len() > 0 {
		result.RowCount = model.RowCount()
	}
	c, err := newColumn(f.call, result, func(out op.Buffers) error {
		return launchGrid(f.call, "pack", "pack_digits", rows, out.Values, uint32(width), p.argument(), counted, int64(rows))
	})
	if err != nil {
		return nil, err
	}
	f.owned.Add(c)
	if width < 2*wordBytes && p.bound <= mostPlaces && model.Len() > 0 {
		return f.numberPlaces(c, span{0, p.bound})
	}
	return hashtable.Find(f.call.Context(), c, hashtable.WithCounts, scratchOptions(f.call))
}
