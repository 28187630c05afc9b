package source

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
)

// plainLiterals returns the values that meet a condition, in the bytes of the encoding PLAIN.
func (g *groupValues) plainLiterals(m member, leaf int, t arrow.DataType) (values [][]byte, ok bool) {
	for _, literal := range m.literals {
		plain, ok := plainValues(literal, t, g.footer.column(leaf).Physical)
		if !ok {
			return nil, false
		}
		values = append(values, plain...)
	}
	return values, true
}

// plainValues returns the values of a type that equal a literal, in the bytes of the encoding PLAIN: none if no value
// equals it, two for a zero of floats.
func plainValues(literal any, t arrow.DataType, physical parquetformat.Type) (values [][]byte, ok bool) {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
		switch literal := literal.(type) {
		case string:
			values = append(values, []byte(literal))
		case []byte:
			values = append(values, literal)
		default:
			return nil, false
		}
		return values, physical == parquetformat.ByteArray
	case arrow.FLOAT64:
		v, exact := floatOf(literal)
		if !exact || physical != parquetformat.Double {
			return nil, false
		}
		values = append(values, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		if v == 0 {
			values = append(values, binary.LittleEndian.AppendUint64(nil, math.Float64bits(-v)))
		}
		return values, true
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
	default:
		return nil, false
	}
	v, within := prune.IntegerOf(literal)
	width := t.(arrow.FixedWidthDataType).BitWidth()
	low, high := int64(math.MinInt64)>>(64-width), int64(math.MaxInt64)>>(64-width)
	if arrow.IsUnsignedInteger(t.ID()) {
		low, high = 0, math.MaxInt64
		if width < 64 {
			high = 1<<width - 1
		}
	}
	if !within || v < low || v > high {
		return nil, false
	}
	switch physical {
	case parquetformat.Int32:
		return [][]byte{binary.LittleEndian.AppendUint32(nil, uint32(v))}, true
	case parquetformat.Int64:
		return [][]byte{binary.LittleEndian.AppendUint64(nil, uint64(v))}, true
	}
	return nil, false
}

// floatOf returns a literal that float64 has exactly.
func floatOf(literal any) (float64, bool) {
	switch v := literal.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	}
	v, ok := prune.IntegerOf(literal)
	if v < 0 {
		return float64(v), ok && bits.Len64(uint64(-v)) <= 53
	}
	return float64(v), ok && bits.Len64(uint64(v)) <= 53
}
