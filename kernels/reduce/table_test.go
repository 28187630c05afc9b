package reduce_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

var (
	integers = []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	}
	floats   = []arrow.DataType{arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}
	temporal = []arrow.DataType{arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time64ns,
		&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Berlin"}, arrow.FixedWidthTypes.Duration_ms}
	decimals = []arrow.DataType{&arrow.Decimal128Type{Precision: 12, Scale: 3}, &arrow.Decimal128Type{Precision: 38, Scale: 0}}
	others   = []arrow.DataType{arrow.FixedWidthTypes.Boolean}
)

// check is an aggregate of the column x and the model's result.
type check struct {
	aggregate reduce.Aggregate
	want      cell
	// off is the allowed error of a float.
	off float64
}

// checks returns the aggregates for a type, restricted to the rows that meet a
// condition.
func checks(t arrow.DataType, x expr.Expr, all []cell, where []bool) []check {
	values, rows := kept(all, where)
	count := int64(len(values))
	rowCount, nulls := int64(0), int64(0)
	for i, c := range all {
		if where[i] {
			rowCount++
			if !c.valid {
				nulls++
			}
		}
	}
	list := []check{{reduce.Count(x), small(count), 0}, {reduce.CountAll(), small(rowCount), 0}, {reduce.CountNull(x), small(nulls), 0},
		{reduce.Min(x), extreme(values, less), 0}, {reduce.Max(x), extreme(values, func(a, b cell) bool { return less(b, a) }), 0},
		{reduce.ArgMin(x), rowOf(values, rows, less), 0}, {reduce.ArgMax(x), rowOf(values, rows, func(a, b cell) bool { return less(b, a) }), 0}}
	id := t.ID()
	isFloat, isInteger, isDecimal := arrow.IsFloating(id), arrow.IsInteger(id), arrow.IsDecimal(id)
	special := cell{}
	for _, c := range values {
		if c.isFloat && (math.IsNaN(c.float) || math.IsInf(c.float, 0)) {
			special = cell{valid: true, isFloat: true, float: special.float + c.float}
		}
	}
	if special.valid {
		variance := float(math.NaN())
		estimate := variance
		if count <= 1 {
			estimate = cell{}
		}
		return append(list, check{reduce.Sum(x), special, 0}, check{reduce.Mean(x), special, 0},
			check{reduce.Variance(x, 0), variance, 0}, check{reduce.StdDev(x, 1), estimate, 0})
	}
	sum, magnitudes := total(values)
	exact, _ := sum.Int(nil)
	near, _ := magnitudes.Float64()
	near *= 100 * 0x1p-53
	mean, _ := new(big.Float).Quo(sum, big.NewFloat(float64(max(count, 1)))).Float64()
	add := func(a reduce.Aggregate, want cell, off float64) {
		if count == 0 {
			want = cell{}
		}
		list = append(list, check{a, want, off})
	}
	switch {
	case isFloat:
		f, _ := sum.Float64()
		add(reduce.Sum(x), float(f), near)
		add(reduce.Mean(x), float(mean), near/float64(max(count, 1)))
	case isInteger, id == arrow.BOOL:
		add(reduce.Sum(x), held(exact, t), 0)
		add(reduce.Mean(x), float(mean), math.Abs(mean)*0x1p-51)
		product := big.NewInt(1)
		for _, c := range values {
			product.Mul(product, c.integer)
			product.And(product, new(big.Int).SetUint64(math.MaxUint64))
		}
		add(reduce.Product(x), wrapped(product, t), 0)
	case isDecimal:
		add(reduce.Sum(x), held(exact, t), 0)
		add(reduce.Mean(x), decimalMean(exact, max(count, 1), t), 0)
	case id == arrow.DURATION:
		add(reduce.Sum(x), held(exact, t), 0)
	}
	if isFloat || isInteger {
		variance := squares(values) / float64(max(count, 1))
		add(reduce.Variance(x, 0), float(variance), variance*1e-9+mean*mean*1e-28)
		deviation := math.Sqrt(squares(values) / float64(max(count-1, 1)))
		estimate := check{reduce.StdDev(x, 1), float(deviation), deviation*1e-9 + math.Abs(mean)*1e-14}
		if count <= 1 {
			estimate.want = cell{}
		}
		list = append(list, estimate)
	}
	if id == arrow.BOOL {
		add(reduce.Any(x), truth(exact.Sign() > 0), 0)
		add(reduce.All(x), truth(exact.Int64() == count), 0)
	}
	return list
}

// decimalMean returns the mean of decimals of a type, or null if it has more than 38 digits.
func decimalMean(sum *big.Int, count int64, of arrow.DataType) cell {
	from := of.(*arrow.Decimal128Type)
	digits := aggregate.MeanOfDecimals(from).Scale - from.Scale
	scaled := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	return held(halfAway(scaled.Mul(scaled, sum), count), of)
}

// halfAway divides and rounds half away from zero.
func halfAway(x *big.Int, by int64) *big.Int {
	twice := new(big.Int).Abs(x)
	twice.Mul(twice, big.NewInt(2)).Add(twice, big.NewInt(by))
	q := twice.Quo(twice, big.NewInt(2*by))
	if x.Sign() < 0 {
		q.Neg(q)
	}
	return q
}

func TestAggregatesMatchTheModel(t *testing.T) {
	types := append(append(append(append(append([]arrow.DataType{}, integers...), floats...), temporal...), decimals...), others...)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, kind := range types {
			t.Run(kind.String(), func(t *testing.T) {
				for _, n := range []int{0, 1, 33, 257, 1500, 9000} {
					if n == 9000 && kind.ID() != arrow.INT32 && kind.ID() != arrow.FLOAT64 && kind.ID() != arrow.DECIMAL128 {
						continue // the merge of parts is the same for all columns
					}
					for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
						testAggregates(t, mgr, kind, n, nulls)
					}
				}
			})
		}
	})
}

// testAggregates computes all aggregates of a column together: for all rows, for those
// that a bool column selects, and for those that a comparison selects.
func testAggregates(t *testing.T, mgr *memory.Manager, kind arrow.DataType, n int, nulls arraytest.Nulls) {
	g := arraytest.NewGenerator(uint64(n)*3 + uint64(nulls))
	g.Sliced = n%2 == 1
	g.Nulls = nulls
	x := values(g, kind, n)
	defer x.Release()
	g.Nulls = arraytest.SomeNull
	mask, number := g.Array(arrow.FixedWidthTypes.Boolean, n), g.Array(arrow.PrimitiveTypes.Int32, n)
	defer mask.Release()
	defer number.Release()
	table := load(t, mgr, n, x, mask, number)
	defer func() { require.NoError(t, table.Release()) }()

	every, masked, compared := make([]bool, n), make([]bool, n), make([]bool, n)
	maskCells, numbers := cells(t, mask), cells(t, number)
	for i := range n {
		every[i] = true
		masked[i] = maskCells[i].valid && maskCells[i].integer.Sign() > 0
		compared[i] = numbers[i].valid && numbers[i].integer.Sign() > 0
	}
	column, all := expr.Col("0"), cells(t, x)
	list := checks(kind, column, all, every)
	for _, c := range checks(kind, column, all, masked) {
		c.aggregate = c.aggregate.Where(expr.Col("1"))
		list = append(list, c)
	}
	for _, c := range checks(kind, column, all, compared) {
		c.aggregate = c.aggregate.Where(expr.Col("2").Gt(expr.Lit(0)))
		list = append(list, c)
	}
	aggregates := make([]reduce.Aggregate, len(list))
	for i, c := range list {
		aggregates[i] = c.aggregate
	}
	result, err := reduce.Table(t.Context(), table, aggregates)
	require.NoError(t, err)
	defer func() { require.NoError(t, result.Release()) }()
	record, err := result.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	require.EqualValues(t, 1, record.NumRows())
	for i, c := range list {
		requireCell(t, c, cells(t, record.Column(i))[0], fmt.Sprintf("%v of %d rows of %v, nulls %d", c.aggregate, n, kind, nulls))
	}
}

func requireCell(t *testing.T, c check, got cell, what string) {
	t.Helper()
	if !c.want.valid || !c.want.isFloat || !got.valid || math.IsNaN(c.want.float) || math.IsInf(c.want.float, 0) {
		require.Equal(t, c.want.String(), got.String(), what)
		return
	}
	if c.off == 0 {
		require.Equal(t, math.Float64bits(c.want.float), math.Float64bits(got.float), "%s: want %v, got %v", what, c.want, got)
		return
	}
	assert.InDelta(t, c.want.float, got.float, c.off, what)
}
