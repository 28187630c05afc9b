package text

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/base/lazy"
)

// value returns the function that appends the text of a row.
func (p piece) value(a arrow.Array) func(to []byte, row int) []byte {
	form := p.spec + string(p.verb)
	switch p.verb {
	case 's':
		text := plainValue(a)
		if p.spec == "%" {
			return func(to []byte, row int) []byte { return append(to, text(row)...) }
		}
		if id := a.DataType().ID(); p.textLeft && (id == arrow.BOOL || id == arrow.DICTIONARY || arrow.IsBinaryLike(id) || arrow.IsLargeBinaryLike(id)) {
			form = "%-" + form[1:]
		}
		return func(to []byte, row int) []byte { return fmt.Appendf(to, form, text(row)) }
	case 'f', 'e', 'E', 'g':
		number := floatOf(a)
		return func(to []byte, row int) []byte {
			value := number(row)
			if math.IsInf(value, 0) || math.IsNaN(value) {
				return p.appendNotFinite(to, value)
			}
			return fmt.Appendf(to, form, value)
		}
	case 'x', 'X', 'o':
		bits := bitsOf(a)
		form = strings.NewReplacer("+", "", " ", "").Replace(form)
		return func(to []byte, row int) []byte { return fmt.Appendf(to, form, bits(row)) }
	}
	whole := wholeOf(a)
	return func(to []byte, row int) []byte { return fmt.Appendf(to, form, whole(row)) }
}

// notFiniteForm is a form: flags, a width and a precision.
var notFiniteForm = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^%([-+ 0]*)([0-9]*)`) }}

// appendNotFinite appends an infinity or NaN as C has them.
func (p piece) appendNotFinite(to []byte, value float64) []byte {
	text := notFiniteText(value)
	m := notFiniteForm.Get().FindStringSubmatch(p.spec)
	if p.verb == 'E' {
		text = strings.ToUpper(text)
	}
	switch {
	case text[0] == '-':
	case strings.Contains(m[1], "+"):
		text = "+" + text
	case strings.Contains(m[1], " "):
		text = " " + text
	}
	if strings.Contains(m[1], "-") {
		m[2] = "-" + m[2]
	}
	return fmt.Appendf(to, "%"+m[2]+"s", text)
}

func notFiniteText(value float64) string {
	switch {
	case math.IsNaN(value):
		return "nan"
	case value < 0:
		return "-inf"
	}
	return "inf"
}

// bitsOf returns an integer as the number that its bits are without a sign.
func bitsOf(a arrow.Array) func(row int) uint64 {
	unsigned := uint64(math.MaxUint64)
	if t, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		unsigned >>= 64 - t.BitWidth()
	}
	whole := wholeOf(a)
	return func(row int) uint64 {
		if n, ok := whole(row).(int64); ok {
			return uint64(n) & unsigned
		}
		return whole(row).(uint64)
	}
}

// plainValue returns the text of a value: the shortest one of floats.
func plainValue(a arrow.Array) func(row int) string {
	switch a := a.(type) {
	case *array.Float32:
		return func(row int) string {
			if value := float64(a.Value(row)); math.IsInf(value, 0) || math.IsNaN(value) {
				return notFiniteText(value)
			}
			return string(appendFloat32(nil, a.Value(row)))
		}
	case *array.Float64:
		return func(row int) string {
			if value := a.Value(row); math.IsInf(value, 0) || math.IsNaN(value) {
				return notFiniteText(value)
			}
			return strconv.FormatFloat(a.Value(row), 'g', -1, 64)
		}
	case *array.String, *array.LargeString, *array.Binary, *array.LargeBinary, *array.Dictionary:
		return stringsOf(a)
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(row int) string { return a.Value(row).ToString(scale) }
	}
	return a.ValueStr
}

func floatOf(a arrow.Array) func(row int) float64 {
	switch a := a.(type) {
	case *array.Float32:
		return func(row int) float64 { return float64(a.Value(row)) }
	case *array.Float64:
		return a.Value
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(row int) float64 { return a.Value(row).ToFloat64(scale) }
	}
	whole := wholeOf(a)
	return func(row int) float64 {
		if n, ok := whole(row).(uint64); ok {
			return float64(n)
		}
		return float64(whole(row).(int64))
	}
}

// wholeOf returns an integer as int64 or uint64.
func wholeOf(a arrow.Array) func(row int) any {
	switch a := a.(type) {
	case *array.Int8:
		return func(row int) any { return int64(a.Value(row)) }
	case *array.Int16:
		return func(row int) any { return int64(a.Value(row)) }
	case *array.Int32:
		return func(row int) any { return int64(a.Value(row)) }
	case *array.Uint8:
		return func(row int) any { return uint64(a.Value(row)) }
	case *array.Uint16:
		return func(row int) any { return uint64(a.Value(row)) }
	case *array.Uint32:
		return func(row int) any { return uint64(a.Value(row)) }
	case *array.Uint64:
		return func(row int) any { return a.Value(row) }
	}
	return func(row int) any { return a.(*array.Int64).Value(row) }
}
