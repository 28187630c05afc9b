package window

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// ExponentialMeanBy is the mean of the values of the partition up to the row, of which the weight
// halves with each half-life that passes: (1 − d) · value + d · the mean before, where d is
// 0.5^(time since the value before / half-life). The first value is the first mean. It is
// ewm_mean_by of Polars. Rows without a value, and those with a null or NaN as the time, do not
// count and have the mean of the values before. A value that is not later than the one before has
// no weight: the order of the windows is that of the times. The times are numbers, or dates and
// times; the half-life is a number or a time.Duration, above zero.
func ExponentialMeanBy(e, at expr.Expr, halfLife any) Function {
	return Function{kind: exponentialMeanBy, value: e, by: at, halfLife: halfLife}
}

// halfLifeIn returns the half-life in the unit of times of a type.
func halfLifeIn(x any, t arrow.DataType) (float64, error) {
	refuse := func(expected string) (float64, error) {
		return 0, fmt.Errorf("the half-life %v (%T) of %v, expected %s: %w", x, x, t, expected, device.ErrInvalidValue)
	}
	if _, ok := numbers.TypeOf(t); !ok || t.ID() == arrow.INTERVAL_MONTHS {
		return 0, fmt.Errorf("the times: %w", layout.Refuse(t, "numbers, dates, times, timestamps or durations", device.ErrNotSupported))
	}
	unit, number := unitOf(t), 0.0
	switch v := reflect.ValueOf(x); {
	case unit != 0:
		span, ok := x.(time.Duration)
		if !ok || span <= 0 {
			return refuse("a time.Duration above zero")
		}
		return float64(span) / float64(unit), nil
	case v.CanFloat():
		number = v.Float()
	case v.CanInt() && v.Type() != reflect.TypeFor[time.Duration]():
		number = float64(v.Int())
	case v.CanUint():
		number = float64(v.Uint())
	default:
		return refuse("a number, because the times are numbers")
	}
	if !(number > 0) || math.IsInf(number, 0) {
		return refuse("a finite number above zero")
	}
	return number, nil
}

// decayType checks the operands of ExponentialMeanBy.
func (f Function) decayType(schema *arrow.Schema, values arrow.DataType) (arrow.DataType, error) {
	if _, ok := number(values); !ok && values.ID() != arrow.DECIMAL128 {
		return nil, layout.Refuse(values, "integers, floats or decimals", device.ErrNotSupported)
	}
	t, _, err := f.by.Type(schema)
	if err == nil {
		_, err = halfLifeIn(f.halfLife, t)
	}
	return arrow.PrimitiveTypes.Float64, err
}

// decay computes ExponentialMeanBy: the mean after each value is a linear function of that before it.
func (a *arrangement) decay(f Function, value *column.Column) (*column.Column, error) {
	terms, factors, err := a.decayTerms(f, value)
	if err != nil {
		return nil, err
	}
	mean, err := a.recur(f, terms, factors)
	return release.OnError(mean, err, terms.Release(), factors.Release())
}

// decayTerms returns the values times one minus their factors, and the factors of the mean before.
func (a *arrangement) decayTerms(f Function, value *column.Column) (terms, factors *column.Column, err error) {
	at, err := a.evaluate(f.by)
	if err != nil {
		return nil, nil, err
	}
	columns := []*column.Column{value, at}
	names := []string{"value", "at", "known", "before", "factor"}
	defer func() {
		if failure := release.All(columns[1:]); err != nil || failure != nil {
			err = errors.Join(err, failure, terms.Release(), factors.Release())
			terms, factors = nil, nil
		}
	}()
	halfLife, err := halfLifeIn(f.halfLife, at.Type())
	if err != nil {
		return nil, nil, err
	}
	add := func(e expr.Expr) error {
		c, err := a.computed(names[:len(columns)], columns, e)
		if err == nil {
			columns = append(columns, c)
		}
		return err
	}
	number, real := arrow.DataType(arrow.PrimitiveTypes.Int64), arrow.PrimitiveTypes.Float64
	isKnown, floating := expr.Col("value").IsValid(), arrow.IsFloating(at.Type().ID())
	switch {
	case floating:
		number, isKnown = real, isKnown.And(expr.Col("at").Eq(expr.Col("at")))
	case at.Type().ID() == arrow.UINT64:
		number = at.Type()
	}
	if err := add(expr.If(isKnown, expr.Col("at").CastWrap(number), expr.Null(number))); err != nil {
		return nil, nil, err
	}
	shifted := Function{kind: shift, number: -1, skipNulls: true}
	before, err := a.pick(shifted, columns[2], clampedRows(FirstRow, LastRow, a.capacity))
	if err != nil {
		return nil, nil, err
	}
	columns = append(columns, before)
	passed := expr.Col("known").Sub(expr.Col("before"))
	if floating {
		passed = expr.Max(passed, expr.Lit(0.0))
	} else { // a difference of 64-bit times has 64 bits without a sign
		passed = expr.If(expr.Col("known").Le(expr.Col("before")), expr.Lit(0.0), passed.CastWrap(arrow.PrimitiveTypes.Uint64).Cast(real))
	}
	passed = passed.Div(expr.Lit(halfLife))
	if err := add(expr.If(expr.Col("before").IsNull(), expr.Lit(0.0), expr.Lit(0.5).Pow(passed))); err != nil {
		return nil, nil, err
	}
	term := expr.Col("value").Cast(real).Mul(expr.Lit(1.0).Sub(expr.Col("factor")))
	term = expr.If(expr.Col("factor").Eq(expr.Lit(1.0)), expr.Lit(0.0), term) // of infinity too
	if err := add(expr.If(expr.Col("known").IsValid(), term, expr.Null(real))); err != nil {
		return nil, nil, err
	}
	terms, factors = columns[5], columns[4]
	return terms, factors, errors.Join(terms.Retain(), factors.Retain())
}

// recur computes y = term + factor · y of the row before, in each partition.
func (a *arrangement) recur(f Function, terms, factors *column.Column) (*column.Column, error) {
	call, in, err := a.begin(terms, factors)
	if err != nil {
		return nil, err
	}
	by, err := call.View(factors)
	if err != nil {
		return nil, err
	}
	format, _ := numbers.TypeOf(terms.Type())
	fold, to := folding{format: format, fold: foldLinear}, writing{bytes: 8, least: uint64(f.least), result: resultWord}
	spread := spreading{a, &call, to.bytes, spreadKernels[to.bytes]}
	return a.newColumn(&call, arrow.PrimitiveTypes.Float64, true, func(out op.Buffers) error {
		return spread.write(out, func(out op.Buffers) error {
			if call.OnHost() {
				return a.recurOnHost(in, by, fold, to, out)
			}
			w := deviceWriting{out, to}
			return a.scanWith(&call, fold, scanning{
				name: "over_scan_linear", scans: scanKernel(fold.fold), before: []any{a.argument(), valuesArgument(in, fold), fold.argument()}, behind: []any{by.Values, w.argument()},
			})
		})
	})
}

func (a *arrangement) recurOnHost(in, factors op.View, by folding, to writing, out op.Buffers) error {
	h := &hostFold{arrangement: a, by: by, to: to}
	var errs [4]error
	var view op.HostView
	h.hostRows, errs[0] = a.host()
	h.values, errs[1] = newHostValues(in, by.format)
	h.out, errs[2] = out.Host()
	view, errs[3] = factors.Host()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	h.factors = op.Elements[uint64](view.Values)
	clear(h.out.Values)
	h.valid = op.Elements[uint32](h.out.Valid)
	return h.scan()
}
