package textvalue

import (
	"math/big"
	"strconv"
	"strings"
)

// Int reads a signed integer of a number of bits: digits after a sign or without one.
func Int(text string, bits int) (int64, bool) {
	value, err := strconv.ParseInt(text, 10, bits)
	return value, err == nil
}

// Uint reads an unsigned integer of a number of bits: digits without a sign.
func Uint(text string, bits int) (uint64, bool) {
	value, err := strconv.ParseUint(text, 10, bits)
	return value, err == nil
}

// Float reads a float of a number of bits, with the syntax of strconv.ParseFloat without
// underscores and hexadecimal digits. A number beyond the type has no value.
func Float(text string, bits int) (float64, bool) {
	if strings.ContainsAny(text, "_xX") {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, bits)
	return value, err == nil
}

// Bool reads true or false, also with a capital, as Python writes it.
func Bool(text string) (value, ok bool) {
	switch text {
	case "true", "True":
		return true, true
	case "false", "False":
		return false, true
	}
	return false, false
}

// mostExponent is the exponent of a decimal at most: more digits than any decimal has.
const mostExponent = 1000

// Decimal reads the unscaled value of a decimal of a precision and a scale. A number with more
// digits has no value, unless they are zeros at the end.
func Decimal(text string, precision, scale int32) (*big.Int, bool) {
	digits, exponent, ok := decimalDigits(text)
	if !ok {
		return nil, false
	}
	shift := exponent + int(scale)
	for ; shift < 0 && strings.HasSuffix(digits, "0"); shift++ {
		digits = digits[:len(digits)-1]
	}
	number := strings.TrimLeft(digits, "+-0")
	if number == "" {
		return new(big.Int), true
	}
	if shift < 0 || len(number)+shift > int(precision) {
		return nil, false
	}
	if digits[0] == '-' {
		number = "-" + number
	}
	return new(big.Int).SetString(number+strings.Repeat("0", shift), 10)
}

// decimalDigits returns a number as a sign, digits and the power of ten of the last digit.
func decimalDigits(text string) (digits string, exponent int, ok bool) {
	mantissa := text
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		power, ok := Int(text[at+1:], 32)
		if !ok || power < -mostExponent || power > mostExponent {
			return "", 0, false
		}
		mantissa, exponent = text[:at], int(power)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	unsigned := whole
	if unsigned != "" && (unsigned[0] == '+' || unsigned[0] == '-') {
		unsigned = unsigned[1:]
	}
	if unsigned+fraction == "" || !AllDigits(unsigned) || !AllDigits(fraction) {
		return "", 0, false
	}
	return whole + fraction, exponent - len(fraction), true
}

// AllDigits reports whether a text has no other characters than decimal digits.
func AllDigits(text string) bool {
	for i := range len(text) {
		if text[i]-'0' > 9 {
			return false
		}
	}
	return true
}
