package window

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Function is a function of the rows of a window, for [Over]. It is immutable and safe for
// concurrent use. The zero value gives an error.
type Function struct {
	kind  functionKind
	value expr.Expr
	// others are further expressions of CountDistinct.
	others []expr.Expr
	// by are the times of ExponentialMeanBy.
	by       expr.Expr
	halfLife any
	// number is the number of tiles, an offset, a place in the frame, or degrees of freedom.
	number int64
	// fraction is a quantile, or the weight of the current row.
	fraction  float64
	frame     Frame
	skipNulls bool
	// where is a condition on the rows, or the zero Expr.
	where expr.Expr
	// least is the least number of values, or zero for one.
	least int64
}

type functionKind uint8

const (
	noFunction functionKind = iota
	rowNumber
	rank
	denseRank
	percentRank
	cumulativeDistribution
	tiles
	ranks // functions below are of places
	shift
	first
	last
	nth
	picks // functions below are values of one row
	sumOf
	productOf
	orOf
	xorOf
	minimumOf
	maximumOf
	meanOf
	countOf
	countRows
	varianceOf
	deviationOf
	quantileOf
	distinctOf
	modeOf
	exponentialMean
	exponentialMeanBy
)

var kindNames = [...]string{
	noFunction: "none", rowNumber: "row_number", rank: "rank", denseRank: "dense_rank", percentRank: "percent_rank",
	cumulativeDistribution: "cume_dist", tiles: "ntile", shift: "shift", first: "first", last: "last", nth: "nth", sumOf: "sum",
	productOf: "product", orOf: "bitwise_or", xorOf: "bitwise_xor", minimumOf: "min", maximumOf: "max", meanOf: "mean", countOf: "count", countRows: "count_all",
	varianceOf: "variance", deviationOf: "stddev", quantileOf: "quantile", distinctOf: "count_distinct", modeOf: "mode", exponentialMean: "exponential_mean", exponentialMeanBy: "exponential_mean_by",
}

// RowNumber is the number of the row in its partition, from 1.
func RowNumber() Function { return Function{kind: rowNumber} }

// Rank is the number of the first peer of the row in its partition, from 1.
func Rank() Function { return Function{kind: rank} }

// DenseRank is the number of distinct keys up to that of the row.
func DenseRank() Function { return Function{kind: denseRank} }

// PercentRank is (rank − 1) / (rows − 1) of the partition, 0 in a partition of one row.
func PercentRank() Function { return Function{kind: percentRank} }

// CumulativeDistribution is the fraction of the partition's rows up to the last peer of the
// row.
func CumulativeDistribution() Function { return Function{kind: cumulativeDistribution} }

// Tile is the number, from 1, of the row's part of n parts of the partition of about the
// same size. The first parts have one row more than the others.
func Tile(n int64) Function { return Function{kind: tiles, number: n} }

// Lag is the value of the row n rows before, null if the partition has none.
func Lag(e expr.Expr, n int64) Function { return Function{kind: shift, value: e, number: -n} }

// Lead is the value of the row n rows after, null if the partition has none.
func Lead(e expr.Expr, n int64) Function { return Function{kind: shift, value: e, number: n} }

// First is the value of the first row of the frame.
func First(e expr.Expr) Function { return Function{kind: first, value: e} }

// Last is the value of the last row of the frame.
func Last(e expr.Expr) Function { return Function{kind: last, value: e} }

// Nth is the value of row n of the frame, counted from 1. It is null if the frame has fewer
// rows.
func Nth(e expr.Expr, n int64) Function {
	return Function{kind: nth, value: e, number: max(n, math.MinInt64+1) - 1}
}

// Sum is the sum of the frame's values. A sum of integers, decimals or durations that overflows
// the type of the result is null.
func Sum(e expr.Expr) Function { return Function{kind: sumOf, value: e} }

// Product is the product of the frame's values. That of integers wraps around.
func Product(e expr.Expr) Function { return Function{kind: productOf, value: e} }

// BitOr is the bits that one of the frame's values, integers, has.
func BitOr(e expr.Expr) Function { return Function{kind: orOf, value: e} }

// BitXor is the bits that an odd number of the frame's values, integers, has.
func BitXor(e expr.Expr) Function { return Function{kind: xorOf, value: e} }

// Min is the least of the frame's values, of any type that has an order. Values that are not
// numbers or times are sorted first.
func Min(e expr.Expr) Function { return Function{kind: minimumOf, value: e} }

// Max is the greatest of the frame's values: see [Min].
func Max(e expr.Expr) Function { return Function{kind: maximumOf, value: e} }

// Mean is the arithmetic mean of the frame's values. That of decimals is a decimal, as in package
// reduce.
func Mean(e expr.Expr) Function { return Function{kind: meanOf, value: e} }

// Count is the number of rows of the frame in which the expression is not null.
func Count(e expr.Expr) Function { return Function{kind: countOf, value: e} }

// CountAll is the number of rows of the frame.
func CountAll() Function { return Function{kind: countRows, value: expr.Lit(true)} }

// Variance is the sum of the squared deviations of the frame's values from their mean,
// divided by their number minus degreesOfFreedom. It is null unless there are more values.
func Variance(e expr.Expr, degreesOfFreedom int) Function {
	return Function{kind: varianceOf, value: e, number: int64(degreesOfFreedom)}
}

// StdDev is the square root of [Variance].
func StdDev(e expr.Expr, degreesOfFreedom int) Function {
	return Function{kind: deviationOf, value: e, number: int64(degreesOfFreedom)}
}

// Median is the [Quantile] of 0.5.
func Median(e expr.Expr) Function { return Quantile(e, 0.5) }

// Quantile is the value below which a fraction q of the frame's values lies, interpolated:
// it lies at place q · (n − 1) of the n sorted values, counted from 0. NaN comes after all
// numbers. The work grows with the length of the frames.
func Quantile(e expr.Expr, q float64) Function {
	return Function{kind: quantileOf, value: e, fraction: q}
}

// ExponentialMean is the mean of the values of the partition up to the row, weighted by
// (1 − alpha)^k for the value k values before the last one. Rows that are null do not count
// as a step, and have the mean of the values before. alpha is above 0 and at most 1.
func ExponentialMean(e expr.Expr, alpha float64) Function {
	return Function{kind: exponentialMean, value: e, fraction: alpha}
}

// Rows sets the frame to rows relative to the current one: Rows(-6, 0) are the row and the
// six before it. The default frame is the whole partition. The functions of places, Lag,
// Lead and the exponential means have no frame.
func (f Function) Rows(low, high int64) Function {
	f.frame = Frame{kind: rowsFrame, low: low, high: high}
	return f
}

// Range sets the frame by the key of the order. With an ascending key it is the rows with
// keys from key + low to key + high, where key is that of the current row; with a descending
// key those from key - low down to key - high. The frame of a row with a null or NaN key is
// its peers. Offsets are Go integers, floats for keys that are floats, or a time.Duration
// for temporal keys, or an [Interval] for dates and timestamps; nil is no limit.
func (f Function) Range(low, high any) Function {
	f.frame = Frame{kind: rangeFrame, lowOffset: low, highOffset: high}
	return f
}

// SkipNulls makes First, Last, Nth, Lag and Lead skip rows in which the value is null.
func (f Function) SkipNulls() Function {
	f.skipNulls = true
	return f
}

// Where leaves out the rows in which a condition is not true, as if the value were null there. It is
// for functions that skip nulls.
func (f Function) Where(condition expr.Expr) Function {
	f.where = condition
	return f
}

// AtLeast makes the result null if the frame has fewer than n values that are not null. The
// default is 1, and for counts 0.
func (f Function) AtLeast(n int64) Function {
	f.least = n
	return f
}

// String formats the function for messages.
func (f Function) String() string {
	var arguments []string
	if f.kind > ranks && f.kind != countRows {
		arguments = append(arguments, f.value.String())
	}
	switch f.kind {
	case tiles, shift, varianceOf, deviationOf:
		arguments = append(arguments, fmt.Sprint(f.number))
	case nth:
		arguments = append(arguments, fmt.Sprint(f.number+1))
	case quantileOf, exponentialMean:
		arguments = append(arguments, fmt.Sprint(f.fraction))
	case distinctOf:
		for _, e := range f.others {
			arguments = append(arguments, e.String())
		}
	case exponentialMeanBy:
		arguments = append(arguments, f.by.String(), fmt.Sprint(f.halfLife))
	}
	text := kindNames[f.kind] + "(" + strings.Join(arguments, ", ") + ")"
	if f.frame.kind != wholePartition {
		text += " " + f.frame.String()
	}
	if f.skipNulls {
		text += " skip nulls"
	}
	if !f.where.IsZero() {
		text += " where " + f.where.String()
	}
	return text
}

// isFramed reports whether the function has a frame.
func (f Function) isFramed() bool { return f.kind > shift && f.kind < exponentialMean }

// Type returns the type of the function's values for tables of a schema. It computes
// nothing, so that a planner can check a function before there is a table.
//
// # Errors
//
// The error wraps device.ErrInvalidValue for numbers, frames and options that do not fit
// the function, and device.ErrNotSupported for values and keys of other types.
func (f Function) Type(schema *arrow.Schema, windows Windows) (arrow.DataType, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.frame.kind == rangeFrame {
		if _, err := f.frame.offsets(schema, windows); err != nil {
			return nil, err
		}
	}
	switch f.kind {
	case percentRank, cumulativeDistribution:
		return arrow.PrimitiveTypes.Float64, nil
	case rowNumber, rank, denseRank, tiles, countRows:
		return arrow.PrimitiveTypes.Int64, nil
	}
	t, _, err := f.conditional(f.value, schema).Type(schema)
	if err == nil && !f.where.IsZero() {
		_, _, err = expr.If(f.where, expr.Lit(true), expr.Lit(false)).Type(schema)
	}
	if err != nil {
		return nil, err
	}
	switch f.kind {
	case exponentialMeanBy:
		return f.decayType(schema, t)
	case distinctOf:
		for _, e := range f.others {
			other, _, err := e.Type(schema)
			if err != nil {
				return nil, err
			}
			if _, err := f.typeOf(other); err != nil {
				return nil, err
			}
		}
	}
	return f.typeOf(t)
}

// conditional is an expression with nulls in rows that do not meet the condition. Extremes of nested types, of which
// there is no null literal, have it for their ranks.
func (f Function) conditional(e expr.Expr, schema *arrow.Schema) expr.Expr {
	if f.where.IsZero() || f.hasConditionOfRanks(schema) {
		return e
	}
	return expr.If(f.where, e, expr.Lit(nil))
}

// hasConditionOfRanks reports whether the condition decides about the ranks of values.
func (f Function) hasConditionOfRanks(schema *arrow.Schema) bool {
	if f.where.IsZero() || f.kind != minimumOf && f.kind != maximumOf {
		return false
	}
	t, _, err := f.value.Type(schema)
	if err != nil {
		return false
	}
	_, isNested := t.(arrow.NestedType)
	return isNested
}

// typeOf returns the type of the result for values of a type.
func (f Function) typeOf(t arrow.DataType) (arrow.DataType, error) {
	stored, isNumber := number(t)
	isDuration := t.ID() == arrow.DURATION // arithmetic, but no number
	switch f.kind {
	case shift, first, last, nth:
		return t, nil
	case countOf:
		return arrow.PrimitiveTypes.Int64, nil
	case distinctOf, minimumOf, maximumOf, modeOf:
		if err := rowkey.Check(t, 0); err != nil {
			return nil, layout.Refuse(t, "a type whose values have an order", device.ErrNotSupported)
		}
		if f.kind == distinctOf {
			return arrow.PrimitiveTypes.Int64, nil
		}
		return t, nil
	}
	if f.kind == orOf || f.kind == xorOf {
		if !isNumber || stored.class == layout.Float || isDuration {
			return nil, layout.Refuse(t, "integers", device.ErrNotSupported)
		}
		return t, nil
	}
	switch {
	case f.isOfDecimals(t):
		return f.decimalResult(t.(*arrow.Decimal128Type)), nil
	case isDuration && f.kind == sumOf:
		return t, nil
	case !isNumber:
		return nil, layout.Refuse(t, "integers or floats: cast decimals to float64, and take a total of durations", device.ErrNotSupported)
	case f.kind != sumOf && f.kind != productOf || stored.class == layout.Float:
		return arrow.PrimitiveTypes.Float64, nil
	case stored.class == layout.Signed:
		return arrow.PrimitiveTypes.Int64, nil
	}
	return arrow.PrimitiveTypes.Uint64, nil
}

// check refuses numbers and options that do not fit the function.
func (f Function) check() error {
	invalid := func(format string, arguments ...any) error {
		return fmt.Errorf(format+": %w", append(arguments, device.ErrInvalidValue)...)
	}
	switch {
	case f.kind == noFunction:
		return invalid("the zero Function, expected the result of a constructor such as RowNumber")
	case f.kind > ranks && f.value.IsZero():
		return invalid("the expression is the zero Expr")
	case slices.ContainsFunc(f.others, expr.Expr.IsZero):
		return invalid("a further expression is the zero Expr")
	case f.kind == exponentialMeanBy && f.by.IsZero():
		return invalid("the times are the zero Expr")
	case f.kind == tiles && f.number < 1:
		return invalid("%d parts, expected one or more", f.number)
	case f.kind == nth && f.number < 0:
		return invalid("row %d of the frame, expected 1 or more", f.number+1)
	case (f.kind == varianceOf || f.kind == deviationOf) && (f.number < 0 || f.number > math.MaxInt32):
		return invalid("%d degrees of freedom, expected zero or more", f.number)
	case f.kind == quantileOf && !(f.fraction >= 0 && f.fraction <= 1):
		return invalid("the quantile %v, expected one of 0 to 1", f.fraction)
	case f.kind == exponentialMean && !(f.fraction > 0 && f.fraction <= 1):
		return invalid("alpha is %v, expected more than 0 and at most 1", f.fraction)
	case f.frame.kind != wholePartition && !f.isFramed():
		return invalid("%s has no frame: leave out Rows and Range", kindNames[f.kind])
	case f.frame.kind == rowsFrame && f.frame.low > f.frame.high:
		return invalid("the frame ends with row %d, before it begins with row %d", f.frame.high, f.frame.low)
	case !f.where.IsZero() && (f.kind < ranks || f.kind < picks && !f.skipNulls):
		return invalid("%s counts rows without a value: call SkipNulls, or leave out Where", kindNames[f.kind])
	case f.skipNulls && !(f.kind > ranks && f.kind < picks):
		return invalid("%s always skips nulls, or has no values: leave out SkipNulls", kindNames[f.kind])
	case f.least < 0 || f.least > math.MaxUint32:
		return invalid("at least %d values, expected zero or more", f.least)
	case f.least > 0 && f.kind < picks:
		return invalid("%s has no least number of values: leave out AtLeast", kindNames[f.kind])
	}
	return nil
}
