package group

import (
	"context"
	"math"

	"github.com/apache/arrow/go/v17/arrow/float16"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/memory"
)

// finishing is the last step of one aggregate: it makes the result of a group of states.
type finishing struct {
	finish finish
	// states are the lists of states, and words the number of words of each state.
	states []memory.Slice[uint8]
	words  []int
	// stride is the number of words between the states of two groups, or 0 if they are
	// adjacent.
	stride int
	// counted is set if the last state counts the values.
	counted bool
	freedom int
	// factor is that of finishMeanDecimal.
	factor uint64
	// form is that of the result, isSigned is set if the values have a sign.
	form     form
	isSigned bool
	least    bool
	groups   int
}

// finishingOf returns the last step of an aggregate without its states.
func (r *aggregation) finishingOf(o *output) (finishing, error) {
	f := finishing{finish: o.finish, counted: o.counted, freedom: o.freedom, factor: o.factor}
	var err error
	f.form, f.isSigned, f.least, err = r.plan.form(o)
	return f, err
}

// form returns the form of an output, whether its values have a sign, and whether it is a least
// value.
func (p *plan) form(o *output) (stored form, isSigned, least bool, err error) {
	l, err := layout.Of(o.dataType)
	stored = formOf(l)
	return stored, stored.isSigned() || o.signed, p.accumulators[o.states[0]].least, err
}

// finish returns the column of an aggregate by states.
func (r *aggregation) finish(o *output) (*column.Column, error) {
	f, err := r.finishingOf(o)
	if err != nil {
		return nil, err
	}
	f.groups, f.stride = r.states.capacity, r.states.stride
	for _, state := range o.states {
		f.states = append(f.states, r.states.lists[state])
		f.words = append(f.words, r.plan.accumulators[state].words())
	}
	result := op.Result{Type: o.dataType, Length: f.groups, RowCount: r.groups.keys.RowCount(), Nullable: o.nullable}
	return newColumn(&r.call, result, func(out op.Buffers) error {
		if r.call.OnHost() {
			return f.onHost(r.call.Context(), out)
		}
		return f.onDevice(&r.call, out)
	})
}

// onHost writes the results of all groups.
func (f *finishing) onHost(ctx context.Context, out op.Buffers) error {
	to, err := out.Host()
	if err != nil {
		return err
	}
	lists := make([][]uint64, len(f.states))
	for i, s := range f.states {
		bytes, err := s.Host()
		if err != nil {
			return err
		}
		lists[i] = op.Elements[uint64](bytes)
	}
	clear(to.Values)
	return parallel.Run(ctx, f.groups, parallel.Parts(f.groups), func(_, begin, end int) { f.write(to, lists, begin, end) })
}

// write writes the results of some groups.
func (f *finishing) write(to op.HostBuffers, lists [][]uint64, begin, end int) {
	if f.finish == finishCount && !f.counted && f.words[0] == 1 && f.form.bytes() == 8 {
		copy(op.Elements[uint64](to.Values)[begin:end], lists[0][begin:end])
		for i := begin; i < end; i++ {
			to.SetValid(i)
		}
		return
	}
	group := make([][]uint64, len(lists))
	for i := begin; i < end; i++ {
		for j, list := range lists {
			group[j] = list[i*f.words[j] : (i+1)*f.words[j]]
		}
		value, ok := f.value(group)
		if !ok {
			continue
		}
		to.SetValid(i)
		f.store(to, i, value)
	}
}

// store writes a result.
func (f *finishing) store(to op.HostBuffers, i int, value [2]uint64) {
	switch f.form {
	case fromBits:
		if value[0] != 0 {
			to.SetTrue(i)
		}
	case fromI8, fromU8:
		to.Values[i] = byte(value[0])
	case fromI16, fromU16, fromF16:
		op.Elements[uint16](to.Values)[i] = uint16(value[0])
	case fromI32, fromU32, fromF32:
		op.Elements[uint32](to.Values)[i] = uint32(value[0])
	case fromDecimal:
		copy(op.Elements[uint64](to.Values)[2*i:], value[:])
	default:
		op.Elements[uint64](to.Values)[i] = value[0]
	}
}

// value returns the result for the states of a group, or false if it is null.
func (f *finishing) value(states [][]uint64) (value [2]uint64, ok bool) {
	first := states[0]
	n := uint64(1)
	if f.counted {
		if n = states[len(states)-1][0]; n == 0 {
			return value, false
		}
	}
	switch f.finish {
	case finishCount:
		value[0] = first[0]
	case finishDifference:
		value[0] = first[0] - states[1][0]
	case finishInteger:
		value[0] = first[0]
		if f.isSigned {
			return value, first[1] == uint64(int64(first[0])>>63)
		}
		return value, first[1] == 0
	case finishDecimal:
		return [2]uint64(first[:2]), aggregate.FitsDecimal([3]uint64(first))
	case finishProduct:
		value[0] = first[0] ^ 1
	case finishExtreme:
		value[0] = f.extreme(first[0])
	case finishMean:
		if first[1] == uint64(int64(first[0])>>63) { // the sum has 64 bits
			value[0] = math.Float64bits(float64(int64(first[0])) / float64(n))
			break
		}
		total := signed(first[1]).left(64).add(wide{first[0]})
		x, _ := total.round(0)
		value[0] = realBits(x / float64(n))
	case finishMeanDecimal:
		return aggregate.DecimalMean([3]uint64(first), n, f.factor)
	case finishFloat:
		value[0] = realBits(floatSum(first).high)
	case finishMeanFloat:
		value[0] = realBits(floatSum(first).high / float64(n))
	case finishRow:
		row, exists := f.row(first)
		return [2]uint64{row}, exists
	default:
		x, enough := f.moment(states, n)
		return [2]uint64{realBits(x)}, enough
	}
	return value, true
}

// row returns the row that a state has found.
func (f *finishing) row(state []uint64) (row uint64, ok bool) {
	if len(state) == 2 { // of firstGreatest
		return rowOf(state[1], true)
	}
	return rowOf(state[0], f.least)
}

// extreme returns the value of an image.
func (f *finishing) extreme(image uint64) uint64 {
	if !f.form.isFloat() {
		return integerImage(image, f.isSigned, f.least) // the reverse is the same
	}
	x := unimageFloat(image, f.least)
	switch f.form {
	case fromF16:
		if x != x {
			return 0x7e00
		}
		return uint64(float16.New(float32(x)).Uint16())
	case fromF32:
		if x != x {
			return 0x7fc00000
		}
		return uint64(math.Float32bits(float32(x)))
	}
	return realBits(x)
}

// realBits returns the bits of a float, with one pattern for all NaNs.
func realBits(x float64) uint64 {
	if x != x {
		return 0x7ff8000000000000
	}
	return math.Float64bits(x)
}

// moment returns a result of sums of powers, or false if there are too few values.
// Sums and products are computed as double: they cancel each other if the mean is large.
func (f *finishing) moment(states [][]uint64, n uint64) (x float64, enough bool) {
	count := float64(n)
	freedom := uint64(f.freedom)
	sums := make([]double, 0, 5)
	for _, s := range states[:len(states)-1] {
		sums = append(sums, floatSum(s))
	}
	switch f.finish {
	case finishVariance, finishDeviation:
		if n <= freedom {
			return 0, false
		}
		x := scaledCovariance(sums[1], sums[0], sums[0], count).high
		if x < 0 {
			x = 0
		}
		x = x / count / float64(n-freedom)
		if f.finish == finishDeviation {
			x = math.Sqrt(x)
		}
		return x, true
	case finishCovariance:
		if n <= freedom {
			return 0, false
		}
		return scaledCovariance(sums[2], sums[0], sums[1], count).high / count / float64(n-freedom), true
	case finishCorrelation:
		if n < 2 {
			return 0, false
		}
		xy, xx, yy := scaledCovariance(sums[2], sums[0], sums[1], count).high,
			scaledCovariance(sums[3], sums[0], sums[0], count).high, scaledCovariance(sums[4], sums[1], sums[1], count).high
		if !(xx > 0) || !(yy > 0) {
			return math.NaN(), true
		}
		x := xy / float64(math.Sqrt(xx)*math.Sqrt(yy))
		if x > 1 {
			x = 1
		}
		if x < -1 {
			x = -1
		}
		return x, true
	}
	if f.finish == finishKurtosis {
		return excessKurtosis(sums, count, freedom != 0), n > 3*freedom
	}
	// n³ times the third central moment, and n² times the second.
	third := sums[2].timesFloat(count).timesFloat(count).
		minus(sums[0].times(sums[1]).timesFloat(count).timesFloat(3)).
		plus(sums[0].times(sums[0]).times(sums[0]).timesFloat(2)).high
	second := scaledCovariance(sums[1], sums[0], sums[0], count).high
	if !(second > 0) {
		return math.NaN(), true
	}
	return third / float64(second*math.Sqrt(second)), true
}

// excessKurtosis returns the kurtosis minus 3 of n values by the sums of their powers. isSample corrects it for
// the number of values.
func excessKurtosis(sums []double, n float64, isSample bool) float64 {
	// n⁴ times the fourth central moment, and n² times the second.
	fourth := sums[3].timesFloat(n).minus(sums[2].times(sums[0]).timesFloat(4)).timesFloat(n).
		plus(sums[1].times(sums[0]).times(sums[0]).timesFloat(6)).timesFloat(n).
		minus(sums[0].times(sums[0]).times(sums[0]).times(sums[0]).timesFloat(3)).high
	second := scaledCovariance(sums[1], sums[0], sums[0], n).high
	if !(second > 0) {
		return math.NaN()
	}
	x := fourth / float64(second*second)
	if x < 1 { // the least kurtosis, of two values that are equally frequent
		x = 1
	}
	x -= 3
	if isSample {
		x = float64((float64((n+1)*x)+6)*(n-1)) / float64((n-2)*(n-3))
	}
	return x
}

// scaledCovariance returns n·Σxy − Σx·Σy. A difference that is not larger than the error of
// the products is 0: equal values then have no variance, and their correlation is NaN.
func scaledCovariance(xy, x, y double, n float64) double {
	scaled, product := xy.timesFloat(n), x.times(y)
	difference := scaled.minus(product)
	if math.Abs(difference.high) <= float64(math.Abs(product.high)*covarianceError) {
		return double{}
	}
	return difference
}

// covarianceError bounds the error of scaledCovariance, relative to its terms. Each product
// has an error below 2⁻¹⁰², relative to its value.
const covarianceError = 0x1p-100
