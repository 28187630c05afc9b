package sketch

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// A valueForm writes, reads and hashes the values of a KLL sketch: longs those of DataSketches' KllLongsSketch, texts those of its
// KllItemsSketch of strings, doubles and floats those of its KllDoublesSketch and KllFloatsSketch.
type valueForm[T cmp.Ordered] interface {
	codec[T]
	// hash is a number that differs for most different values.
	hash(v T) uint64
	// isValue reports whether a value has a place in the order.
	isValue(v T) bool
	// common is the form of the values of two sketches.
	common(other valueForm[T]) valueForm[T]
	// sized is the form of n values with a number of bytes.
	sized(bytes, n int) valueForm[T]
}

type (
	doubles struct{}
	floats  struct{ doubles }
)

func (doubles) kind() string             { return "" }
func (doubles) dataType() arrow.DataType { return arrow.PrimitiveTypes.Float64 }

func (doubles) write(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

func (floats) write(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
}

func (doubles) read(b []byte) (v float64, rest []byte, ok bool) {
	if len(b) < 8 {
		return 0, nil, false
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b)), b[8:], true
}

func (floats) read(b []byte) (v float64, rest []byte, ok bool) {
	if len(b) < 4 {
		return 0, nil, false
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), b[4:], true
}

func (doubles) append(to array.Builder, v float64) { to.(*array.Float64Builder).Append(v) }

func (doubles) items(values arrow.Array) func(i int) float64 { return numberOf(values) }

func (doubles) hash(v float64) uint64 { return math.Float64bits(v) }
func (longs) hash(v int64) uint64     { return uint64(v) }

func (texts) hash(v string) uint64 {
	hash, _ := murmur([]byte(v))
	return hash
}

func (doubles) isValue(v float64) bool { return !math.IsNaN(v) }
func (longs) isValue(int64) bool       { return true }
func (texts) isValue(string) bool      { return true }

func (doubles) common(valueForm[float64]) valueForm[float64]      { return doubles{} }
func (floats) common(other valueForm[float64]) valueForm[float64] { return other }
func (longs) common(valueForm[int64]) valueForm[int64]            { return longs{} }
func (texts) common(valueForm[string]) valueForm[string]          { return texts{} }

func (doubles) sized(bytes, n int) valueForm[float64] {
	if bytes == 4*n {
		return floats{}
	}
	return doubles{}
}

func (longs) sized(int, int) valueForm[int64]  { return longs{} }
func (texts) sized(int, int) valueForm[string] { return texts{} }
