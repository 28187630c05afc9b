package group

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
)

// Moments of integers are sums of integers on a GPU: one launch instead of two, and states of two
// words instead of six or seven. The results are those of sums of floats, to the bit, because such
// a sum drops no bit of integers: the lowest bin of a state has bits of 2⁰ or below if its largest
// value is a product below 2¹²⁶.
//
// Partial results keep sums of floats: their states do not depend on the device or on the bounds of
// the values.

// mostExactInteger is the largest magnitude up to which all integers are float64.
const mostExactInteger = 1 << 53

// extent is a range of integers: the largest magnitude, and whether some may be negative.
type extent struct {
	most     uint64
	isSigned bool
}

// wholeRange is the extent of values that are not known.
var wholeRange = extent{math.MaxUint64, true}

// times returns the extent of products, or false if they do not fit 64 bits.
func (e extent) times(other extent) (product extent, ok bool) {
	high, low := bits.Mul64(e.most, other.most)
	product = extent{low, e.isSigned || other.isSigned}
	return product, high == 0 && (!product.isSigned || low <= math.MaxInt64)
}

// words returns the number of words of 32 bits that hold a sum of some rows.
func (e extent) words(rows int) int {
	high, low := bits.Mul64(e.most, uint64(rows))
	spare := 0 // the sign
	if e.isSigned {
		spare = 1
	}
	switch length := bits.Len64(low) + spare; {
	case high != 0 || length > 64:
		return 3
	case length > 32:
		return 2
	}
	return 1
}

// extentOf returns the range of a column's values, by its bounds or else by its type, or false for
// types that are neither integers nor booleans. A graph may be launched with other values than those
// that the bounds are known of.
func extentOf(call *op.Call, c *column.Column) (extent, bool) {
	whole, ok := extentOfType(c.Type())
	bounds, known := c.Bounds()
	l, err := layout.Of(c.Type())
	if !ok || !known || err != nil || call.Stream.Capturing() {
		return whole, ok
	}
	switch l.Stored() {
	case layout.Unsigned:
		return extent{bounds.Greatest, false}, true
	case layout.Signed:
		return extent{max(magnitude(bounds.Least), magnitude(bounds.Greatest)), int64(bounds.Least) < 0}, true
	}
	return whole, true
}

// extentOfType returns the range of all values of a type.
func extentOfType(t arrow.DataType) (extent, bool) {
	l, err := layout.Of(t)
	if err != nil || l.Kind != layout.Fixed && l.Kind != layout.Bits {
		return wholeRange, false
	}
	length := 8 * l.Width
	switch l.Stored() {
	case layout.Boolean:
		return extent{1, false}, true
	case layout.Unsigned:
		return extent{math.MaxUint64 >> (64 - length), false}, true
	case layout.Signed:
		return extent{1 << (length - 1), true}, true
	}
	return wholeRange, false
}

func magnitude(x uint64) uint64 {
	if int64(x) < 0 {
		return -x
	}
	return x
}

// extent returns the range of an accumulator's terms, given that of its inputs, or false if they are no
// integers or do not fit 64 bits. exact is set if all values are float64.
func (a accumulator) extent(inputExtent func(input int) (extent, bool)) (terms extent, exact, ok bool) {
	x, ok := inputExtent(a.value)
	if !ok || a.term == linear {
		return x, x.most <= mostExactInteger, ok
	}
	y := x
	if a.term == crossed {
		if y, ok = inputExtent(a.other); !ok {
			return wholeRange, false, false
		}
	}
	exact = max(x.most, y.most) <= mostExactInteger
	terms, ok = x.times(y)
	for power := 2; ok && power < a.term.power(); power++ {
		terms, ok = terms.times(x)
	}
	return terms, exact, ok
}

// isMoment reports whether an accumulator is a sum of values that are no floats, or of products.
func (p *plan) isMoment(a accumulator) bool {
	return a.kind == sumFloats && !a.merges && (a.term != linear || !arrow.IsFloating(layout.Storage(p.inputs[a.value].dataType).ID()))
}

// integerMoments makes sums of integers of the plan's sums of products and values that are
// integers.
func (r *queryRows) integerMoments(q Query) error {
	if r.call.OnHost() {
		return nil
	}
	if err := r.learnBounds(q); err != nil {
		return err
	}
	accumulators := r.plan.accumulators
	for i, a := range accumulators {
		if !r.plan.isMoment(a) {
			continue
		}
		if _, exact, ok := a.extent(r.extentOf); exact && ok {
			accumulators[i].kind = sumIntegers
		}
	}
	return nil
}

// learnBounds finds the bounds of the integers of moments, if they are columns of the table, which
// remember them: the sums of small integers take words of 32 bits. It waits.
func (r *queryRows) learnBounds(q Query) error {
	f := numberer{call: &r.call, waits: r.options.MaxGroups == 0}
	if r.filtered || r.call.Stream.Capturing() || !f.measures(int(r.rows.Capacity())) {
		return nil
	}
	var columns []*column.Column
	var unknown []int
	seen := map[int]bool{}
	for _, a := range r.plan.accumulators {
		if !r.plan.isMoment(a) {
			continue
		}
		for _, number := range []int{a.value, a.other} {
			if number < 0 || seen[number] {
				continue
			}
			seen[number] = true
			name, plain := plainColumn(r.plan.inputs[number].expression)
			if !plain {
				continue
			}
			c, err := r.input(number)
			if err != nil {
				return err
			}
			if same, err := q.table.ColumnByName(name); same != c || err != nil {
				continue // a copy of some rows
			}
			if integer, err := integerType(c.Type()); integer == nil || err != nil {
				continue
			}
			if _, known := c.Bounds(); !known {
				unknown, columns = append(unknown, len(columns)), append(columns, c)
			}
		}
	}
	return f.findBounds(columns, unknown, make([]column.Bounds, len(columns)), make([]bool, len(columns)))
}
