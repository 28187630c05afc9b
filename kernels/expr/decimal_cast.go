package expr

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op/hostrows"
	"github.com/gpuframe/gpuframe/kernels"
)

// castDecimal is a cast between decimals and text, or decimals of 128 and 256 bits. The host computes it.
type castDecimal struct{ to arrow.DataType }

// castsDecimals reports whether castDecimal has a cast.
func castsDecimals(from, to arrow.DataType) bool {
	isDecimal := arrow.IsDecimal(to.ID())
	switch {
	case arrow.TypeEqual(from, to), isDecimal && !holdsDigits(to.(arrow.DecimalType)):
		return false
	case exprtree.KindOf(from) == exprtree.String:
		return isDecimal
	case arrow.IsDecimal(from.ID()):
		return !isDecimal || from.ID() == arrow.DECIMAL256 || to.ID() == arrow.DECIMAL256
	}
	return to.ID() == arrow.DECIMAL256 && isCount(from)
}

// holdsDigits reports whether a type has a precision that its bits hold, and no scale beyond it.
func holdsDigits(t arrow.DecimalType) bool {
	most := int32(maximumPrecision)
	if t.ID() == arrow.DECIMAL256 {
		most = 76
	}
	return t.GetPrecision() >= 1 && t.GetPrecision() <= most && t.GetScale() >= 0 && t.GetScale() <= most
}

// Name implements Operator.
func (c castDecimal) Name() string { return fmt.Sprintf("cast to %v", c.to) }

// Result implements Operator.
func (c castDecimal) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if !castsDecimals(operands[0], c.to) {
		return nil, refuseOperand(c.Name(), operands[0])
	}
	return c.to, nil
}

// Run implements Operator.
func (c castDecimal) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return hostrows.Run(ctx, operands, c.to, options, func(_ context.Context, operands []arrow.Array) (hostrows.Append, error) {
		read, add := readDecimals(operands[0]), addDecimals(c.to)
		return func(row int, b array.Builder) {
			if v, scale, ok := read(row); !ok || !add(b, v, scale) {
				b.AppendNull()
			}
		}, nil
	})
}

// readDecimals returns a function that reads a row as v / 10^scale. The next call overwrites the number.
func readDecimals(a arrow.Array) func(row int) (v *big.Int, scale int32, ok bool) {
	var v big.Int
	switch a := a.(type) {
	case *array.Decimal128:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(row int) (*big.Int, int32, bool) { return a.Value(row).BigInt(), scale, true }
	case *array.Decimal256:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(row int) (*big.Int, int32, bool) { return a.Value(row).BigInt(), scale, true }
	case interface{ Value(row int) string }:
		return func(row int) (*big.Int, int32, bool) { return parseDecimal(&v, a.Value(row)) }
	case interface{ Value(row int) []byte }:
		return func(row int) (*big.Int, int32, bool) { return parseDecimal(&v, string(a.Value(row))) }
	}
	return func(row int) (*big.Int, int32, bool) { // integers
		_, ok := v.SetString(a.ValueStr(row), 10)
		return &v, 0, ok
	}
}

// parseDecimal reads a sign or none, digits with a point or without one, and an exponent or none. It is false for a number
// that no decimal holds; a number that all decimals round to 0 is 0.
func parseDecimal(v *big.Int, text string) (digits *big.Int, scale int32, ok bool) {
	const mostExponent, mostDigits, beyond = 1 << 29, 1000, 100 // no decimal has 100 digits before or behind its point
	mantissa, exponent := text, 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		var err error
		if exponent, err = strconv.Atoi(text[at+1:]); err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, 0, false
		}
		mantissa, exponent = text[:at], max(-mostExponent, min(exponent, mostExponent))
	}
	sign := ""
	if mantissa != "" && (mantissa[0] == '-' || mantissa[0] == '+') {
		sign, mantissa = strings.TrimPrefix(mantissa[:1], "+"), mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return nil, 0, false
	}
	fraction = strings.TrimRight(fraction, "0")
	number, places := strings.TrimLeft(whole+fraction, "0"), len(fraction)-exponent
	switch {
	case number == "", places > len(number)+beyond:
		return v.SetInt64(0), 0, true
	case len(number) > mostDigits, places < -beyond:
		return nil, 0, false
	}
	_, ok = v.SetString(sign+number, 10)
	return v, int32(places), ok
}

// addDecimals returns a function that appends v / 10^scale, rounded half away from zero. It is false for too many digits.
func addDecimals(to arrow.DataType) func(b array.Builder, v *big.Int, scale int32) bool {
	t, ok := to.(arrow.DecimalType)
	if !ok {
		return func(b array.Builder, v *big.Int, scale int32) bool {
			b.(interface{ Append(v string) }).Append(decimalText(v, int(scale)))
			return true
		}
	}
	limit := powerOfTen(t.GetPrecision())
	return func(b array.Builder, v *big.Int, scale int32) bool {
		v = withScale(v, scale, t.GetScale())
		if v.CmpAbs(limit) >= 0 {
			return false
		}
		switch b := b.(type) {
		case *array.Decimal128Builder:
			b.Append(decimal128.FromBigInt(v))
		case *array.Decimal256Builder:
			b.Append(decimal256.FromBigInt(v))
		}
		return true
	}
}

// commonTens are the powers of ten of the digits of decimals.
var commonTens = sync.OnceValue(func() (list [77]*big.Int) {
	for i := range list {
		list[i] = powerOfTen(int32(i))
	}
	return list
})

// tenTo returns a power of ten, which must not be changed.
func tenTo(n int32) *big.Int {
	if tens := commonTens(); int(n) < len(tens) {
		return tens[n]
	}
	return powerOfTen(n)
}

// withScale returns v · 10^(to − from), rounded half away from zero.
func withScale(v *big.Int, from, to int32) *big.Int {
	if to >= from {
		return new(big.Int).Mul(v, tenTo(to-from))
	}
	unit := tenTo(from - to)
	half := new(big.Int).Rsh(unit, 1)
	if v.Sign() < 0 {
		half.Neg(half)
	}
	return half.Quo(half.Add(v, half), unit)
}

// decimalText returns the digits of v / 10^scale, all of those behind the point.
func decimalText(v *big.Int, scale int) string {
	if scale < 0 {
		v, scale = new(big.Int).Mul(v, tenTo(int32(-scale))), 0
	}
	text := new(big.Int).Abs(v).String()
	if missing := scale + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	if scale > 0 {
		text = text[:len(text)-scale] + "." + text[len(text)-scale:]
	}
	if v.Sign() < 0 {
		text = "-" + text
	}
	return text
}
