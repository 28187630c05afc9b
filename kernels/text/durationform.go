package text

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

var durationForms = []string{"iso8601", "go", "clock"}

func durationFormOf(name string) (durationForm, error) {
	i := slices.Index(durationForms, name)
	if i < 0 {
		return 0, fmt.Errorf("no form of durations is called %q, expected one of %s: %w", name, strings.Join(durationForms, ", "), expr.ErrLiteral)
	}
	return durationForm(i), nil
}

const (
	secondNanoseconds = uint64(time.Second)
	// mostMagnitude is that of the least duration.
	mostMagnitude = uint64(1) << 63
)

// appendDuration writes a duration on the host. unit is the number of units in a second.
func appendDuration(to []byte, value int64, unit uint64, form durationForm) []byte {
	magnitude := uint64(value)
	if value < 0 {
		to, magnitude = append(to, '-'), -magnitude
	}
	seconds, nanosecond := magnitude/unit, magnitude%unit*(secondNanoseconds/unit)
	hours, minute, second := seconds/3600, seconds/60%60, seconds%60
	switch form {
	case isoDuration:
		to = appendPart(append(to, 'P'), hours/24, 'D')
		if magnitude != 0 && seconds%86_400 == 0 && nanosecond == 0 {
			return to
		}
		to = appendPart(appendPart(append(to, 'T'), hours%24, 'H'), minute, 'M')
		if magnitude != 0 && second == 0 && nanosecond == 0 {
			return to
		}
		return append(appendFraction(strconv.AppendUint(to, second, 10), nanosecond, 9), 'S')
	case goDuration:
		if seconds == 0 {
			return append(to, time.Duration(nanosecond).String()...)
		}
		if hours > 0 {
			to = append(strconv.AppendUint(to, hours, 10), 'h')
		}
		if seconds >= 60 {
			to = append(strconv.AppendUint(to, minute, 10), 'm')
		}
		return append(appendFraction(strconv.AppendUint(to, second, 10), nanosecond, 9), 's')
	}
	return appendFraction(fmt.Appendf(to, "%02d:%02d:%02d", hours, minute, second), nanosecond, 9)
}

// appendPart writes a number that is not zero, and its letter.
func appendPart(to []byte, value uint64, letter byte) []byte {
	if value == 0 {
		return to
	}
	return append(strconv.AppendUint(to, value, 10), letter)
}

// appendFraction writes a number as the digits behind a point, without zeros at the end.
func appendFraction(to []byte, value uint64, digits int) []byte {
	if value == 0 {
		return to
	}
	return append(append(to, '.'), strings.TrimRight(fmt.Sprintf("%0*d", digits, value), "0")...)
}

// parsedDuration reads a duration on the host. unit is the number of units in a second.
func parsedDuration(text string, unit uint64, form durationForm) (value int64, ok bool) {
	var d readDuration
	negative := strings.HasPrefix(text, "-")
	unsigned := strings.TrimPrefix(text, "-")
	if !negative {
		unsigned = strings.TrimPrefix(text, "+")
	}
	switch form {
	case isoDuration:
		ok = d.iso(unsigned)
	case goDuration:
		parsed, err := time.ParseDuration(text)
		magnitude := uint64(parsed)
		if parsed < 0 {
			magnitude = -magnitude
		}
		d.seconds, d.nanosecond, ok = magnitude/secondNanoseconds, magnitude%secondNanoseconds, err == nil
	default:
		ok = d.clock(unsigned)
	}
	high, magnitude := bits.Mul64(d.seconds, unit)
	magnitude, carry := bits.Add64(magnitude, d.nanosecond/(secondNanoseconds/unit), 0)
	switch {
	case !ok || high != 0 || carry != 0:
		return 0, false
	case negative:
		return int64(-magnitude), magnitude <= mostMagnitude
	}
	return int64(magnitude), magnitude < mostMagnitude
}

// readDuration is the magnitude of a duration.
type readDuration struct{ seconds, nanosecond uint64 }

// add adds a number of units of some seconds.
func (d *readDuration) add(number, unit uint64) bool {
	high, product := bits.Mul64(number, unit)
	sum, carry := bits.Add64(d.seconds, product, 0)
	d.seconds = sum
	return high == 0 && carry == 0
}

// isoLetters are the letters of units in their order, with the seconds of each.
var isoLetters = []struct {
	letter  byte
	time    bool
	seconds uint64
}{{'W', false, 604_800}, {'D', false, 86_400}, {'H', true, 3600}, {'M', true, 60}, {'S', true, 1}}

func (d *readDuration) iso(text string) bool {
	text, ok := strings.CutPrefix(text, "P")
	if !ok || text == "" {
		return false
	}
	units, time := isoLetters, false
	for text != "" {
		if rest, isTime := strings.CutPrefix(text, "T"); isTime && !time {
			if time, text = true, rest; text == "" {
				return false
			}
		}
		number, billionths, rest, ok := decimalNumber(text)
		if !ok || rest == "" {
			return false
		}
		fraction := len(rest) < len(strings.TrimLeft(text, "0123456789")) // a point was read
		at := 0
		for at < len(units) && (units[at].letter != rest[0] || units[at].time != time) {
			at++
		}
		if text = rest[1:]; at == len(units) || fraction && text != "" {
			return false
		}
		seconds := units[at].seconds
		if !d.add(number, seconds) || !d.add(billionths*seconds/secondNanoseconds, 1) {
			return false
		}
		d.nanosecond, units = billionths*seconds%secondNanoseconds, units[at+1:]
	}
	return true
}

func (d *readDuration) clock(text string) bool {
	hours, rest, colon := strings.Cut(text, ":")
	number, err := strconv.ParseUint(hours, 10, 64)
	if !colon || err != nil || hours[0] == '+' || !d.add(number, 3600) {
		return false
	}
	const form = "00:00"
	if len(rest) < len(form) || rest[2] != ':' {
		return false
	}
	for i, unit := range []uint64{60, 1} {
		tens, ones := rest[3*i]-'0', rest[3*i+1]-'0'
		if tens > 5 || ones > 9 || !d.add(uint64(tens)*10+uint64(ones), unit) {
			return false
		}
	}
	if rest = rest[len(form):]; rest == "" {
		return true
	}
	billionths, rest, ok := fractionOf(rest)
	d.nanosecond = billionths
	return ok && rest == ""
}

// decimalNumber reads a number and perhaps a fraction from the beginning of a text.
func decimalNumber(text string) (number, billionths uint64, rest string, ok bool) {
	rest = strings.TrimLeft(text, "0123456789")
	number, err := strconv.ParseUint(text[:len(text)-len(rest)], 10, 64)
	if err != nil {
		return 0, 0, rest, false
	}
	if rest != "" && (rest[0] == '.' || rest[0] == ',') {
		billionths, rest, ok = fractionOf(rest)
		return number, billionths, rest, ok
	}
	return number, 0, rest, true
}

// fractionOf reads a point and the digits behind it, of which nine have an effect.
func fractionOf(text string) (billionths uint64, rest string, ok bool) {
	if text[0] != '.' && text[0] != ',' {
		return 0, text, false
	}
	rest = strings.TrimLeft(text[1:], "0123456789")
	digits := text[1 : len(text)-len(rest)]
	for i := range 9 {
		billionths *= 10
		if i < len(digits) {
			billionths += uint64(digits[i] - '0')
		}
	}
	return billionths, rest, digits != "" && billionths < math.MaxUint32
}
