// Package humanize writes numbers and sizes for people. It writes what
// github.com/dustin/go-humanize does, without the regular expressions, big integers and
// Unicode tables that package adds to each program: 0.4 MB.
package humanize

import "strconv"

// Bytes returns a size in decimal units, such as 83 MB.
func Bytes(n uint64) string {
	return size(n, 1000, [...]string{"B", "kB", "MB", "GB", "TB", "PB", "EB"})
}

// IBytes returns a size in binary units, such as 79 MiB.
func IBytes(n uint64) string {
	return size(n, 1024, [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"})
}

// size returns n in the largest unit of which n has at least one, with a decimal if there
// are fewer than ten.
func size(n, base uint64, names [7]string) string {
	unit, i := uint64(1), 0
	for n/unit >= base {
		unit *= base
		i++
	}
	whole, rest := n/unit, n%unit
	if tenths := whole*10 + (rest*10+unit/2)/unit; i > 0 && tenths < 100 {
		return strconv.FormatUint(tenths/10, 10) + "." + strconv.FormatUint(tenths%10, 10) + " " + names[i]
	}
	if rest*2 >= unit {
		whole++
	}
	return strconv.FormatUint(whole, 10) + " " + names[i]
}

// Comma returns a number with commas between thousands, such as 834,142.
func Comma(n int64) string {
	digits := strconv.AppendInt(nil, n, 10)
	var text []byte
	for i, c := range digits {
		if left := len(digits) - i; left%3 == 0 && i > 0 && digits[i-1] != '-' {
			text = append(text, ',')
		}
		text = append(text, c)
	}
	return string(text)
}
