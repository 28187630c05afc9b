package reduce

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
)

// wanted is an aggregate of outputs of a program.
type wanted struct {
	function function
	// value and where are indices of outputs, negative without an output.
	value, where int
	freedom      int
}

// plan describes the states to accumulate for some aggregates, and how results are made
// of them.
type plan struct {
	states  []state
	results []result
	// many means that sums of 32-bit integers may overflow 64 bits.
	many bool
}

// isMany reports whether the sum of this many 32-bit integers may overflow 64 bits.
func isMany(rows int64) bool { return rows > 1<<31 }

// sumKind returns the accumulator that adds integers of a form without overflow.
func (p *plan) sumKind(form aggregate.Form) aggregate.Kind {
	if p.many || form == aggregate.Signed64 || form == aggregate.Unsigned64 {
		return aggregate.SumWide
	}
	return aggregate.SumInteger
}

// finishOf returns the step that makes the result of a sum. A sum in 64 bits is the
// result itself.
func finishOf(kind aggregate.Kind) finish {
	if kind == aggregate.SumInteger {
		return finishValue
	}
	return finishSum
}

// state is one accumulator. Several aggregates may share it.
type state struct {
	kind aggregate.Kind
	form aggregate.Form
	// value and where are indices of outputs, negative without an output.
	value, where int
}

// finish is the way in which a result is made of partials.
type finish uint8

const (
	// finishCount is the first state's count; finishDifference is that count minus the
	// second state's.
	finishCount finish = iota
	finishDifference
	// finishAny and finishAll compare the counts of the first and the second state.
	finishAny
	finishAll
	// finishValue is the first state's partial, converted to the type of the result;
	// finishFloat is the same for floats.
	finishValue
	finishFloat
	// finishSum is the first state's sum, of integers or decimals, or null if it
	// overflows the type of the result.
	finishSum
	// finishMean is the first state's sum divided by the second's count;
	// finishMeanDecimal is that of the sum times a factor, rounded to an integer, half away from
	// zero, or null if it has more than 38 digits.
	finishMean
	finishMeanDecimal
	// finishVariance and finishDeviation use moments.
	finishVariance
	finishDeviation
	// finishRow is the number of the found row.
	finishRow
)

// result is the result of one aggregate.
type result struct {
	finish finish
	// first and second are indices of states. Except for finishCount, finishVariance,
	// finishDeviation and finishRow, the second state counts the values: if it is 0 the
	// result is null.
	first, second int
	freedom       int
	// factor is that of finishMeanDecimal.
	factor uint64
	// kind is the type of the result. If typeOf is not negative, the type is that of
	// output number typeOf of the program, because a plan may serve programs with types
	// that differ in ways that do not affect the kernel, such as the time zone.
	kind   arrow.DataType
	typeOf int
}

// typeIn returns the type of the result for a program.
func (r *result) typeIn(program *exprtree.Program) arrow.DataType {
	if r.typeOf >= 0 {
		return program.Outputs[r.typeOf].Type
	}
	return r.kind
}

// nullable reports whether the result can be null.
func (r *result) nullable() bool { return r.finish != finishCount && r.finish != finishDifference }

// newPlan returns the plan for aggregates of a program's outputs, for at most rows
// rows.
func newPlan(program *exprtree.Program, aggregates []wanted, rows int64) (*plan, error) {
	p := &plan{many: isMany(rows)}
	for i, a := range aggregates {
		if a.where >= 0 && layout.Storage(program.Outputs[a.where].Type).ID() != arrow.BOOL {
			return nil, fmt.Errorf("aggregate %d, %s: its condition is %v, not bool: %w", i, names[a.function], program.Outputs[a.where].Type, device.ErrInvalidValue)
		}
		r, err := p.add(program, a)
		if err != nil {
			return nil, fmt.Errorf("aggregate %d, %s: %w", i, names[a.function], err)
		}
		r.typeOf = -1
		if a.value >= 0 && arrow.TypeEqual(r.kind, program.Outputs[a.value].Type) {
			r.typeOf = a.value
		}
		p.results = append(p.results, r)
	}
	return p, nil
}

func (p *plan) state(kind aggregate.Kind, form aggregate.Form, a wanted) int {
	if kind == aggregate.Count {
		form = 0
	}
	wanted := state{kind, form, a.value, a.where}
	for i, s := range p.states {
		if s == wanted {
			return i
		}
	}
	p.states = append(p.states, wanted)
	return len(p.states) - 1
}

// add adds the states that an aggregate needs.
func (p *plan) add(program *exprtree.Program, a wanted) (result, error) {
	all := a
	all.value = -1
	switch a.function {
	case none:
		return result{}, fmt.Errorf("no function: make aggregates with Sum, Min and so on: %w", device.ErrInvalidValue)
	case countAll:
		return result{finish: finishCount, first: p.state(aggregate.Count, 0, all), kind: arrow.PrimitiveTypes.Int64}, nil
	case count:
		return result{finish: finishCount, first: p.state(aggregate.Count, 0, a), kind: arrow.PrimitiveTypes.Int64}, nil
	case countNull:
		return result{finish: finishDifference, first: p.state(aggregate.Count, 0, all), second: p.state(aggregate.Count, 0, a),
			kind: arrow.PrimitiveTypes.Int64}, nil
	}
	t := program.Outputs[a.value].Type
	form, ok := formOf(t)
	if !ok {
		return result{}, refusal(t)
	}
	switch a.function {
	case sum, product:
		return p.addSum(a, t, form)
	case minimum, maximum:
		return p.addExtreme(a, t, form), nil
	case mean:
		return p.addMean(a, t, form)
	case anyTrue, allTrue:
		if form != aggregate.Boolean {
			return result{}, refusal(t)
		}
		return p.addTruth(a, a.function == anyTrue), nil
	case variance, deviation:
		return p.addMoments(a, t, form)
	}
	return p.addRow(a, form), nil
}

func refusal(t arrow.DataType) error {
	return layout.Refuse(t, "one that the table of package reduce has for this function (cast it)", device.ErrNotSupported)
}

func (p *plan) addSum(a wanted, t arrow.DataType, form aggregate.Form) (result, error) {
	r := result{finish: finishValue, second: p.state(aggregate.Count, 0, a)}
	kinds := [...]aggregate.Kind{p.sumKind(form), aggregate.SumFloat}
	if a.function == product {
		kinds = [...]aggregate.Kind{aggregate.ProductInteger, aggregate.ProductFloat}
	} else {
		r.finish = finishOf(kinds[0])
	}
	switch {
	case layout.Storage(t).ID() == arrow.DURATION && a.function == sum:
		r.kind, r.first = t, p.state(kinds[0], form, a)
	case isTemporal(t):
		return result{}, refusal(t)
	case isFloat(form):
		r.kind, r.finish, r.first = arrow.PrimitiveTypes.Float64, finishFloat, p.state(kinds[1], form, a)
	case form == aggregate.Wide:
		if a.function == product {
			return result{}, refusal(t)
		}
		r.kind = &arrow.Decimal128Type{Precision: 38, Scale: layout.Storage(t).(*arrow.Decimal128Type).Scale}
		r.finish, r.first = finishSum, p.state(aggregate.SumDecimal, form, a)
	case isSigned(form):
		r.kind, r.first = arrow.PrimitiveTypes.Int64, p.state(kinds[0], form, a)
	case form == aggregate.Boolean && a.function == sum:
		r.kind, r.finish, r.first = arrow.PrimitiveTypes.Int64, finishValue, p.state(aggregate.CountTrue, form, a)
	case form == aggregate.Boolean:
		r.kind, r.first = arrow.PrimitiveTypes.Int64, p.state(kinds[0], form, a)
	default:
		r.kind, r.first = arrow.PrimitiveTypes.Uint64, p.state(kinds[0], form, a)
	}
	return r, nil
}

func (p *plan) addTruth(a wanted, isAny bool) result {
	r := result{finish: finishAll, first: p.state(aggregate.CountTrue, aggregate.Boolean, a), second: p.state(aggregate.Count, 0, a),
		kind: arrow.FixedWidthTypes.Boolean}
	if isAny {
		r.finish = finishAny
	}
	return r
}

func (p *plan) addExtreme(a wanted, t arrow.DataType, form aggregate.Form) result {
	if form == aggregate.Boolean {
		r := p.addTruth(a, a.function == maximum)
		r.kind = t
		return r
	}
	kinds := map[aggregate.Form][2]aggregate.Kind{
		aggregate.Signed32: {aggregate.MinSigned, aggregate.MaxSigned}, aggregate.Signed64: {aggregate.MinSigned, aggregate.MaxSigned},
		aggregate.Unsigned32: {aggregate.MinUnsigned, aggregate.MaxUnsigned}, aggregate.Unsigned64: {aggregate.MinUnsigned, aggregate.MaxUnsigned},
		aggregate.Float32: {aggregate.MinFloat, aggregate.MaxFloat}, aggregate.Float64: {aggregate.MinFloat, aggregate.MaxFloat},
		aggregate.Wide: {aggregate.MinWide, aggregate.MaxWide},
	}[form]
	kind := kinds[0]
	if a.function == maximum {
		kind = kinds[1]
	}
	r := result{finish: finishValue, first: p.state(kind, form, a), second: p.state(aggregate.Count, 0, a), kind: t}
	if isFloat(form) {
		r.finish = finishFloat
	}
	return r
}

func (p *plan) addMean(a wanted, t arrow.DataType, form aggregate.Form) (result, error) {
	r := result{finish: finishMean, second: p.state(aggregate.Count, 0, a), kind: arrow.PrimitiveTypes.Float64}
	switch {
	case isTemporal(t):
		return result{}, refusal(t)
	case form == aggregate.Boolean:
		r.first = p.state(aggregate.CountTrue, form, a)
	case isFloat(form):
		r.first = p.state(aggregate.SumFloat, form, a)
	case form == aggregate.Wide:
		decimals := layout.Storage(t).(*arrow.Decimal128Type)
		r.first, r.finish, r.kind = p.state(aggregate.SumDecimal, form, a), finishMeanDecimal, aggregate.MeanOfDecimals(decimals)
		r.factor = aggregate.MeanFactor(decimals)
	default:
		r.first = p.state(p.sumKind(form), form, a)
	}
	return r, nil
}

func (p *plan) addMoments(a wanted, t arrow.DataType, form aggregate.Form) (result, error) {
	if isTemporal(t) || form == aggregate.Boolean || form == aggregate.Wide {
		return result{}, refusal(t)
	}
	if a.freedom < 0 {
		return result{}, fmt.Errorf("%d degrees of freedom: %w", a.freedom, device.ErrInvalidValue)
	}
	r := result{finish: finishVariance, first: p.state(aggregate.Moments, form, a), freedom: a.freedom, kind: arrow.PrimitiveTypes.Float64}
	if a.function == deviation {
		r.finish = finishDeviation
	}
	return r, nil
}

func (p *plan) addRow(a wanted, form aggregate.Form) result {
	kinds := [2]aggregate.Kind{aggregate.FirstLeast, aggregate.FirstGreatest}
	if form == aggregate.Wide {
		kinds = [2]aggregate.Kind{aggregate.FirstLeastWide, aggregate.FirstGreatestWide}
	}
	kind := kinds[0]
	if a.function == rowOfMaximum {
		kind = kinds[1]
	}
	return result{finish: finishRow, first: p.state(kind, form, a), kind: arrow.PrimitiveTypes.Int64}
}
