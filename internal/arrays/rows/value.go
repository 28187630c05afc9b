package rows

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/arrays/arraytext"
)

func readBool(values arrow.Array) setter {
	b := values.(*array.Boolean)
	return func(p unsafe.Pointer, row int) error {
		*(*bool)(p) = b.Value(row)
		return nil
	}
}

// readString reads text, and decimals as digits.
func readString(from arrow.DataType, to reflect.Type) (binder, error) {
	var text func(values arrow.Array) func(row int) string
	switch t := from.(type) {
	case *arrow.StringType, *arrow.LargeStringType:
		text = func(values arrow.Array) func(int) string { return blockText(values.(textArray)) }
	case *arrow.StringViewType:
		text = func(values arrow.Array) func(int) string {
			return func(row int) string { return strings.Clone(values.(*array.StringView).Value(row)) }
		}
	case arrow.DecimalType:
		text = func(values arrow.Array) func(int) string {
			unscaled := bigValues(values)
			return func(row int) string { return arraytext.Decimal(unscaled(row), t.GetScale()) }
		}
	default:
		return nil, misfit(from, to, "")
	}
	return func(values arrow.Array) setter {
		get := text(values)
		return func(p unsafe.Pointer, row int) error {
			*(*string)(p) = get(row)
			return nil
		}
	}, nil
}

// textArray is an array of strings with offsets.
type textArray interface {
	Len() int
	ValueOffset64(i int) int64
	ValueLen(i int) int
	ValueBytes() []byte
}

// textBlock is the number of rows that are copied together: a row that is kept keeps
// the text of its block in memory.
const textBlock = 256

// blockText returns the strings of rows, with one allocation for textBlock rows.
func blockText(values textArray) func(row int) string {
	data := values.ValueBytes()
	begin, end := 0, 0
	var text string
	var origin, first int64
	if values.Len() > 0 {
		origin = values.ValueOffset64(0)
	}
	return func(row int) string {
		if row < begin || row >= end {
			begin = row - row%textBlock
			end = min(begin+textBlock, values.Len())
			first = values.ValueOffset64(begin)
			last := values.ValueOffset64(end-1) + int64(values.ValueLen(end-1))
			text = string(data[first-origin : last-origin])
		}
		at := values.ValueOffset64(row) - first
		return text[at : at+int64(values.ValueLen(row))]
	}
}

// readBytes reads text and binary values into slices and arrays of bytes.
func readBytes(from arrow.DataType, to reflect.Type) (binder, error) {
	var get func(values arrow.Array, row int) []byte
	switch from.ID() {
	case arrow.BINARY:
		get = func(values arrow.Array, row int) []byte { return values.(*array.Binary).Value(row) }
	case arrow.LARGE_BINARY:
		get = func(values arrow.Array, row int) []byte { return values.(*array.LargeBinary).Value(row) }
	case arrow.BINARY_VIEW:
		get = func(values arrow.Array, row int) []byte { return values.(*array.BinaryView).Value(row) }
	case arrow.FIXED_SIZE_BINARY:
		get = func(values arrow.Array, row int) []byte { return values.(*array.FixedSizeBinary).Value(row) }
	case arrow.STRING:
		get = func(values arrow.Array, row int) []byte { return []byte(values.(*array.String).Value(row)) }
	case arrow.LARGE_STRING:
		get = func(values arrow.Array, row int) []byte { return []byte(values.(*array.LargeString).Value(row)) }
	default:
		return nil, misfit(from, to, "")
	}
	return func(values arrow.Array) setter {
		return func(p unsafe.Pointer, row int) error {
			v := get(values, row)
			if to.Kind() == reflect.Slice {
				*(*[]byte)(p) = append([]byte{}, v...)
				return nil
			}
			if len(v) != to.Len() {
				return fmt.Errorf("%d bytes, expected %d: %w", len(v), to.Len(), ErrRange)
			}
			copy(unsafe.Slice((*byte)(p), to.Len()), v)
			return nil
		}
	}, nil
}

// readTime reads dates and timestamps, in UTC or the time zone of the type.
func readTime(from arrow.DataType, to reflect.Type) (binder, error) {
	switch t := from.(type) {
	case *arrow.Date32Type:
		return timeReader(func(values arrow.Array, row int) time.Time { return values.(*array.Date32).Value(row).ToTime() }), nil
	case *arrow.Date64Type:
		return timeReader(func(values arrow.Array, row int) time.Time { return values.(*array.Date64).Value(row).ToTime() }), nil
	case *arrow.TimestampType:
		zone, err := t.GetZone()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, ErrType)
		}
		if zone == nil {
			zone = time.UTC
		}
		return timeReader(func(values arrow.Array, row int) time.Time {
			return instant(int64(values.(*array.Timestamp).Value(row)), t.Unit).In(zone)
		}), nil
	}
	return nil, misfit(from, to, "")
}

// instant is the time that is count units after 1970, for every count.
func instant(count int64, unit arrow.TimeUnit) time.Time {
	inSecond := int64(time.Second / unit.Multiplier())
	seconds, rest := count/inSecond, count%inSecond
	return time.Unix(seconds, rest*int64(unit.Multiplier())).UTC()
}

func timeReader(get func(values arrow.Array, row int) time.Time) binder {
	return func(values arrow.Array) setter {
		return func(p unsafe.Pointer, row int) error {
			*(*time.Time)(p) = get(values, row)
			return nil
		}
	}
}

// readDuration reads durations and times of day.
func readDuration(from arrow.DataType, to reflect.Type) (binder, error) {
	var get func(values arrow.Array, row int) int64
	var unit arrow.TimeUnit
	switch t := from.(type) {
	case *arrow.DurationType:
		unit, get = t.Unit, func(values arrow.Array, row int) int64 { return int64(values.(*array.Duration).Value(row)) }
	case *arrow.Time32Type:
		unit, get = t.Unit, func(values arrow.Array, row int) int64 { return int64(values.(*array.Time32).Value(row)) }
	case *arrow.Time64Type:
		unit, get = t.Unit, func(values arrow.Array, row int) int64 { return int64(values.(*array.Time64).Value(row)) }
	default:
		return nil, misfit(from, to, "")
	}
	scale := int64(unit.Multiplier())
	return func(values arrow.Array) setter {
		return func(p unsafe.Pointer, row int) error {
			v := get(values, row)
			if v > math.MaxInt64/scale || v < math.MinInt64/scale {
				return fmt.Errorf("%d %v do not fit time.Duration: %w", v, unit, ErrRange)
			}
			*(*time.Duration)(p) = time.Duration(v * scale)
			return nil
		}
	}, nil
}

// readBig reads integers and decimals without digits after the point.
func readBig(from arrow.DataType, to reflect.Type) (binder, error) {
	if t, ok := from.(arrow.DecimalType); ok && t.GetScale() == 0 {
		return func(values arrow.Array) setter {
			get := bigValues(values)
			return func(p unsafe.Pointer, row int) error {
				(*big.Int)(p).Set(get(row))
				return nil
			}
		}, nil
	}
	return nil, misfit(from, to, "; read decimals with digits after the point into string")
}

// bigValues returns the unscaled values of an array of decimals.
func bigValues(values arrow.Array) func(row int) *big.Int {
	if d, ok := values.(*array.Decimal128); ok {
		return func(row int) *big.Int { return d.Value(row).BigInt() }
	}
	d := values.(*array.Decimal256)
	return func(row int) *big.Int { return d.Value(row).BigInt() }
}
