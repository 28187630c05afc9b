package pages

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/text/textvalue"
)

// instants decodes timestamps of 96 bits: nanoseconds of the day, and the Julian day. Those that
// 64 bits do not hold are null.
type instants struct {
	fixed[int64]
}

// noInstant stands for a timestamp that does not fit. It is no timestamp in NumPy either.
const noInstant = math.MinInt64

const nanosOfSecond = 1_000_000_000

// julianEpoch is the Julian day of 1970-01-01.
const julianEpoch = 2_440_588

func newInstants(t *arrow.TimestampType) values {
	const width = 12
	unit := exprtree.UnitOf(t)
	return &instants{fixed: fixed[int64]{width: width, convert: func(to []int64, page []byte, taken int) {
		page = page[taken*width:]
		for i := range to {
			to[i] = instant(page[i*width:][:width], unit)
		}
	}}}
}

func instant(data []byte, unit int64) int64 {
	const secondsOfDay = 86_400
	nanosecond, day := int64(binary.LittleEndian.Uint64(data)), int64(int32(binary.LittleEndian.Uint32(data[8:])))
	second, rest := nanosecond/nanosOfSecond, nanosecond%nanosOfSecond
	if rest < 0 {
		second, rest = second-1, rest+nanosOfSecond
	}
	value, ok := textvalue.Scaled((day-julianEpoch)*secondsOfDay+second, rest/(nanosOfSecond/unit), unit)
	if !ok {
		return noInstant
	}
	return value
}

// absent clears the bits of rows that do not fit, and returns the bitmap and how many they are.
// The bitmap may be nil before.
func (v *instants) absent(rows int, validity []byte, mem arrowmemory.Allocator) (_ []byte, count int) {
	for i, value := range v.decoded[:rows] {
		if value != noInstant || validity != nil && !bitutil.BitIsSet(validity, i) {
			continue
		}
		if validity == nil {
			validity = allocate(mem, (rows+7)/8)
			clear(validity)
			bitutil.SetBitsTo(validity, 0, int64(rows), true)
		}
		bitutil.ClearBit(validity, i)
		count++
	}
	return validity, count
}
