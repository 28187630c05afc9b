package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maximumWidth is the maximum width of a fixed-size value or list.
const maximumWidth = math.MaxInt32

// CheckText returns an error unless the text is a valid C string of UTF-8 with at most
// most bytes.
func CheckText(text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("%d bytes are more than %d: %w", len(text), most, ErrInvalid)
	case !utf8.ValidString(text):
		return fmt.Errorf("%.64q is not UTF-8: %w", text, ErrInvalid)
	case strings.IndexByte(text, 0) >= 0:
		return fmt.Errorf("%.64q contains a zero byte, which would end it in C: %w", text, ErrInvalid)
	}
	return nil
}

// number reads a decimal number in canonical form: digits without leading zeros, and a
// minus sign if negative numbers are valid.
func number(text string, least, most int64) (int64, error) {
	digits := text
	if least < 0 {
		digits = strings.TrimPrefix(text, "-")
	}
	plainDigits := digits != "" && strings.Trim(digits, "0123456789") == ""
	if !plainDigits || digits[0] == '0' && text != "0" {
		return 0, fmt.Errorf("%.32q is not a plain number: %w", text, ErrInvalid)
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < least || value > most {
		return 0, fmt.Errorf("%.32q is not from %d to %d: %w", text, least, most, ErrInvalid)
	}
	return value, nil
}

// decimalDigits returns the maximum number of digits of a decimal of the given width in
// bits. It also bounds the scale, because arrow-go computes no larger ones.
func decimalDigits(width int) int32 {
	if width == 256 {
		return 76
	}
	return 38
}
