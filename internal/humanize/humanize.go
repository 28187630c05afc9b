// Package humanize writes numbers of bytes and of other things for people to read.
//
// It stands in for github.com/dustin/go-humanize, whose other functions bring regular
// expressions and numbers of any size, 0.3 MB, into every program.
package humanize

import (
	"math"
	"strconv"
)

// Bytes returns a number of bytes with two digits, in powers of 1000: 82 MB, 8.2 MB.
func Bytes(n uint64) string { return scaled(n, 1000, "kB", "MB", "GB", "TB", "PB", "EB") }

// IBytes returns a number of bytes with two digits, in powers of 1024: 82 MiB, 8.2 MiB.
func IBytes(n uint64) string { return scaled(n, 1024, "KiB", "MiB", "GiB", "TiB", "PiB", "EiB") }

func scaled(n, base uint64, units ...string) string {
	unit, whole, power := "B", n, uint64(1)
	for _, larger := range units {
		if whole < base {
			break
		}
		unit, whole, power = larger, whole/base, power*base
	}
	value := float64(n) / float64(power)
	if tenths := math.Floor(10*value + 0.5); n >= 10 && tenths < 100 {
		return strconv.FormatFloat(tenths/10, 'f', 1, 64) + " " + unit
	}
	return strconv.FormatFloat(math.Floor(value+0.5), 'f', 0, 64) + " " + unit
}

// Comma returns a number with a comma between each three digits: 1,234,567.
func Comma(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}
