package columntest

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// The types that operators on numbers take.
var (
	IntegerTypes = []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us,
	}
	FloatTypes = []arrow.DataType{arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}
	AllTypes   = append(append([]arrow.DataType{}, IntegerTypes...), FloatTypes...)
)

// IsUnsigned reports whether a type is an unsigned integer.
func IsUnsigned(t arrow.DataType) bool { return t.Name()[0] == 'u' }

// Sample is an array to test with.
type Sample struct {
	Name  string
	Array arrow.Array
}

// Samples returns arrays of a type: of each length, with some, no and only nulls, whole
// and sliced, with values from the whole range of the type and with few values.
func Samples(t testing.TB, dataType arrow.DataType, lengths ...int) []Sample {
	var all []Sample
	g := arraytest.NewGenerator(uint64(dataType.ID()))
	for _, n := range lengths {
		for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
			for _, few := range []bool{false, true} {
				g.Nulls, g.Sliced = nulls, nulls != arraytest.AllNull && n%2 == 1
				a := g.Array(dataType, n)
				width := dataType.(arrow.FixedWidthDataType).Bytes()
				for row := range n {
					put(Raw(a, row), value(dataType, few, row, g.Uint64()), width)
				}
				t.Cleanup(a.Release)
				all = append(all, Sample{fmt.Sprintf("%v %d nulls %v few %v", dataType, n, nulls, few), a})
			}
		}
	}
	return all
}

// value returns the bits of a random value.
func value(dataType arrow.DataType, few bool, row int, random uint64) uint64 {
	special := []float64{math.NaN(), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 100, -100, 5e-324, 1e300}
	x := float64(int64(random>>8)%1000) / 8
	switch {
	case few && dataType.ID() < arrow.FLOAT16:
		return random % 3
	case few:
		x = float64(random % 3)
	case row%5 == 0:
		x = special[random%uint64(len(special))]
	}
	switch dataType.ID() {
	case arrow.FLOAT16:
		return uint64(float16.New(float32(x)).Uint16())
	case arrow.FLOAT32:
		return uint64(math.Float32bits(float32(x)))
	case arrow.FLOAT64:
		return math.Float64bits(x)
	}
	if row%2 == 0 {
		return random % 256 // so that some values are close to each other
	}
	return random
}

func put(to []byte, bits uint64, width int) {
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], bits)
	copy(to, all[:width])
}

// Raw returns the bytes of the value of a row.
func Raw(a arrow.Array, row int) []byte {
	width := a.DataType().(arrow.FixedWidthDataType).Bytes()
	return a.Data().Buffers()[1].Bytes()[(a.Data().Offset()+row)*width:][:width]
}

// Integer returns the value of a row. A value of an unsigned type is returned as its
// bits.
func Integer(a arrow.Array, row int) int64 {
	var all [8]byte
	bytes := Raw(a, row)
	copy(all[:], bytes)
	x := int64(binary.LittleEndian.Uint64(all[:]))
	if shift := 64 - 8*len(bytes); !IsUnsigned(a.DataType()) {
		x = x << shift >> shift
	}
	return x
}

// Number returns the value of a row as a float.
func Number(a arrow.Array, row int) float64 {
	switch a := a.(type) {
	case *array.Float16:
		return float64(a.Value(row).Float32())
	case *array.Float32:
		return float64(a.Value(row))
	case *array.Float64:
		return a.Value(row)
	}
	if IsUnsigned(a.DataType()) {
		return float64(uint64(Integer(a, row)))
	}
	return float64(Integer(a, row))
}

// LengthsFor returns lengths of samples for a device.
func LengthsFor(dev *device.Device) []int {
	switch {
	case devicetest.Emulated(dev) && testing.Short():
		return []int{0, 33, 1025}
	case devicetest.Emulated(dev):
		return []int{0, 33, 5001}
	}
	return []int{0, 1, 31, 257, 2048, 2049, 9001}
}
