package text_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// drawFloat draws the text of a number: short and long ones, the middle between two floats
// and its neighbours, limits, and texts that are no numbers.
func drawFloat(r *rand.Rand) string {
	digits := func(n int) string {
		text := ""
		for range n {
			text += string(rune('0' + r.IntN(10)))
		}
		return text
	}
	x := math.Float64frombits(r.Uint64())
	switch r.IntN(11) {
	case 0:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case 1:
		return strconv.FormatFloat(r.Float64()*1000, 'f', r.IntN(9), 64)
	case 2:
		return strconv.FormatFloat(float64(math.Float32frombits(r.Uint32())), 'e', r.IntN(30), 64)
	case 3:
		return []string{"", "-", "+0", "-0.0", ".", "1.", ".5", "NaN", "-nan", "inf", "-Infinity", "infinit", "1e", "1e+", "0x1p3", "1_0", " 1", "1 ", "1e5x", "1.2.3", "é"}[r.IntN(21)]
	case 4:
		return []string{"1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "1e309", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400", "1e400", "3.4028235e38", "3.4028236e38", "7.006492321624085e-46", "1e99999999999999999999", "0e99999"}[r.IntN(14)]
	case 5:
		return digits(1+r.IntN(25)) + "." + digits(r.IntN(25)) + "e" + strconv.Itoa(r.IntN(700)-350)
	case 6:
		return digits(r.IntN(900)) + "." + digits(1+r.IntN(900))
	case 7, 8:
		// The middle between two floats, exactly or with a last digit more.
		if math.IsNaN(x) || math.IsInf(x, 0) || r.IntN(3) == 0 {
			x = math.Float64frombits(r.Uint64N(1 << 53)) // also subnormal
		}
		next := math.Nextafter(x, math.Inf(1))
		if r.IntN(3) == 0 {
			x = float64(math.Float32frombits(r.Uint32() & 0x7f7fffff))
			next = float64(math.Nextafter32(float32(x), math.MaxFloat32))
		}
		middle := new(big.Float).SetPrec(2000).Add(big.NewFloat(x).SetPrec(2000), big.NewFloat(next).SetPrec(2000))
		text := middle.Quo(middle, big.NewFloat(2)).Text('e', 1100)
		mantissa, exponent, _ := strings.Cut(text, "e")
		mantissa = strings.TrimRight(mantissa, "0")
		return mantissa + []string{"", "0001", "000"}[r.IntN(3)] + "e" + exponent
	case 9:
		return fmt.Sprintf("%de%d", r.Uint64(), r.IntN(60)-30)
	}
	return fmt.Sprintf("%+d", r.Int64())
}

// TestParseFloats compares casts with strconv.ParseFloat.
func TestParseFloats(t *testing.T) {
	lengths := []int{1, 75, 1500}
	if testing.Short() {
		lengths = []int{1, 300}
	}
	eachSample(t, lengths, drawFloat, func(t *testing.T, _ *memory.Manager, s sample) {
		for bits, to := range map[int]arrow.DataType{32: arrow.PrimitiveTypes.Float32, 64: arrow.PrimitiveTypes.Float64} {
			got := evaluate(t, s.column, expr.Col("text").Cast(to))
			for i := range s.rows {
				want, err := strconv.ParseFloat(s.texts[i], bits)
				exists := err == nil && !s.null[i] && !strings.ContainsAny(s.texts[i], "_x")
				require.Equal(t, exists, got.IsValid(i), "%d bits: %q", bits, s.texts[i])
				if !exists {
					continue
				}
				var is uint64
				if bits == 64 {
					is = math.Float64bits(got.(*array.Float64).Value(i))
				} else {
					is = math.Float64bits(float64(got.(*array.Float32).Value(i)))
				}
				if want != want {
					require.True(t, math.IsNaN(math.Float64frombits(is)))
					continue
				}
				require.Equal(t, math.Float64bits(want), is, "%d bits: %q", bits, s.texts[i])
			}
			got.Release()
		}
	})
}

var timestampForm = regexp.MustCompile(`^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?)?$`)

// TestParseTimestamps compares casts with time.Parse.
func TestParseTimestamps(t *testing.T) {
	draw := func(r *rand.Rand) string {
		second := r.Int64N(1<<38) - 1<<37
		if r.IntN(4) == 0 { // near the ends of nanoseconds of 64 bits
			second = []int64{-9223372037, -9223372036, 9223372036}[r.IntN(3)]
		}
		at := time.Unix(second, r.Int64N(1e9)).In(time.FixedZone("", (r.IntN(96)-48)*900))
		text := at.Format([]string{
			"2006-01-02", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z", "2006-01-02 15:04:05.000", "2006-01-02T15:04:05.000000000Z07:00",
			"2006-01-02T15:04:05.000000-07:00", "2006-01-02 15:04:05-0700", "2006-01-02 15:04-07",
		}[r.IntN(9)])
		if r.IntN(4) == 0 { // no timestamp any more, or another one
			at := r.IntN(len(text))
			text = text[:at] + string("0123456789:-TZ. "[r.IntN(16)]) + text[at+r.IntN(2):]
		}
		return text
	}
	parse := func(text string) (time.Time, bool) {
		if !timestampForm.MatchString(text) { // time.Parse takes more
			return time.Time{}, false
		}
		for _, form := range []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05"} {
			for _, zone := range []string{"", "Z07:00", "-0700", "-07"} {
				if at, err := time.Parse(form+zone, strings.Replace(text, " ", "T", 1)); err == nil {
					return at, true
				}
			}
		}
		return time.Time{}, false
	}
	lengths := []int{1, 75, 600}
	eachSample(t, lengths, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		for _, unit := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Nanosecond} {
			got := evaluate(t, s.column, expr.Col("text").Cast(&arrow.TimestampType{Unit: unit}))
			per := int64(unit.Multiplier())
			for i := range s.rows {
				at, ok := parse(s.texts[i])
				value := new(big.Int).Mul(big.NewInt(at.Unix()), big.NewInt(int64(time.Second)/per))
				value.Add(value, big.NewInt(int64(at.Nanosecond())/per))
				ok = ok && !s.null[i] && value.IsInt64()
				require.Equal(t, ok, got.IsValid(i), "%q %v", s.texts[i], at)
				if ok {
					require.Equal(t, value.Int64(), int64(got.(*array.Timestamp).Value(i)), "%q", s.texts[i])
				}
			}
			got.Release()
		}
	})
}
