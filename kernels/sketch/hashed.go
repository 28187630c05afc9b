package sketch

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// isHashed reports whether values of a type have bytes to hash.
func isHashed(t arrow.DataType) bool {
	switch id := t.ID(); id {
	case arrow.BOOL, arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY,
		arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP, arrow.TIME32, arrow.TIME64, arrow.DURATION, arrow.FLOAT32, arrow.FLOAT64, arrow.DECIMAL128:
		return true
	default:
		return arrow.IsInteger(id)
	}
}

// hashedBytes returns a function that returns the bytes that DataSketches hashes: those of a string, and of integers and times
// as 64 bits. Floats are float64 with one NaN and one zero. The next call overwrites them.
func hashedBytes(values arrow.Array) func(i int) []byte {
	word := make([]byte, 8)
	integer := func(v int64) []byte {
		binary.LittleEndian.PutUint64(word, uint64(v))
		return word
	}
	float := func(v float64) []byte {
		switch {
		case v == 0:
			v = 0
		case math.IsNaN(v):
			return integer(0x7ff8000000000000)
		}
		return integer(int64(math.Float64bits(v)))
	}
	switch a := values.(type) {
	case *array.Boolean:
		return func(i int) []byte {
			if a.Value(i) {
				return integer(1)
			}
			return integer(0)
		}
	case *array.Float32:
		return func(i int) []byte { return float(float64(a.Value(i))) }
	case *array.Float64:
		return func(i int) []byte { return float(a.Value(i)) }
	case *array.Decimal128:
		return func(i int) []byte {
			v := a.Value(i)
			return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, v.LowBits()), uint64(v.HighBits()))
		}
	case interface{ Value(i int) string }:
		return func(i int) []byte { return []byte(a.Value(i)) }
	case interface{ Value(i int) []byte }:
		return a.Value
	}
	return func(i int) []byte { return integer(integerOf(values, i)) }
}
