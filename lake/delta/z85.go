package delta

import (
	"encoding/binary"
	"fmt"
	"math"
)

// z85Digits are the digits of Z85 in the order of their values.
const z85Digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

var z85Values = func() (values [256]int8) {
	for i := range values {
		values[i] = -1
	}
	for i := range len(z85Digits) {
		values[z85Digits[i]] = int8(i)
	}
	return values
}()

// decodeZ85 decodes groups of five digits, four bytes each.
func decodeZ85(text string) ([]byte, error) {
	if len(text)%5 != 0 {
		return nil, fmt.Errorf("its text has %d characters, expected a multiple of 5: %w", len(text), ErrVector)
	}
	data := make([]byte, 0, len(text)/5*4)
	for ; len(text) > 0; text = text[5:] {
		value := uint64(0)
		for i := range 5 {
			digit := z85Values[text[i]]
			if digit < 0 {
				return nil, fmt.Errorf("its text has the character %q, which Z85 does not have: %w", text[i], ErrVector)
			}
			value = value*85 + uint64(digit)
		}
		if value > math.MaxUint32 {
			return nil, fmt.Errorf("its text has the group %q, which is above 32 bits: %w", text[:5], ErrVector)
		}
		data = binary.BigEndian.AppendUint32(data, uint32(value))
	}
	return data, nil
}
