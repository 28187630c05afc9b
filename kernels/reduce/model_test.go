package reduce_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
)

// cell is a value of a column: null, an integer (for decimals the digits, for bools 0
// or 1) or a float.
type cell struct {
	valid   bool
	isFloat bool
	integer *big.Int
	float   float64
}

func (c cell) String() string {
	switch {
	case !c.valid:
		return "null"
	case c.isFloat:
		return fmt.Sprint(c.float)
	}
	return c.integer.String()
}

func integer(i *big.Int) cell { return cell{valid: true, integer: i} }
func small(i int64) cell      { return integer(big.NewInt(i)) }
func float(f float64) cell    { return cell{valid: true, isFloat: true, float: f} }

func truth(b bool) cell {
	if b {
		return small(1)
	}
	return small(0)
}

// cells reads an array.
func cells(t testing.TB, a arrow.Array) []cell {
	out := make([]cell, a.Len())
	for i := range out {
		if a.IsNull(i) {
			continue
		}
		switch v := a.(type) {
		case *array.Boolean:
			out[i] = truth(v.Value(i))
		case *array.Int8:
			out[i] = small(int64(v.Value(i)))
		case *array.Int16:
			out[i] = small(int64(v.Value(i)))
		case *array.Int32:
			out[i] = small(int64(v.Value(i)))
		case *array.Int64:
			out[i] = small(v.Value(i))
		case *array.Uint8:
			out[i] = small(int64(v.Value(i)))
		case *array.Uint16:
			out[i] = small(int64(v.Value(i)))
		case *array.Uint32:
			out[i] = small(int64(v.Value(i)))
		case *array.Uint64:
			out[i] = integer(new(big.Int).SetUint64(v.Value(i)))
		case *array.Date32:
			out[i] = small(int64(v.Value(i)))
		case *array.Time64:
			out[i] = small(int64(v.Value(i)))
		case *array.Timestamp:
			out[i] = small(int64(v.Value(i)))
		case *array.Duration:
			out[i] = small(int64(v.Value(i)))
		case *array.Decimal128:
			out[i] = integer(v.Value(i).BigInt())
		case *array.Float16:
			out[i] = float(float64(v.Value(i).Float32()))
		case *array.Float32:
			out[i] = float(float64(v.Value(i)))
		case *array.Float64:
			out[i] = float(v.Value(i))
		default:
			require.Fail(t, "the model has no type", "%v", a.DataType())
		}
	}
	return out
}

// kept returns the cells that meet the condition and are not null, and their rows.
func kept(all []cell, where []bool) (values []cell, rows []int) {
	for i, c := range all {
		if c.valid && where[i] {
			values, rows = append(values, c), append(rows, i)
		}
	}
	return values, rows
}

// held returns a sum, or null if it overflows the type of sums.
func held(i *big.Int, of arrow.DataType) cell {
	least, most := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	switch {
	case arrow.IsDecimal(of.ID()):
		most.Exp(big.NewInt(10), big.NewInt(38), nil).Sub(most, big.NewInt(1))
		least.Neg(most)
	case arrow.IsUnsignedInteger(of.ID()) || of.ID() == arrow.BOOL:
		least.SetInt64(0)
		most.SetUint64(math.MaxUint64)
	}
	if i.Cmp(least) < 0 || i.Cmp(most) > 0 {
		return cell{}
	}
	return integer(i)
}

// wrapped returns an integer's low 64 bits in the type of a product.
func wrapped(i *big.Int, of arrow.DataType) cell {
	if arrow.IsUnsignedInteger(of.ID()) || of.ID() == arrow.BOOL {
		return integer(new(big.Int).And(i, new(big.Int).SetUint64(math.MaxUint64)))
	}
	low := new(big.Int).And(i, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return small(int64(low))
}

// total returns the exact sum of numbers, and the sum of their magnitudes.
func total(values []cell) (sum, magnitudes *big.Float) {
	sum, magnitudes = new(big.Float).SetPrec(400), new(big.Float).SetPrec(400)
	for _, c := range values {
		x := new(big.Float).SetPrec(400)
		if c.isFloat {
			x.SetFloat64(c.float)
		} else {
			x.SetInt(c.integer)
		}
		sum.Add(sum, x)
		magnitudes.Add(magnitudes, x.Abs(x))
	}
	return sum, magnitudes
}

// less orders cells as Min does: −0 before +0.
func less(a, b cell) bool {
	if !a.isFloat {
		return a.integer.Cmp(b.integer) < 0
	}
	if a.float == 0 && b.float == 0 {
		return math.Signbit(a.float) && !math.Signbit(b.float)
	}
	return a.float < b.float
}

// extreme returns the first value in an order. It skips NaN if there are numbers.
func extreme(values []cell, before func(a, b cell) bool) cell {
	var best cell
	for _, c := range values {
		switch {
		case !best.valid, best.isFloat && math.IsNaN(best.float):
			best = c
		case c.isFloat && math.IsNaN(c.float):
		case before(c, best):
			best = c
		}
	}
	return best
}

// rowOf returns the first row of the smallest value: zeros are equal, NaN is last.
func rowOf(values []cell, rows []int, before func(a, b cell) bool) cell {
	best := -1
	for i, c := range values {
		isNaN := c.isFloat && math.IsNaN(c.float)
		switch {
		case best < 0:
			best = i
		case isNaN:
		case values[best].isFloat && math.IsNaN(values[best].float):
			best = i
		case c.isFloat && c.float == values[best].float:
		case before(c, values[best]):
			best = i
		}
	}
	if best < 0 {
		return cell{}
	}
	return small(int64(rows[best]))
}

// squares returns the sum of the squared deviations from the mean.
func squares(values []cell) float64 {
	sum, _ := total(values)
	mean := new(big.Float).Quo(sum, big.NewFloat(float64(max(len(values), 1))))
	result := new(big.Float).SetPrec(400)
	for _, c := range values {
		x := new(big.Float).SetPrec(400)
		if c.isFloat {
			x.SetFloat64(c.float)
		} else {
			x.SetInt(c.integer)
		}
		x.Sub(x, mean)
		result.Add(result, x.Mul(x, x))
	}
	f, _ := result.Float64()
	return f
}
