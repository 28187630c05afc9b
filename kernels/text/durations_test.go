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

var durationTypes = []*arrow.DurationType{{Unit: arrow.Second}, {Unit: arrow.Millisecond}, {Unit: arrow.Microsecond}, {Unit: arrow.Nanosecond}}

var (
	isoForm   = regexp.MustCompile(`^([+-]?)P(?:(\d+)(?:[.,](\d+))?W)?(?:(\d+)(?:[.,](\d+))?D)?(T?)(?:(\d+)(?:[.,](\d+))?H)?(?:(\d+)(?:[.,](\d+))?M)?(?:(\d+)(?:[.,](\d+))?S)?$`)
	clockForm = regexp.MustCompile(`^([+-]?)(\d+):([0-5]\d):([0-5]\d)(?:[.,](\d+))?$`)
)

// modelDuration reads a duration with regular expressions and numbers of any size.
func modelDuration(input string, unit arrow.TimeUnit, form string) (int64, bool) {
	nanoseconds, sign := new(big.Int), ""
	add := func(number, fraction string, seconds int64) {
		n, _ := new(big.Int).SetString("0"+number+(fraction + "000000000")[:9], 10)
		nanoseconds.Add(nanoseconds, n.Mul(n, big.NewInt(seconds)))
	}
	switch form {
	case "go":
		d, err := time.ParseDuration(input)
		if err != nil {
			return 0, false
		}
		nanoseconds.SetInt64(int64(d))
	case "clock":
		m := clockForm.FindStringSubmatch(input)
		if m == nil {
			return 0, false
		}
		sign = m[1]
		add(m[2], "", 3600)
		add(m[3], "", 60)
		add(m[4], m[5], 1)
	default:
		m := isoForm.FindStringSubmatch(input)
		if m == nil {
			return 0, false
		}
		sign = m[1]
		some, timed, fraction := false, false, false
		for _, part := range []struct {
			at      int
			seconds int64
		}{{2, 604800}, {4, 86400}, {7, 3600}, {9, 60}, {11, 1}} {
			if m[part.at] == "" {
				continue
			}
			if fraction { // only the last number has one
				return 0, false
			}
			some, timed, fraction = true, timed || part.at >= 7, m[part.at+1] != ""
			add(m[part.at], m[part.at+1], part.seconds)
		}
		if !some || timed != (m[6] != "") {
			return 0, false
		}
	}
	if sign == "-" {
		nanoseconds.Neg(nanoseconds)
	}
	value := nanoseconds.Quo(nanoseconds, big.NewInt(int64(unit.Multiplier())))
	return value.Int64(), value.IsInt64()
}

// modelText is a duration as text.
func modelText(value int64, unit arrow.TimeUnit, form string) string {
	total := new(big.Int).Mul(big.NewInt(value), big.NewInt(int64(unit.Multiplier())))
	if form == "go" && total.IsInt64() {
		return time.Duration(total.Int64()).String()
	}
	sign := ""
	if total.Sign() < 0 {
		sign = "-"
		total.Neg(total)
	}
	seconds, rest := new(big.Int).QuoRem(total, big.NewInt(1e9), new(big.Int))
	s, fraction := seconds.Uint64(), strings.TrimRight(fmt.Sprintf(".%09d", rest.Int64()), ".0")
	switch form {
	case "go":
		return sign + fmt.Sprintf("%dh%dm%d%ss", s/3600, s/60%60, s%60, fraction)
	case "clock":
		return sign + fmt.Sprintf("%02d:%02d:%02d%s", s/3600, s/60%60, s%60, fraction)
	}
	made := "P"
	if s >= 86_400 {
		made += fmt.Sprintf("%dD", s/86_400)
	}
	clock := ""
	for _, part := range []struct {
		letter string
		number uint64
	}{{"H", s / 3600 % 24}, {"M", s / 60 % 60}} {
		if part.number > 0 {
			clock += fmt.Sprint(part.number) + part.letter
		}
	}
	if s%60 > 0 || fraction != "" || made+clock == "P" {
		clock += fmt.Sprintf("%d%sS", s%60, fraction)
	}
	if clock != "" {
		made += "T" + clock
	}
	return sign + made
}

// drawDuration draws durations of all magnitudes, among them limits and round numbers.
func drawDuration(r *rand.Rand) int64 {
	x := int64(r.Uint64() >> r.IntN(64))
	switch r.IntN(5) {
	case 0:
		x = []int64{0, 1, -1, math.MinInt64, math.MaxInt64, 60, 3600, 86_400, 999, 1000, 999_999, 1_000_000}[r.IntN(12)]
	case 1:
		x = r.Int64N(2000) * []int64{1, 60, 3600, 86_400, 1000, 60_000, 1e6, 1e9, 86_400e9 / 1000}[r.IntN(9)]
	}
	if r.IntN(2) == 0 {
		return -x
	}
	return x
}

// TestFormatDuration compares texts with package time and with a model, in slices and with row
// counts on the device.
func TestFormatDuration(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		r := rand.New(rand.NewPCG(41, 42))
		for _, of := range durationTypes {
			for _, form := range []string{"iso8601", "go", "clock"} {
				const rows = 300
				b := array.NewDurationBuilder(arrowmemory.DefaultAllocator, of)
				values, valid := make([]int64, rows), make([]bool, rows)
				for i := range rows {
					values[i], valid[i] = drawDuration(r), r.IntN(6) > 0
					if valid[i] {
						b.Append(arrow.Duration(values[i]))
					} else {
						b.AppendNull()
					}
				}
				whole := b.NewArray()
				b.Release()
				c, _ := columntest.UploadRows(t, mgr, whole, 2, rows)
				whole.Release()
				counted := columntest.WithRows(t, mgr, c, 40)
				made := text.FormatDuration(expr.Col("text"), form)
				for _, got := range []arrow.Array{evaluate(t, c, made), evaluate(t, counted, made)} {
					for i := range got.Len() {
						require.Equal(t, valid[i+2], got.IsValid(i))
						if valid[i+2] {
							require.Equal(t, modelText(values[i+2], of.Unit, form), got.(*array.String).Value(i), "%d %v", values[i+2], of)
						}
					}
					got.Release()
				}
			}
		}
	})
}

// TestParseDuration compares texts, whole and changed ones, with package time and with a model.
func TestParseDuration(t *testing.T) {
	for _, form := range []string{"iso8601", "go", "clock"} {
		draw := func(r *rand.Rand) string {
			made := modelText(drawDuration(r), durationTypes[r.IntN(4)].Unit, form)
			switch r.IntN(5) {
			case 0:
				k := r.IntN(len(made))
				made = made[:k] + string("0123456789:PTWDHMSnhmsu.,+-"[r.IntN(27)]) + made[k+r.IntN(2):]
			case 1:
				made = "+" + strings.TrimPrefix(made, "-")
			case 2:
				made = []string{
					"", "P", "PT", "-P1W", "P1.5W", "P1W2DT3H4M5,678S", "PT1.5H", "P1DT", "P1Y", "P1M", "PT1S1M", "P0.5DT1H", "PT.5S", "P18446744073709551616D", "PT18446744073709551615S",
					"0", "+0", "-", "1", "1h", ".5m", "1.h", ".h", "1us2µs3μs4ns", "1.23456789012345678901234h", "-9223372036854775808ns", "9223372036854775808ns", "2562048h", "1d", "1h 2m",
					"1:00:00", "1:60:00", "1:00:00.", "1:00:00,123456789123", ":00:00", "1:0:00", "99999999999999999999:00:00", "2562047788015215:30:07", "2562047788015215:30:08",
				}[r.IntN(39)]
			}
			return made
		}
		eachSample(t, []int{75, 400}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
			for _, to := range durationTypes {
				got := evaluate(t, s.column, text.ParseDuration(expr.Col("text"), form, to))
				for i := range s.rows {
					want, ok := modelDuration(s.texts[i], to.Unit, form)
					require.Equal(t, ok && !s.null[i], got.IsValid(i), "%q as %s of %v", s.texts[i], form, to)
					if got.IsValid(i) {
						require.Equal(t, want, int64(got.(*array.Duration).Value(i)), "%q as %s of %v", s.texts[i], form, to)
					}
				}
				got.Release()
			}
		})
	}
}

// TestDurationTypes refuses other types and forms before a query runs.
func TestDurationTypes(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String}, {Name: "d", Type: arrow.FixedWidthTypes.Duration_s}}, nil)
	for want, e := range map[string]expr.Expr{
		"int64 is no duration":                                   text.FormatDuration(expr.Col("i"), "go"),
		"int64 is no string":                                     text.ParseDuration(expr.Col("i"), "go", arrow.FixedWidthTypes.Duration_s),
		"the result is int64, expected a duration":               text.ParseDuration(expr.Col("s"), "go", arrow.PrimitiveTypes.Int64),
		`"ISO", expected one of iso8601, go, clock`:              text.ParseDuration(expr.Col("s"), "ISO", arrow.FixedWidthTypes.Duration_s),
		`no form of durations is called "", expected one of iso`: text.FormatDuration(expr.Col("d"), ""),
	} {
		_, _, err := e.Type(schema)
		require.ErrorContains(t, err, want)
	}
}

// FuzzParseDuration compares the host with the model, and reads again what is written.
func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"P1DT2H3M4.5S", "-PT0.000000001S", "P1W", "26h3m4.5s", "1.5µs", "-100:59:59.999", "+0", ""} {
		f.Add(seed, uint8(0))
	}
	dev := devicetest.Open(f, "host")
	mgr := devicetest.Manager(f, dev, memory.Options{})
	f.Fuzz(func(t *testing.T, input string, unit uint8) {
		of := durationTypes[unit%4]
		b := array.NewStringBuilder(arrowmemory.DefaultAllocator)
		b.Append(input)
		whole := b.NewArray()
		b.Release()
		c, _ := columntest.UploadRows(t, mgr, whole, 0, 1)
		whole.Release()
		for _, form := range []string{"iso8601", "go", "clock"} {
			parsed := text.ParseDuration(expr.Col("text"), form, of)
			got := evaluate(t, c, parsed)
			want, ok := modelDuration(input, of.Unit, form)
			if got.IsValid(0) != ok || ok && int64(got.(*array.Duration).Value(0)) != want {
				t.Fatalf("%q as %s of %v: %v, want %d %v", input, form, of, got, want, ok)
			}
			got.Release()
			if form == "go" && of.Unit != arrow.Nanosecond {
				continue // time.ParseDuration does not read all that other units hold
			}
			again := evaluate(t, c, text.ParseDuration(text.FormatDuration(parsed, form), form, of))
			if again.IsValid(0) != ok || ok && int64(again.(*array.Duration).Value(0)) != want {
				t.Fatalf("%q as %s of %v is not read again: %v", input, form, of, again)
			}
			again.Release()
		}
	})
}
