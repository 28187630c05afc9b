package text_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/text"
	"github.com/gpuframe/gpuframe/memory"
)

// layouts are directives as layouts of package time. Those of fractions follow a point.
var layouts = map[string]string{
	"%Y": "2006", "%y": "06", "%m": "01", "%B": "January", "%b": "Jan", "%d": "02", "%j": "002", "%A": "Monday", "%a": "Mon", "%H": "15", "%I": "03",
	"%p": "PM", "%M": "04", "%S": "05", "%z": "-0700", "%F": "2006-01-02", "%T": "15:04:05", "%L": "000", "%f": "000000", "%N": "000000000",
}

// formatted is the oracle of formats.
func formatted(at time.Time, format string) (made string) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			made += format[i : i+1]
			continue
		}
		i++
		year, week := at.ISOWeek()
		switch directive := format[i-1 : i+1]; directive {
		case "%%":
			made += "%"
		case "%L", "%f", "%N":
			made += at.Format("." + layouts[directive])[1:]
		case "%V":
			made += fmt.Sprintf("%02d", week)
		case "%G":
			made += fmt.Sprintf("%04d", year)
		case "%u":
			made += fmt.Sprint((int(at.Weekday())+6)%7 + 1)
		default:
			made += at.Format(layouts[directive])
		}
	}
	return made
}

// randomFormat draws a format.
func randomFormat(r *rand.Rand) string {
	parts := []string{"-", " ", "é", "/", "%%", "%V", "%G", "%u"}
	for directive := range layouts {
		parts = append(parts, directive)
	}
	format := ""
	for range r.IntN(9) {
		format += parts[r.IntN(len(parts))]
	}
	return format
}

// TestFormatTime compares formats with package time, for all units, in slices and with row
// counts on the device.
func TestFormatTime(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		r := rand.New(rand.NewPCG(21, 22))
		types := []arrow.DataType{arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64, &arrow.TimestampType{Unit: arrow.Second}, &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"},
			&arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Nanosecond}}
		for round := range 18 {
			of, rows := types[round%len(types)], 90+round
			b := array.NewBuilder(arrowmemory.DefaultAllocator, of)
			times, valid := make([]time.Time, rows), make([]bool, rows)
			for i := range rows {
				at := time.Unix(r.Int64N(1<<33)-1<<32, r.Int64N(1e9)).UTC()
				if i%3 == 0 {
					at = time.Unix(r.Int64N(1<<39)-1<<38, r.Int64N(1e9)).UTC() // many of other years
				}
				valid[i] = r.IntN(6) > 0
				if !valid[i] {
					b.AppendNull()
				}
				switch b := b.(type) {
				case *array.Date32Builder:
					at = at.Truncate(24 * time.Hour)
					if valid[i] {
						b.Append(arrow.Date32FromTime(at))
					}
				case *array.Date64Builder:
					at = at.Truncate(time.Millisecond)
					if valid[i] {
						b.Append(arrow.Date64(at.UnixMilli()))
					}
				case *array.TimestampBuilder:
					unit := of.(*arrow.TimestampType).Unit
					if unit == arrow.Nanosecond {
						at = time.Unix(0, at.UnixNano()).UTC() // wraps
					}
					at = at.Truncate(unit.Multiplier())
					if valid[i] {
						b.Append(arrow.Timestamp(at.Unix()*int64(time.Second/unit.Multiplier()) + int64(at.Nanosecond())/int64(unit.Multiplier())))
					}
				}
				times[i] = at
			}
			whole := b.NewArray()
			b.Release()
			c, _ := columntest.UploadRows(t, mgr, whole, 2, rows)
			whole.Release()
			format := randomFormat(r)
			counted := columntest.WithRows(t, mgr, c, 40)
			for _, of := range []arrow.Array{evaluate(t, c, text.FormatTime(expr.Col("text"), format)), evaluate(t, counted, text.FormatTime(expr.Col("text"), format))} {
				for i := range of.Len() {
					at := times[i+2]
					ok := valid[i+2] && at.Year() >= 0 && at.Year() <= 9999
					require.Equal(t, ok, of.IsValid(i), "%q of %v", format, at)
					if ok {
						require.Equal(t, formatted(at, format), of.(*array.String).Value(i), "%q of %v", format, at)
					}
				}
				of.Release()
			}
		}
	})
}

// TestParseTime compares formats with package time.
func TestParseTime(t *testing.T) {
	formats := map[string]string{
		"%Y-%m-%d":                 "2006-01-02",
		"%d/%m/%y %H:%M":           "02/01/06 15:04",
		"%a, %d %b %Y %T %z":       "Mon, 02 Jan 2006 15:04:05 -0700",
		"%B %d, %Y at %I:%M:%S %p": "January 02, 2006 at 03:04:05 PM",
		"%Y.%j":                    "2006.002",
		"%Y%m%dT%H%M%S.%f":         "20060102T150405.000000",
		"%A %F %T.%N":              "Monday 2006-01-02 15:04:05.000000000",
	}
	for format, layout := range formats {
		draw := func(r *rand.Rand) string {
			at := time.Unix(r.Int64N(1<<35)-1<<34, r.Int64N(1e9)).In(time.FixedZone("", (r.IntN(96)-48)*900))
			made := at.Format(layout)
			switch r.IntN(5) {
			case 0:
				before, _, _ := strings.Cut(made, ".") // package time reads more digits, and fewer
				k := r.IntN(len(before))
				made = made[:k] + string("0123456789:-TZ.xp"[r.IntN(17)]) + made[k+r.IntN(2):]
			case 1:
				made = strings.ToUpper(made)
			case 2:
				made = strings.ToLower(made)
			}
			return made
		}
		eachSample(t, []int{75, 300}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
			for _, to := range []arrow.DataType{arrow.FixedWidthTypes.Date32, &arrow.TimestampType{Unit: arrow.Second}, &arrow.TimestampType{Unit: arrow.Nanosecond}} {
				got := evaluate(t, s.column, text.ParseTime(expr.Col("text"), format, to))
				for i := range s.rows {
					at, err := parseLike(layout, s.texts[i])
					value := new(big.Int)
					if stamp, ok := to.(*arrow.TimestampType); ok {
						per := int64(time.Second / stamp.Unit.Multiplier())
						value.Add(value.Mul(big.NewInt(at.Unix()), big.NewInt(per)), big.NewInt(int64(at.Nanosecond())*per/1_000_000_000))
					} else {
						value.SetInt64(int64(math.Floor(float64(at.Unix()) / 86_400)))
					}
					ok := err == nil && !s.null[i] && value.IsInt64()
					require.Equal(t, ok, got.IsValid(i), "%q as %q: %v %v", s.texts[i], format, at, err)
					if !ok {
						continue
					}
					is := int64(0)
					switch got := got.(type) {
					case *array.Date32:
						is = int64(got.Value(i))
					case *array.Timestamp:
						is = int64(got.Value(i))
					}
					require.Equal(t, value.Int64(), is, "%q as %q", s.texts[i], format)
				}
				got.Release()
			}
		})
	}
}

var looseZone = regexp.MustCompile(`[+-](24:?..|..:?60)$`)

// parseLike is time.Parse, without what it reads in addition: numbers of other lengths, and
// a fraction of a second that the layout lacks. Its PM is in capitals only.
func parseLike(layout, text string) (time.Time, error) {
	upper := text
	if strings.Contains(layout, "PM") && len(text) > 2 {
		upper = text[:len(text)-2] + strings.ToUpper(text[len(text)-2:])
	}
	at, err := time.Parse(layout, upper)
	if err != nil && strings.Contains(layout, "-0700") {
		for _, zone := range []string{"-07:00", "Z0700"} {
			if other, otherErr := time.Parse(strings.Replace(layout, "-0700", zone, 1), upper); otherErr == nil {
				at, err = other, nil
			}
		}
	}
	if err == nil && looseZone.MatchString(text) {
		return at, fmt.Errorf("%q has an offset of 60 minutes or 24 hours", text)
	}
	if err == nil && !strings.EqualFold(at.Format(layout), text) && !strings.Contains(layout, "-0700") && !sameDate(layout, at, text) {
		return at, fmt.Errorf("%q is read as %v", text, at)
	}
	return at, err
}

// sameDate reports whether a text differs only in its weekday.
func sameDate(layout string, at time.Time, text string) bool {
	_, rest, found := strings.Cut(at.Format(layout), " ")
	_, other, _ := strings.Cut(text, " ")
	return found && strings.HasPrefix(layout, "Mon") && strings.EqualFold(rest, other)
}

// TestTimeFormatsAreRefused has the errors of formats.
func TestTimeFormatsAreRefused(t *testing.T) {
	date := arrow.FixedWidthTypes.Date32
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "at", Type: &arrow.TimestampType{TimeZone: "Asia/Tokyo"}}}, nil)
	in := expr.Col("text")
	for want, e := range map[string]expr.Expr{
		`the format "%Y-%Q" has the directive "%Q", expected one of %Y`: text.ParseTime(in, "%Y-%Q", date),
		`has the directive "%", expected`:                               text.ParseTime(in, "%Y%", date),
		`the format "%m" has no year`:                                   text.ParseTime(in, "%m", date),
		`has %u, %V or %G, which are not read`:                          text.ParseTime(in, "%G-%V", date),
		`the result is int64, expected a date32`:                        text.ParseTime(in, "%Y", arrow.PrimitiveTypes.Int64),
		`utf8 is no date or timestamp`:                                  text.FormatTime(in, "%Y"),
		`its parts are those of UTC`:                                    text.FormatTime(expr.Col("at"), "%Y"),
		`is no string`:                                                  text.ParseTime(expr.Col("at"), "%Y", date),
		`has 300 directives and bytes, expected at most 256`:            text.FormatTime(expr.Col("at").Cast(&arrow.TimestampType{}), strings.Repeat("x", 300)),
	} {
		_, _, err := e.Type(schema)
		require.ErrorContains(t, err, want)
	}
}

// FuzzTimeFormat compares random formats and times with package time, and reads them again.
func FuzzTimeFormat(f *testing.F) {
	f.Add("%Y-%m-%d %H:%M:%S.%f", int64(1_700_000_000), "2023-11-14 22:13:20.000000")
	f.Add("%d %b %y%%%z", int64(-1), "31 dec 69%+0100")
	f.Fuzz(func(t *testing.T, format string, second int64, input string) {
		schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
		e := text.ParseTime(expr.Col("text"), format, &arrow.TimestampType{Unit: arrow.Second})
		if _, _, err := e.Type(schema); err != nil {
			require.ErrorIs(t, err, expr.ErrLiteral)
			return
		}
		text.CheckTimeFormat(t, format, second, input)
	})
}
