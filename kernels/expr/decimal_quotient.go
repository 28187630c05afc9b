package expr

import (
	"context"
	"fmt"
	"math/big"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op/hostrows"
	"github.com/gpuframe/gpuframe/kernels"
)

// divideDecimals is a division, rounded half away from zero. It is null if the divisor is 0 or the result has too many
// digits. The host computes it.
type divideDecimals struct{ Dividend, Divisor arrow.Decimal128Type }

// Name implements Operator.
func (divideDecimals) Name() string { return "divide" }

// Result implements Operator.
func (d divideDecimals) Result(operands []arrow.DataType) (arrow.DataType, error) {
	for _, t := range operands {
		if t.ID() != arrow.DECIMAL128 {
			return nil, refuseOperand(d.Name(), t)
		}
	}
	return quotientType(&d.Dividend, &d.Divisor), nil
}

// Run implements Operator.
func (d divideDecimals) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	to := quotientType(&d.Dividend, &d.Divisor)
	shift := to.Scale - d.Dividend.Scale + d.Divisor.Scale
	if shift < 0 {
		return nil, fmt.Errorf("divide %v by %v to %v: %w", &d.Dividend, &d.Divisor, to, ErrType)
	}
	return hostrows.Run(ctx, operands, to, options, func(_ context.Context, operands []arrow.Array) (hostrows.Append, error) {
		x, y := operands[0].(*array.Decimal128), operands[1].(*array.Decimal128)
		q := quotients{factor: powerOfTen(shift), limit: powerOfTen(to.Precision)}
		return func(row int, b array.Builder) {
			if v, ok := q.divide(x.Value(row), y.Value(row)); ok {
				b.(*array.Decimal128Builder).Append(v)
				return
			}
			b.AppendNull()
		}, nil
	})
}

// quotients divides with the numbers that one goroutine uses again.
type quotients struct {
	factor, limit         *big.Int
	dividend, rest, twice big.Int
}

// divide returns x · factor / y, rounded half away from zero, if it is below the limit.
func (q *quotients) divide(x, y decimal128.Num) (decimal128.Num, bool) {
	divisor := y.BigInt()
	if divisor.Sign() == 0 {
		return decimal128.Num{}, false
	}
	q.dividend.Mul(x.BigInt(), q.factor)
	isNegative := q.dividend.Sign()*divisor.Sign() < 0
	quotient, rest := q.dividend.QuoRem(&q.dividend, divisor, &q.rest)
	if q.twice.Lsh(rest, 1).CmpAbs(divisor) >= 0 {
		away := int64(1)
		if isNegative {
			away = -1
		}
		quotient.Add(quotient, big.NewInt(away))
	}
	if quotient.CmpAbs(q.limit) >= 0 {
		return decimal128.Num{}, false
	}
	return decimal128.FromBigInt(quotient), true
}
