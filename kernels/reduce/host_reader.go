package reduce

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/float16"
)

// reader reads an array, as many rows at a time as there are lanes, in the forms of
// package aggregate.
type reader struct {
	array arrow.Array
	// values reads the values from row first into low, and into high for decimals. The
	// function is nil for types that can only be counted.
	values    func(first int, low, high []uint64)
	low, high [lanes]uint64
	// valid holds the rows' bits of the validity bitmap, unless allValid is true.
	valid    [lanes]bool
	bits     []byte
	allValid bool
	// dictionary is the array, if it is a dictionary array. A code counts as null if it
	// refers to a null value or to no value.
	dictionary *array.Dictionary
}

func newReader(a arrow.Array) *reader {
	r := &reader{array: a, bits: a.NullBitmapBytes()}
	if a.DataType().ID() == arrow.NULL {
		r.bits = make([]byte, (a.Data().Offset()+a.Len())/8+1)
	}
	r.allValid = len(r.bits) == 0
	for {
		extension, ok := a.(array.ExtensionArray)
		if !ok {
			break
		}
		a = extension.Storage()
	}
	switch v := a.(type) {
	case *array.Dictionary:
		r.dictionary, r.allValid = v, false
	case *array.Boolean:
		r.values = func(first int, low, _ []uint64) {
			for i := range low {
				low[i] = 0
				if v.Value(first + i) {
					low[i] = 1
				}
			}
		}
	case *array.Int8:
		r.values = integers(v.Int8Values())
	case *array.Int16:
		r.values = integers(v.Int16Values())
	case *array.Int32:
		r.values = integers(v.Int32Values())
	case *array.Int64:
		r.values = integers(v.Int64Values())
	case *array.Uint8:
		r.values = integers(v.Uint8Values())
	case *array.Uint16:
		r.values = integers(v.Uint16Values())
	case *array.Uint32:
		r.values = integers(v.Uint32Values())
	case *array.Uint64:
		r.values = integers(v.Uint64Values())
	case *array.Date32:
		r.values = integers(v.Date32Values())
	case *array.Date64:
		r.values = integers(v.Date64Values())
	case *array.Time32:
		r.values = integers(v.Time32Values())
	case *array.Time64:
		r.values = integers(v.Time64Values())
	case *array.Timestamp:
		r.values = integers(v.TimestampValues())
	case *array.Duration:
		r.values = integers(v.DurationValues())
	case *array.MonthInterval:
		r.values = integers(v.MonthIntervalValues())
	case *array.Float16:
		r.values = halves(v.Values())
	case *array.Float32:
		r.values = floats(v.Float32Values())
	case *array.Float64:
		r.values = floats(v.Float64Values())
	case *array.Decimal128:
		r.values = decimals(v.Values())
	}
	return r
}

// read reads n rows.
func (r *reader) read(first, n int) {
	if r.values != nil {
		r.values(first, r.low[:n], r.high[:n])
	}
	if r.allValid {
		return
	}
	first += r.array.Data().Offset()
	for i := range n {
		r.valid[i] = len(r.bits) == 0 || bitutil.BitIsSet(r.bits, first+i)
	}
	if d := r.dictionary; d != nil {
		first -= d.Data().Offset()
		for i := range n {
			r.valid[i] = r.valid[i] && namesValue(d, first+i)
		}
	}
}

// namesValue reports whether a code refers to a value that is not null.
func namesValue(d *array.Dictionary, i int) bool {
	code, values := d.GetValueIndex(i), d.Dictionary()
	return code >= 0 && code < values.Len() && values.IsValid(code)
}

// andValid clears keep for the rows that are null.
func (r *reader) andValid(keep []bool) {
	if r.allValid {
		return
	}
	for i := range keep {
		keep[i] = keep[i] && r.valid[i]
	}
}

func integers[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](values []T) func(int, []uint64, []uint64) {
	return func(first int, low, _ []uint64) {
		for i, v := range values[first:][:len(low)] {
			low[i] = uint64(v) // sign extension
		}
	}
}

func floats[T float32 | float64](values []T) func(int, []uint64, []uint64) {
	return func(first int, low, _ []uint64) {
		for i, v := range values[first:][:len(low)] {
			low[i] = math.Float64bits(float64(v))
		}
	}
}

func halves(values []float16.Num) func(int, []uint64, []uint64) {
	return func(first int, low, _ []uint64) {
		for i, v := range values[first:][:len(low)] {
			low[i] = math.Float64bits(float64(v.Float32()))
		}
	}
}

func decimals(values []decimal128.Num) func(int, []uint64, []uint64) {
	return func(first int, low, high []uint64) {
		for i, v := range values[first:][:len(low)] {
			low[i], high[i] = v.LowBits(), uint64(v.HighBits())
		}
	}
}
