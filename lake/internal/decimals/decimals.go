// Package decimals reads decimals of metadata.
package decimals

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// Parse parses a decimal exactly.
//
// # Errors
//
// The text is no number, or has more digits than the type.
func Parse(text string, t *arrow.Decimal128Type) (decimal128.Num, error) {
	unscaled, exact := Unscaled(text, t.Scale)
	if unscaled == nil || !exact || unscaled.BitLen() > 127 {
		return decimal128.Num{}, fmt.Errorf("expected a decimal of %d digits, %d of them behind the point", t.Precision, t.Scale)
	}
	value := decimal128.FromBigInt(unscaled)
	if !value.FitsInPrecision(t.Precision) {
		return decimal128.Num{}, fmt.Errorf("it has more than %d digits", t.Precision)
	}
	return value, nil
}

// Unscaled returns the value in units of its last digit, rounded down, and whether it is exact; or nil.
func Unscaled(text string, scale int32) (unscaled *big.Int, exact bool) {
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok {
		if n, err := strconv.Atoi(exponent); err != nil || n > 100 || n < -100 {
			return nil, false
		}
	}
	if len(text) > 100 {
		return nil, false
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok || strings.ContainsAny(text, "/_xXbBoOpP") {
		return nil, false
	}
	value.Mul(value, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
	quotient, rest := new(big.Int).DivMod(value.Num(), value.Denom(), new(big.Int))
	return quotient, rest.Sign() == 0
}
