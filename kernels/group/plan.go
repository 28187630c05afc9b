package group

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// method is the way in which an aggregate is computed.
type method uint8

const (
	// byState makes the result of states.
	byState method = iota
	// byRow takes the value of the row that a state has found.
	byRow
	// bySegment sorts the values of each group, or looks for equal ones.
	bySegment
	// byVector adds up lists of numbers.
	byVector
)

// readsNumbers reports whether the rows need the numbers of their groups.
func (m method) readsNumbers() bool { return m == bySegment || m == byVector }

// output is the plan of an aggregate.
type output struct {
	aggregate Aggregate
	dataType  arrow.DataType
	nullable  bool
	method    method
	finish    finish
	// states are numbers of accumulators. If counted is set the last of them counts the
	// values: without any the result is null.
	states  []int
	counted bool
	freedom int
	// factor is that of finishMeanDecimal.
	factor uint64
	// signed is set for sums of signed integers.
	signed bool
	// collected is set if value and others are lists of the values, of partial results.
	collected bool
	// folded is the type of the values of a Folding, and merges is set if value is its states.
	folded arrow.DataType
	merges bool
	// value, others and where are numbers of inputs. where is negative without a condition.
	value, where int
	others       []int
	// rows is the number of the input with the numbers of rows that partial results have
	// found, or negative.
	rows int
}

// findsRow reports whether the result is the number of a row.
func (o *output) findsRow() bool { return o.method == byState && o.finish == finishRow }

// numbersRows reports whether a partial result has the numbers of the rows besides the values. They
// tell a null that is the value of a row from a group without a row that meets the condition.
func (o *output) numbersRows() bool {
	return o.method == byRow && o.aggregate.keepsNulls() && (o.where >= 0 && !o.aggregate.masked || o.rows >= 0)
}

// input is a column that aggregates read.
type input struct {
	expression expr.Expr
	dataType   arrow.DataType
	// ranked is the number of the input that this one has the ranks of, or negative for
	// the values of the expression.
	ranked int
}

// plan describes how aggregates are computed.
type plan struct {
	inputs       []input
	accumulators []accumulator
	outputs      []output
}

// newPlan plans aggregates of the columns of a schema.
func newPlan(schema *arrow.Schema, aggregates []Aggregate) (*plan, error) {
	if len(aggregates) == 0 {
		return nil, fmt.Errorf("no aggregate is given, expected one or more: %w", device.ErrInvalidValue)
	}
	p := new(plan)
	for i, a := range aggregates {
		o, err := p.begin(schema, a)
		if err == nil {
			err = p.output(&o)
		}
		if err != nil {
			return nil, &AggregateError{i, a, err}
		}
		p.outputs = append(p.outputs, o)
	}
	return p, nil
}

// begin finds the inputs of an aggregate.
func (p *plan) begin(schema *arrow.Schema, a Aggregate) (o output, err error) {
	o = output{aggregate: a, value: -1, where: -1, rows: -1, freedom: a.freedom}
	if a.function == none || a.function >= functions {
		return o, fmt.Errorf("no function: make aggregates with Sum, Min and so on: %w", device.ErrInvalidValue)
	}
	if a.skipNulls && a.function != first && a.function != last && a.function != collect {
		return o, fmt.Errorf("%s always skips nulls, or has no values: leave out SkipNulls: %w", functionNames[a.function], device.ErrInvalidValue)
	}
	if a.hasValue() {
		if o.value, err = p.expression(schema, a.valueIn(schema)); err != nil {
			return o, err
		}
	}
	for _, other := range a.others {
		number, err := p.expression(schema, other)
		if err != nil {
			return o, err
		}
		o.others = append(o.others, number)
	}
	if a.where.IsZero() {
		return o, nil
	}
	if o.where, err = p.expression(schema, a.where); err != nil {
		return o, err
	}
	if t := p.inputs[o.where].dataType; layout.Storage(t).ID() != arrow.BOOL {
		return o, fmt.Errorf("its condition is %v, expected bool: %w", t, device.ErrInvalidValue)
	}
	return o, nil
}

// valueIn returns the expression that an aggregate of the columns of a schema reads: quantiles
// are interpolated between floats, also those of decimals.
func (a Aggregate) valueIn(schema *arrow.Schema) expr.Expr {
	if a.function != median && a.function != quantile {
		return a.value
	}
	if t, _, err := typeIn(schema, a.value); err == nil && layout.Storage(t).ID() == arrow.DECIMAL128 {
		return a.value.Cast(arrow.PrimitiveTypes.Float64)
	}
	return a.value
}

// findsRows reports whether an output is the number of a row.
func (p *plan) findsRows() bool {
	return slices.ContainsFunc(p.outputs, func(o output) bool { return o.findsRow() })
}

// expression returns the number of the input with the values of an expression.
func (p *plan) expression(schema *arrow.Schema, e expr.Expr) (int, error) {
	for i, known := range p.inputs {
		if known.ranked < 0 && known.expression.Same(e) {
			return i, nil
		}
	}
	t, _, err := typeIn(schema, e)
	if err != nil {
		return 0, err
	}
	p.inputs = append(p.inputs, input{e, t, -1})
	return len(p.inputs) - 1, nil
}

// typeIn is expr.Expr.Type, which takes longer for columns.
func typeIn(schema *arrow.Schema, e expr.Expr) (t arrow.DataType, nullable bool, err error) {
	if name, ok := plainColumn(e); ok {
		if indices := schema.FieldIndices(name); len(indices) > 0 {
			f := schema.Field(indices[0])
			return f.Type, f.Nullable, nil
		}
	}
	return e.Type(schema)
}

// plainColumn returns the column that an expression is, perhaps by another name.
func plainColumn(e expr.Expr) (name string, ok bool) {
	for e.Operation() == "as" {
		e = e.Operands()[0]
	}
	return e.Column()
}

// rank returns the number of the input with the ranks of another one.
func (p *plan) rank(number int) int {
	for i, known := range p.inputs {
		if known.ranked == number {
			return i
		}
	}
	p.inputs = append(p.inputs, input{dataType: arrow.PrimitiveTypes.Uint32, ranked: number})
	return len(p.inputs) - 1
}

// accumulate returns the number of an accumulator.
func (p *plan) accumulate(a accumulator) int {
	for i, known := range p.accumulators {
		if known == a {
			return i
		}
	}
	p.accumulators = append(p.accumulators, a)
	return len(p.accumulators) - 1
}

// share makes one accumulator of those that are equal for inputs without nulls: counts of values are
// those of rows, and sums skip no rows for another input.
func (p *plan) share(nullable func(input int) bool) {
	all := p.accumulators
	p.accumulators = nil
	renumbered := make([]int, len(all))
	for i, a := range all {
		if a.kind == countRows {
			if a.value >= 0 && !nullable(a.value) {
				a.value = -1
			}
			if a.other >= 0 && !nullable(a.other) {
				a.other = -1
			}
		}
		if (a.kind == sumFloats || a.kind == sumIntegers) && a.term != crossed && a.other >= 0 && !nullable(a.other) {
			a.other = -1
		}
		renumbered[i] = p.accumulate(a)
	}
	for i := range p.outputs {
		states := slices.Clone(p.outputs[i].states)
		for j, state := range states {
			states[j] = renumbered[state]
		}
		p.outputs[i].states = states
	}
}

// reads returns an accumulator of an aggregate's value.
func (o *output) reads(kind accumulatorKind) accumulator {
	return accumulator{kind: kind, value: o.value, other: -1, where: o.where}
}

// counts adds the accumulator that counts the values.
func (o *output) counts(p *plan) {
	a := o.reads(countRows)
	if len(o.others) > 0 {
		a.other = o.others[0]
	}
	o.states, o.counted, o.nullable = append(o.states, p.accumulate(a)), true, true
}

// makes sets the type of the result and the last step.
func (o *output) makes(t arrow.DataType, f finish) { o.dataType, o.finish = t, f }

// output plans the accumulators and the last step of an aggregate.
func (p *plan) output(o *output) error {
	switch o.aggregate.function {
	case countAll, count:
		o.makes(arrow.PrimitiveTypes.Int64, finishCount)
		o.states = []int{p.accumulate(o.reads(countRows))}
		return nil
	case countNull:
		o.makes(arrow.PrimitiveTypes.Int64, finishDifference)
		all := o.reads(countRows)
		all.value = -1
		o.states = []int{p.accumulate(all), p.accumulate(o.reads(countRows))}
		return nil
	case first, last, anyValue:
		o.makes(p.inputs[o.value].dataType, finishRow)
		o.method, o.nullable = byRow, true
		row := accumulator{kind: greatest, value: -1, other: o.value, where: o.where, least: o.aggregate.function != last}
		if o.aggregate.keepsNulls() {
			row.other = -1
		}
		o.states = []int{p.accumulate(row)}
		return nil
	case minimum, maximum, rowOfMinimum, rowOfMaximum:
		return p.extreme(o)
	case median, quantile, countDistinct, mode, collect, join, largest, smallest, fold:
		return p.segment(o)
	case covariance, correlation:
		return p.joint(o)
	}
	return p.numeric(o)
}

// storedAs returns how the values of a type are stored, for types with numbers.
func storedAs(t arrow.DataType) (l layout.Layout, class layout.Class, err error) {
	if l, err = layout.Of(t); err != nil {
		return l, 0, err
	}
	switch class = l.Stored(); class {
	case layout.Boolean, layout.Signed, layout.Unsigned, layout.Float:
		return l, class, nil
	case layout.Decimal:
		if l.Width == 16 {
			return l, class, nil
		}
	}
	return l, 0, nil
}

func refusal(t arrow.DataType) error {
	return layout.Refuse(t, "one that the table of package group has for this function (cast it)", device.ErrNotSupported)
}

// isTemporal reports whether a type is of times or of intervals of months.
func isTemporal(l layout.Layout) bool {
	return l.Class == layout.Temporal || l.Class == layout.Interval
}

// numeric plans the functions of numbers.
func (p *plan) numeric(o *output) error {
	t := p.inputs[o.value].dataType
	if p.vectors(o) {
		return nil
	}
	l, class, err := storedAs(t)
	if err != nil {
		return err
	}
	duration := l.Storage != nil && l.Storage.ID() == arrow.DURATION
	function := o.aggregate.function
	if class == 0 || isTemporal(l) && !(duration && function == sum) {
		return refusal(t)
	}
	var a accumulator
	switch function {
	case sum, mean:
		return p.sum(o, t, l, class)
	case product:
		if class != layout.Signed && class != layout.Unsigned && class != layout.Boolean {
			return refusal(t)
		}
		o.makes(integerResult(class), finishProduct)
		a = o.reads(products)
	case bitOr, bitXor:
		if class != layout.Signed && class != layout.Unsigned {
			return refusal(t)
		}
		o.makes(t, finishCount)
		if a = o.reads(bitsXor); function == bitOr {
			a.kind = bitsOr
		}
	case anyTrue, allTrue:
		if class != layout.Boolean {
			return refusal(t)
		}
		o.makes(t, finishExtreme)
		a = o.reads(greatest)
		a.least = function == allTrue
	default: // moments
		if class == layout.Boolean || class == layout.Decimal {
			return refusal(t)
		}
		return p.moments(o)
	}
	o.states = []int{p.accumulate(a)}
	o.counts(p)
	return nil
}

// integerResult returns the type of sums and products of integers and bools. Of bools it is signed, so
// that a difference of two counts can be negative.
func integerResult(class layout.Class) arrow.DataType {
	if class == layout.Signed || class == layout.Boolean {
		return arrow.PrimitiveTypes.Int64
	}
	return arrow.PrimitiveTypes.Uint64
}

func (p *plan) sum(o *output, t arrow.DataType, l layout.Layout, class layout.Class) error {
	isMean := o.aggregate.function == mean
	var kind accumulatorKind
	switch class {
	case layout.Float:
		kind = sumFloats
		o.makes(arrow.PrimitiveTypes.Float64, finishFloat)
		if isMean {
			o.finish = finishMeanFloat
		}
	case layout.Decimal:
		kind = sumDecimals
		decimals := l.Storage.(*arrow.Decimal128Type)
		o.makes(&arrow.Decimal128Type{Precision: 38, Scale: decimals.Scale}, finishDecimal)
		if isMean {
			o.makes(aggregate.MeanOfDecimals(decimals), finishMeanDecimal)
			o.factor = aggregate.MeanFactor(decimals)
		}
	default:
		kind = sumIntegers
		o.signed = class == layout.Signed
		o.makes(integerResult(class), finishInteger)
		if isTemporal(l) {
			o.dataType = t // a duration
		}
		if isMean {
			o.makes(arrow.PrimitiveTypes.Float64, finishMean)
		}
	}
	o.states = []int{p.accumulate(o.reads(kind))}
	o.counts(p)
	return nil
}

// moments plans functions of sums of powers.
func (p *plan) moments(o *output) error {
	if o.freedom < 0 {
		return fmt.Errorf("%d degrees of freedom, expected zero or more: %w", o.freedom, device.ErrInvalidValue)
	}
	terms := []term{linear, square}
	switch o.aggregate.function {
	case variance:
		o.makes(arrow.PrimitiveTypes.Float64, finishVariance)
	case deviation:
		o.makes(arrow.PrimitiveTypes.Float64, finishDeviation)
	case skewness:
		o.makes(arrow.PrimitiveTypes.Float64, finishSkewness)
		terms = append(terms, cube)
	case kurtosis:
		o.makes(arrow.PrimitiveTypes.Float64, finishKurtosis)
		terms = append(terms, cube, fourth)
	}
	for _, t := range terms {
		a := o.reads(sumFloats)
		a.term = t
		o.states = append(o.states, p.accumulate(a))
	}
	o.counts(p)
	return nil
}

// joint plans functions of two expressions.
func (p *plan) joint(o *output) error {
	if o.freedom < 0 {
		return fmt.Errorf("%d degrees of freedom, expected zero or more: %w", o.freedom, device.ErrInvalidValue)
	}
	x, y := o.value, o.others[0]
	for _, number := range []int{x, y} {
		t := p.inputs[number].dataType
		l, class, err := storedAs(t)
		if err != nil {
			return err
		}
		if class != layout.Signed && class != layout.Unsigned && class != layout.Float || isTemporal(l) {
			return refusal(t)
		}
	}
	o.makes(arrow.PrimitiveTypes.Float64, finishCovariance)
	sums := []accumulator{{term: linear, value: x, other: y}, {term: linear, value: y, other: x}, {term: crossed, value: x, other: y}}
	if o.aggregate.function == correlation {
		o.finish = finishCorrelation
		sums = append(sums, accumulator{term: square, value: x, other: y}, accumulator{term: square, value: y, other: x})
	}
	for _, a := range sums {
		a.kind, a.where = sumFloats, o.where
		o.states = append(o.states, p.accumulate(a))
	}
	o.counts(p)
	return nil
}

// extreme plans the least and the greatest value, and their rows. Values of more than 64
// bits are compared by their ranks.
func (p *plan) extreme(o *output) error {
	function, t := o.aggregate.function, p.inputs[o.value].dataType
	least, row := function == minimum || function == rowOfMinimum, function == rowOfMinimum || function == rowOfMaximum
	_, class, err := storedAs(t)
	if err != nil {
		return err
	}
	if class != 0 && class != layout.Decimal && !row {
		a := o.reads(greatest)
		a.least = least
		o.makes(t, finishExtreme)
		o.states = []int{p.accumulate(a)}
		o.counts(p)
		return nil
	}
	if err := rowkey.Check(t, 0); err != nil {
		return refusal(t)
	}
	rowFinder := o.reads(firstGreatest)
	rowFinder.least = least
	if class == 0 || class == layout.Decimal {
		rowFinder.value, rowFinder.other = p.rank(o.value), o.value
	}
	o.makes(t, finishRow)
	o.nullable, o.method = true, byRow
	if row {
		o.makes(arrow.PrimitiveTypes.Int64, finishRow)
		o.method = byState
	}
	o.states = []int{p.accumulate(rowFinder)}
	return nil
}

// checkDistinct refuses values that are no keys: equal values are found as groups.
func (p *plan) checkDistinct(o *output) error {
	for _, number := range append([]int{o.value}, o.others...) {
		if err := checkKey(p.inputs[number].dataType); err != nil {
			return err
		}
	}
	return nil
}

// segment plans functions of all values of a group.
func (p *plan) segment(o *output) error {
	t, a := p.inputs[o.value].dataType, o.aggregate
	o.method = bySegment
	l, class, err := storedAs(t)
	if err != nil {
		return err
	}
	switch a.function {
	case median, quantile:
		o.dataType, o.nullable = arrow.PrimitiveTypes.Float64, true
		switch {
		case class == 0 || class == layout.Boolean || class == layout.Decimal || isTemporal(l):
			return refusal(t)
		case !(a.quantile >= 0 && a.quantile <= 1):
			return fmt.Errorf("the quantile is %v, expected 0 to 1: %w", a.quantile, device.ErrInvalidValue)
		}
	case countDistinct:
		o.dataType = arrow.PrimitiveTypes.Int64
		return p.checkDistinct(o)
	case mode:
		o.dataType, o.nullable = t, true
		return p.checkDistinct(o)
	case collect:
		o.dataType, o.nullable = arrow.ListOf(t), false
	case fold:
		return o.folds(t)
	case join:
		o.dataType, o.nullable = t, true
		if t.ID() != arrow.STRING {
			return layout.Refuse(t, "utf8 (cast it)", device.ErrNotSupported)
		}
	case largest, smallest:
		o.dataType = arrow.ListOf(t)
		if a.limit < 0 {
			return fmt.Errorf("the number of values is %d, expected zero or more: %w", a.limit, device.ErrInvalidValue)
		}
		if rowkey.Check(t, 0) != nil {
			return refusal(t)
		}
	}
	return nil
}
