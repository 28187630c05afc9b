package iceberg

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe"
)

const microsecondsOfDay = 86400 * 1000 * 1000

// constantOf returns the value of a partition as one of the column's type, which may be wider than the one it was written with.
func constantOf(value any, t arrow.DataType) (scalar.Scalar, error) {
	if value == nil {
		return scalar.MakeNullScalar(t), nil
	}
	n, integer := integerOf(value)
	switch t := t.(type) {
	case *arrow.BooleanType:
		if v, ok := value.(bool); ok {
			return scalar.NewBooleanScalar(v), nil
		}
	case *arrow.Int32Type:
		if integer && n == int64(int32(n)) {
			return scalar.NewInt32Scalar(int32(n)), nil
		}
	case *arrow.Int64Type:
		if integer {
			return scalar.NewInt64Scalar(n), nil
		}
	case *arrow.Float32Type:
		if v, ok := value.(float32); ok {
			return scalar.NewFloat32Scalar(v), nil
		}
	case *arrow.Float64Type:
		if v, ok := floatOf(value); ok {
			return scalar.NewFloat64Scalar(v), nil
		}
	case *arrow.Date32Type:
		if integer && n == int64(int32(n)) {
			return scalar.NewDate32Scalar(arrow.Date32(n)), nil
		}
	case *arrow.Time64Type:
		if integer {
			return scalar.NewTime64Scalar(arrow.Time64(n), t), nil
		}
	case *arrow.TimestampType:
		if v, ok := timestampOf(value, t); ok {
			return scalar.NewTimestampScalar(arrow.Timestamp(v), t), nil
		}
	case *arrow.Decimal128Type:
		if v := unscaledOf(value); v != nil && v.BitLen() <= 127 && decimal128.FromBigInt(v).FitsInPrecision(t.Precision) {
			return scalar.NewDecimal128Scalar(decimal128.FromBigInt(v), t), nil
		}
	case *arrow.StringType:
		if v, ok := value.(string); ok {
			return scalar.NewStringScalar(v), nil
		}
	case *arrow.BinaryType:
		if v, ok := value.([]byte); ok {
			return scalar.NewBinaryScalar(memory.NewBufferBytes(v), t), nil
		}
	case *arrow.FixedSizeBinaryType:
		if v, ok := value.([]byte); ok && len(v) == t.ByteWidth {
			return scalar.NewFixedSizeBinaryScalar(memory.NewBufferBytes(v), t), nil
		}
	}
	return nil, fmt.Errorf("it is a %T, for a column of %v: %w", value, t, ErrMetadata)
}

func integerOf(value any) (int64, bool) {
	switch v := value.(type) {
	case int32:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

func floatOf(value any) (float64, bool) {
	switch v := value.(type) {
	case float32:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// timestampOf returns a time in the unit of the type. One of 32 bits is a date, of a column that was one.
func timestampOf(value any, t *arrow.TimestampType) (int64, bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case int32:
		at, ok := int64(v)*microsecondsOfDay, true
		if t.Unit == arrow.Nanosecond {
			ok = at <= math.MaxInt64/1000 && at >= math.MinInt64/1000
			at *= 1000
		}
		return at, ok
	}
	return 0, false
}

// unscaledOf returns a decimal of the bytes of a number of two's complement, from the highest one on, or nil.
func unscaledOf(value any) *big.Int {
	data, ok := value.([]byte)
	if !ok || len(data) == 0 || len(data) > 32 {
		return nil
	}
	n := new(big.Int).SetBytes(data)
	if data[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(data))))
	}
	return n
}

// boundOf decodes a bound of a column as [gpuframe.ColumnRange] has it, or returns nil.
func boundOf(data []byte, t arrow.DataType) any {
	var n any
	switch len(data) {
	case 4:
		n = int32(binary.LittleEndian.Uint32(data))
	case 8:
		n = int64(binary.LittleEndian.Uint64(data))
	}
	switch t := t.(type) {
	case *arrow.BooleanType:
		if len(data) == 1 {
			return data[0] != 0
		}
	case *arrow.Int32Type, *arrow.Int64Type, *arrow.Date32Type, *arrow.Time64Type:
		if v, ok := integerOf(n); ok {
			return v
		}
	case *arrow.TimestampType:
		if v, ok := timestampOf(n, t); ok {
			return v
		}
	case *arrow.Float32Type, *arrow.Float64Type:
		return floatBound(data)
	case *arrow.Decimal128Type:
		if v := unscaledOf(data); v != nil {
			return v
		}
	case *arrow.StringType, *arrow.BinaryType:
		return data
	}
	return nil
}

func floatBound(data []byte) any {
	v := math.NaN()
	switch len(data) {
	case 4:
		v = float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
	case 8:
		v = math.Float64frombits(binary.LittleEndian.Uint64(data))
	}
	if math.IsNaN(v) {
		return nil
	}
	return v
}

// columnRange returns the range of a column by the counts and bounds of a file.
func (f *dataFile) columnRange(c column) gpuframe.ColumnRange {
	r := unknownRange
	if arrow.IsNested(c.t.ID()) {
		return r
	}
	nulls, ok := countOf(f.Nulls, c.id)
	values, also := countOf(f.Values, c.id)
	if ok && also && nulls >= 0 && nulls <= values {
		r.Nulls, r.Valid = nulls, values-nulls
	}
	r.Low, r.High = boundIn(f.Lower, c), boundIn(f.Upper, c)
	return r
}

func countOf(counts []count, id int) (int64, bool) {
	index := slices.IndexFunc(counts, func(c count) bool { return int(c.ID) == id })
	if index < 0 {
		return 0, false
	}
	return counts[index].Count, true
}

// boundIn returns the bound of a column, or nil.
func boundIn(bounds []bound, c column) any {
	index := slices.IndexFunc(bounds, func(b bound) bool { return int(b.ID) == c.id })
	if index < 0 {
		return nil
	}
	return boundOf(bounds[index].Value, c.t)
}

// narrower returns the greater bound for the sign 1, the smaller one for -1. Nil is no bound.
func narrower(a, b any, sign int) any {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	if sign*compareBounds(a, b) >= 0 {
		return a
	}
	return b
}

// compareBounds compares bounds of the same column. Those that are not comparable are equal.
func compareBounds(a, b any) int {
	switch x := a.(type) {
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y)
		}
	case float64:
		if y, ok := b.(float64); ok {
			return cmp.Compare(x, y)
		}
	case *big.Int:
		if y, ok := b.(*big.Int); ok {
			return x.Cmp(y)
		}
	case []byte:
		if y, ok := b.([]byte); ok {
			return bytes.Compare(x, y)
		}
	}
	return 0
}
