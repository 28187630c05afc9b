// Package columns makes the columns of db-benchmark's tables.
package columns

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// Numbers returns a column of int32. isNull reports which values are null; nil means none.
func Numbers(values []int32, isNull func(int32) bool) arrow.Array {
	b := array.NewInt32Builder(arrowmemory.DefaultAllocator)
	defer b.Release()
	b.Reserve(len(values))
	for _, value := range values {
		if isNull != nil && isNull(value) {
			b.UnsafeAppendBoolToBitmap(false)
		} else {
			b.UnsafeAppend(value)
		}
	}
	return b.NewArray()
}

// Texts returns a column of strings: "id" followed by the value, padded with zeros to the number
// of digits. isNull reports which values are null; nil means none.
func Texts(values []int32, isNull func(int32) bool, digits int) arrow.Array {
	b := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	defer b.Release()
	b.Reserve(len(values))
	b.ReserveData(len(values) * (len("id") + max(digits, len(strconv.Itoa(len(values))))))
	text, number := []byte("id"), make([]byte, 0, 10)
	for _, value := range values {
		if isNull != nil && isNull(value) {
			b.AppendNull()
			continue
		}
		number = strconv.AppendInt(number[:0], int64(value), 10)
		text = text[:len("id")]
		for range digits - len(number) {
			text = append(text, '0')
		}
		text = append(text, number...)
		b.BinaryBuilder.Append(text)
	}
	return b.NewArray()
}

// Floats draws values from 0 to 100 with six decimal places, and the percentage of nulls.
func Floats(r *rand.Rand, rows, nulls int) arrow.Array {
	b := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
	defer b.Release()
	b.Reserve(rows)
	for range rows {
		value := math.Round(r.Float64()*100*1e6) / 1e6
		if nulls > 0 && r.IntN(100) < nulls {
			b.UnsafeAppendBoolToBitmap(false)
		} else {
			b.UnsafeAppend(value)
		}
	}
	return b.NewArray()
}

// Integers draws values from 1 to most, and the percentage of nulls.
func Integers(r *rand.Rand, rows int, most int32, nulls int) arrow.Array {
	values := make([]int32, rows)
	for i := range values {
		if value := 1 + r.Int32N(most); nulls == 0 || r.IntN(100) >= nulls {
			values[i] = value
		}
	}
	return Numbers(values, IsZero)
}

// IsZero reports whether a value is zero, which stands for null in columns of positive values.
func IsZero(value int32) bool { return value == 0 }
