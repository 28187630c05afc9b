package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/arrays/arraytext"
)

const (
	// mostElements is the number of elements of a list that are printed.
	mostElements = 3
	// mostText is the number of characters of a text that are looked at.
	mostText = 200
)

// Value returns element i as text on one line.
func Value(values arrow.Array, i int) (text string) {
	defer func() {
		// Extension types run foreign code.
		if problem := recover(); problem != nil {
			text = clean(fmt.Sprintf("(%v: %v)", values.DataType(), problem))
		}
	}()
	if values.IsNull(i) {
		return "null"
	}
	switch values := values.(type) {
	case *array.Float16:
		return Float(float64(values.Value(i).Float32()))
	case *array.Float32:
		return Float(float64(values.Value(i)))
	case *array.Float64:
		return Float(values.Value(i))
	case *array.String:
		return shortened(values.Value(i))
	case *array.LargeString:
		return shortened(values.Value(i))
	case *array.StringView:
		return shortened(values.Value(i))
	case *array.Timestamp:
		return timestamp(values, i)
	case *array.Date32:
		return values.Value(i).ToTime().Format(time.DateOnly)
	case *array.Date64:
		return values.Value(i).ToTime().Format(time.DateOnly)
	case *array.Duration:
		return duration(int64(values.Value(i)), values.DataType().(*arrow.DurationType).Unit)
	case *array.Decimal128:
		return arraytext.Decimal(values.Value(i).BigInt(), values.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Decimal256:
		return arraytext.Decimal(values.Value(i).BigInt(), values.DataType().(*arrow.Decimal256Type).Scale)
	case *array.Dictionary:
		return Value(values.Dictionary(), values.GetValueIndex(i))
	case *array.Binary:
		return binary(values.Value(i))
	case *array.LargeBinary:
		return binary(values.Value(i))
	case *array.FixedSizeBinary:
		return binary(values.Value(i))
	case *array.Struct:
		return structure(values, i)
	case array.ListLike:
		return list(values, i)
	case array.ExtensionArray:
		return clean(values.ValueStr(i))
	}
	return shortened(arraytext.Value(values, i))
}

// shortened cleans the beginning of a text.
func shortened(text string) string {
	if len(text) > mostText*utf8.UTFMax {
		text = text[:mostText*utf8.UTFMax]
		for !utf8.ValidString(text[len(text)-1:]) && len(text) > mostText { // not within a character
			text = text[:len(text)-1]
		}
		text += gap
	}
	return clean(text)
}

// Float returns a number with up to six significant digits, and at least one digit after
// the point, so that it differs from an integer.
func Float(v float64) string {
	size := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strconv.FormatFloat(v, 'f', -1, 64)
	case v == 0:
		return "0.0"
	case size >= 1e15 || size < 1e-4:
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', 5, 64), "e")
		return trimmed(mantissa) + "e" + exponent
	}
	digits := 5 - int(math.Floor(math.Log10(size)))
	return trimmed(strconv.FormatFloat(v, 'f', max(1, digits), 64))
}

// trimmed removes zeros after the point, except for the first.
func trimmed(number string) string {
	number = strings.TrimRight(number, "0")
	if strings.HasSuffix(number, ".") {
		number += "0"
	}
	return number
}

func timestamp(values *array.Timestamp, i int) string {
	t := values.DataType().(*arrow.TimestampType)
	zone, err := t.GetZone()
	if err != nil || zone == nil {
		zone = time.UTC
	}
	count, inSecond := int64(values.Value(i)), int64(time.Second/t.Unit.Multiplier())
	instant := time.Unix(count/inSecond, count%inSecond*int64(t.Unit.Multiplier())).In(zone)
	return instant.Format("2006-01-02 15:04:05.999999999")
}

// duration returns a duration in Go's notation, for every number of units.
func duration(count int64, unit arrow.TimeUnit) string {
	scale := int64(unit.Multiplier())
	if count > math.MaxInt64/scale || count < math.MinInt64/scale {
		return fmt.Sprintf("%d%v", count, unit)
	}
	return time.Duration(count * scale).String()
}

func binary(data []byte) string {
	text := fmt.Sprintf("%x", data[:min(len(data), mostText)])
	if len(data) > mostText {
		text += gap
	}
	return "0x" + text
}

func list(values array.ListLike, i int) string {
	from, through := values.ValueOffsets(i)
	elements := values.ListValues()
	var parts []string
	for at := from; at < through; at++ {
		if at-from == mostElements {
			parts = append(parts, gap)
			break
		}
		parts = append(parts, quoted(elements, int(at)))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func structure(values *array.Struct, i int) string {
	fields := values.DataType().(*arrow.StructType).Fields()
	parts := make([]string, len(fields))
	for place, field := range fields {
		parts[place] = clean(field.Name) + ": " + quoted(values.Field(place), i)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// quoted returns an element of a nested value, with quotes if it is text.
func quoted(values arrow.Array, i int) string {
	text := Value(values, i)
	if values.IsValid(i) && isText(values.DataType()) {
		return `"` + text + `"`
	}
	return text
}
