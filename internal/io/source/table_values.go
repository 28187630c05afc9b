package source

import (
	"fmt"
	"math"
	"math/big"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// valuesOf returns the conversion of values that are not nested: nil if the layout is the same. It reports false
// for types without one.
func valuesOf(from, to arrow.DataType) (convert func(arrow.Array, arrow.DataType) (arrow.Array, error), ok bool) {
	if sameLayout(from, to) {
		return nil, true
	}
	if d, encoded := from.(*arrow.DictionaryType); encoded {
		_, ok := valuesOf(d.ValueType, to)
		return dictionaryValues, ok
	}
	read, kind := reading(from)
	write, wanted := writing(to)
	if kind == textKind && wanted == textKind {
		return converting(read, write), true
	}
	if kind == noKind || wanted == noKind || kind > wanted {
		return nil, false
	}
	if scale, ok := scaling(from, to, kind, wanted); ok {
		return converting(func(a arrow.Array, row int) any { return scale(read(a, row)) }, write), true
	}
	return nil, false
}

// sameLayout reports whether arrays of both types have the same buffers and values.
func sameLayout(from, to arrow.DataType) bool {
	switch t := to.(type) {
	case *arrow.TimestampType:
		other, ok := from.(*arrow.TimestampType)
		return ok && other.Unit == t.Unit
	case *arrow.Decimal128Type:
		other, ok := from.(*arrow.Decimal128Type)
		return ok && other.Scale == t.Scale && other.Precision <= t.Precision
	}
	return arrow.TypeEqual(from, to)
}

// valueKind is a kind of values. Values are converted to kinds behind their own.
type valueKind int

const (
	noKind valueKind = iota
	textKind
	dateKind
	instantKind
	integerKind
	decimalKind
	floatKind
)

// reading returns a function that reads values: texts, integers as int64, floats as float64, decimals as *big.Int.
func reading(t arrow.DataType) (func(a arrow.Array, row int) any, valueKind) {
	switch t.ID() {
	case arrow.LARGE_STRING:
		return func(a arrow.Array, row int) any { return []byte(a.(*array.LargeString).Value(row)) }, textKind
	case arrow.LARGE_BINARY:
		return func(a arrow.Array, row int) any { return a.(*array.LargeBinary).Value(row) }, textKind
	case arrow.BINARY:
		return func(a arrow.Array, row int) any { return a.(*array.Binary).Value(row) }, textKind
	case arrow.STRING:
		return func(a arrow.Array, row int) any { return []byte(a.(*array.String).Value(row)) }, textKind
	case arrow.INT8:
		return func(a arrow.Array, row int) any { return int64(a.(*array.Int8).Value(row)) }, integerKind
	case arrow.INT16:
		return func(a arrow.Array, row int) any { return int64(a.(*array.Int16).Value(row)) }, integerKind
	case arrow.INT32:
		return func(a arrow.Array, row int) any { return int64(a.(*array.Int32).Value(row)) }, integerKind
	case arrow.INT64:
		return func(a arrow.Array, row int) any { return a.(*array.Int64).Value(row) }, integerKind
	case arrow.FLOAT32:
		return func(a arrow.Array, row int) any { return float64(a.(*array.Float32).Value(row)) }, floatKind
	case arrow.DECIMAL128:
		return func(a arrow.Array, row int) any { return a.(*array.Decimal128).Value(row).BigInt() }, decimalKind
	case arrow.DATE32:
		return func(a arrow.Array, row int) any { return int64(a.(*array.Date32).Value(row)) }, dateKind
	case arrow.TIMESTAMP:
		return func(a arrow.Array, row int) any { return int64(a.(*array.Timestamp).Value(row)) }, instantKind
	}
	return nil, noKind
}

// writing returns a function that appends values of the forms of reading.
func writing(t arrow.DataType) (func(b array.Builder, value any) error, valueKind) {
	switch t := t.(type) {
	case *arrow.StringType:
		return func(b array.Builder, value any) error {
			b.(*array.StringBuilder).Append(string(value.([]byte)))
			return nil
		}, textKind
	case *arrow.BinaryType:
		return func(b array.Builder, value any) error { b.(*array.BinaryBuilder).Append(value.([]byte)); return nil }, textKind
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		return func(b array.Builder, value any) error { return appendInteger(b, value.(int64)) }, integerKind
	case *arrow.Float64Type:
		return func(b array.Builder, value any) error { b.(*array.Float64Builder).Append(value.(float64)); return nil }, floatKind
	case *arrow.Decimal128Type:
		return func(b array.Builder, value any) error {
			n := value.(*big.Int)
			if n.BitLen() > 127 || !decimal128.FromBigInt(n).FitsInPrecision(t.Precision) {
				return fmt.Errorf("the value %v does not fit %v: %w", n, t, ErrContents)
			}
			b.(*array.Decimal128Builder).Append(decimal128.FromBigInt(n))
			return nil
		}, decimalKind
	case *arrow.TimestampType:
		return func(b array.Builder, value any) error { return appendInteger(b, value.(int64)) }, instantKind
	}
	return nil, noKind
}

func appendInteger(b array.Builder, v int64) error {
	switch b := b.(type) {
	case *array.Int64Builder:
		b.Append(v)
	case *array.TimestampBuilder:
		if v == math.MinInt64 {
			return fmt.Errorf("a time is outside the range of %v: %w", b.Type(), ErrContents)
		}
		b.Append(arrow.Timestamp(v))
	case *array.Int32Builder:
		b.Append(int32(v))
	case *array.Int16Builder:
		b.Append(int16(v))
	case *array.Int8Builder:
		b.Append(int8(v))
	}
	return nil
}

// scaling returns the change of values between types. It reports false for types that do not hold all of them.
func scaling(from, to arrow.DataType, kind, wanted valueKind) (func(any) any, bool) {
	same := func(v any) any { return v }
	switch {
	case kind == integerKind && wanted == integerKind:
		return same, from.(arrow.FixedWidthDataType).BitWidth() <= to.(arrow.FixedWidthDataType).BitWidth()
	case kind == floatKind && wanted == floatKind:
		return same, true
	case kind == integerKind && wanted == floatKind:
		return func(v any) any { return float64(v.(int64)) }, from.ID() != arrow.INT64
	case wanted == decimalKind:
		scale := to.(*arrow.Decimal128Type).Scale
		if d, ok := from.(*arrow.Decimal128Type); ok {
			scale -= d.Scale
		}
		if scale < 0 {
			return nil, false
		}
		factor := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
		return func(v any) any {
			if n, ok := v.(int64); ok {
				v = big.NewInt(n)
			}
			return new(big.Int).Mul(v.(*big.Int), factor)
		}, kind == integerKind || kind == decimalKind
	case kind == dateKind && wanted == instantKind:
		return times(86400*int64(1e9)/nanoseconds(to.(*arrow.TimestampType).Unit), 1), true
	case kind == instantKind && wanted == instantKind:
		return times(nanoseconds(from.(*arrow.TimestampType).Unit), nanoseconds(to.(*arrow.TimestampType).Unit)), true
	}
	return nil, false
}

func nanoseconds(unit arrow.TimeUnit) int64 { return int64(unit.Multiplier()) }

// times multiplies, or divides down: math.MinInt64 stands for a result that does not fit.
func times(factor, divisor int64) func(any) any {
	return func(v any) any {
		n := v.(int64)
		if factor >= divisor {
			factor := factor / divisor
			if product := n * factor; product/factor == n {
				return product
			}
			return int64(math.MinInt64)
		}
		step := divisor / factor
		quotient := n / step
		if n%step < 0 {
			quotient--
		}
		return quotient
	}
}

// converting converts value by value.
func converting(read func(arrow.Array, int) any, write func(array.Builder, any) error) func(arrow.Array, arrow.DataType) (arrow.Array, error) {
	return func(from arrow.Array, to arrow.DataType) (arrow.Array, error) {
		builder := array.NewBuilder(arrowmemory.DefaultAllocator, to)
		defer builder.Release()
		builder.Reserve(from.Len())
		for row := range from.Len() {
			if from.IsNull(row) {
				builder.AppendNull()
			} else if err := write(builder, read(from, row)); err != nil {
				return nil, err
			}
		}
		return builder.NewArray(), nil
	}
}

// dictionaryValues converts the values of dictionaries.
func dictionaryValues(from arrow.Array, to arrow.DataType) (arrow.Array, error) {
	d := from.(*array.Dictionary)
	read, _ := reading(d.Dictionary().DataType())
	write, _ := writing(to)
	if read == nil || write == nil {
		return nil, unconvertible(from.DataType(), to)
	}
	return converting(func(a arrow.Array, row int) any {
		return read(d.Dictionary(), d.GetValueIndex(row))
	}, write)(from, to)
}
