// Package humanize formats and reads sizes and numbers for people. It has the three functions that gpuframe
// needs of github.com/dustin/go-humanize, with the same results: that package keeps regular expressions and
// math/big in each program, 0.26 MB.
package humanize

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// binaryUnits are the units of powers of 1024.
var binaryUnits = [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// IBytes formats a size in units of 1024, with two digits: "512 B", "1.5 KiB", "79 MiB".
func IBytes(n uint64) string {
	if n < 10 {
		return fmt.Sprintf("%d B", n)
	}
	// The logarithm of a size just below a unit is that of the unit, so it is 1.0 of it and not 1024 of the smaller one.
	size := float64(n)
	unit := int(math.Log(size) / math.Log(1024))
	size /= math.Pow(1024, float64(unit))
	if tenths := math.Floor(size*10 + 0.5); tenths < 100 {
		return fmt.Sprintf("%.1f %s", tenths/10, binaryUnits[unit])
	}
	return fmt.Sprintf("%.0f %s", math.Floor(size+0.5), binaryUnits[unit])
}

// Comma formats a number with a comma between groups of three digits: "-1,234,567".
func Comma(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	first := (len(digits)-1)%3 + 1
	groups := []string{digits[:first]}
	for rest := digits[first:]; rest != ""; rest = rest[3:] {
		groups = append(groups, rest[:3])
	}
	return sign + strings.Join(groups, ",")
}

// units are the sizes of units, by their names in lower case.
var units = map[string]float64{
	"": 1, "b": 1,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40, "pib": 1 << 50, "eib": 1 << 60,
	"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40, "pi": 1 << 50, "ei": 1 << 60,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15, "eb": 1e18,
	"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18,
}

// ParseBytes reads a size: "42 MB", "1.5GiB", "1,024". The unit may be of powers of 1000 or of 1024, in letters of either
// case. It returns an error for other texts and for sizes of 2^64 and more.
func ParseBytes(text string) (uint64, error) {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.' || text[end] == ',') {
		end++
	}
	digits := strings.ReplaceAll(text[:end], ",", "")
	number, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, err
	}
	name := strings.ToLower(strings.TrimSpace(text[end:]))
	unit, ok := units[name]
	if !ok {
		return 0, fmt.Errorf("unhandled size name: %v", name)
	}
	if whole, err := strconv.ParseUint(digits, 10, 64); err == nil {
		high, low := bits.Mul64(whole, uint64(unit))
		if high != 0 {
			return 0, fmt.Errorf("too large: %v", text)
		}
		return low, nil
	}
	if number *= unit; number >= math.MaxUint64 {
		return 0, fmt.Errorf("too large: %v", text)
	}
	return uint64(number), nil
}
