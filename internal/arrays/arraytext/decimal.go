package arraytext

import (
	"math/big"
	"strings"
)

// Decimal returns an unscaled value with scale digits after the point.
func Decimal(v *big.Int, scale int32) string {
	digits := new(big.Int).Abs(v).String()
	if scale < 0 && v.Sign() != 0 {
		digits += strings.Repeat("0", int(-scale))
	}
	if scale > 0 {
		if missing := int(scale) + 1 - len(digits); missing > 0 {
			digits = strings.Repeat("0", missing) + digits
		}
		point := len(digits) - int(scale)
		digits = digits[:point] + "." + digits[point:]
	}
	if v.Sign() < 0 {
		return "-" + digits
	}
	return digits
}
