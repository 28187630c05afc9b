package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maximumWidth is the widest that a fixed-size value or list can be.
const maximumWidth = math.MaxInt32

// CheckText returns an error unless C can hold the text as a string of UTF-8 of
// at most so many bytes.
func CheckText(text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("%d bytes are more than %d: %w", len(text), most, ErrInvalid)
	case !utf8.ValidString(text):
		return fmt.Errorf("%.64q is not UTF-8: %w", text, ErrInvalid)
	case strings.IndexByte(text, 0) >= 0:
		return fmt.Errorf("%.64q holds a zero byte, where C would end it: %w", text, ErrInvalid)
	}
	return nil
}

// number reads a decimal number that is written as a computer writes it: digits
// without zeros before them, and a minus sign where numbers may be negative.
func number(text string, least, most int64) (int64, error) {
	digits := text
	if least < 0 {
		digits = strings.TrimPrefix(text, "-")
	}
	plainDigits := digits != "" && strings.Trim(digits, "0123456789") == ""
	if !plainDigits || digits[0] == '0' && text != "0" {
		return 0, fmt.Errorf("%.32q is no plain number: %w", text, ErrInvalid)
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < least || value > most {
		return 0, fmt.Errorf("%.32q is not from %d to %d: %w", text, least, most, ErrInvalid)
	}
	return value, nil
}

// decimalDigits is how many digits a decimal of so many bits can have. Further
// than that from the point no arithmetic of arrow-go goes, so it bounds the scale
// too.
func decimalDigits(width int) int32 {
	if width == 256 {
		return 76
	}
	return 38
}
