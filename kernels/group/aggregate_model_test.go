package group_test

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// modelColumn is a column as the model reads it.
type modelColumn struct {
	values arrow.Array
	texts  []string
}

func (c modelColumn) has(row int) bool { return c.values.IsValid(row) }

// exact returns a number, or false for NaN and infinities.
func (c modelColumn) exact(row int) (*big.Rat, bool) {
	switch v := c.values.(type) {
	case *array.Boolean:
		if v.Value(row) {
			return big.NewRat(1, 1), true
		}
		return new(big.Rat), true
	case *array.Decimal128:
		scale := v.DataType().(*arrow.Decimal128Type).Scale
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
		return new(big.Rat).SetFrac(v.Value(row).BigInt(), unit), true
	case *array.Uint64:
		return new(big.Rat).SetInt(new(big.Int).SetUint64(v.Value(row))), true
	case *array.Float16, *array.Float32, *array.Float64:
		r := new(big.Rat).SetFloat64(columntest.Number(v, row))
		return r, r != nil
	}
	return new(big.Rat).SetInt64(columntest.Integer(c.values, row)), true
}

// numbers returns the numbers of rows, or the float that NaN and infinities make of their
// sum.
func (c modelColumn) numbers(rows []int) (numbers []*big.Rat, special float64) {
	for _, row := range rows {
		x, ok := c.exact(row)
		if !ok {
			special += columntest.Number(c.values, row)
			continue
		}
		numbers = append(numbers, x)
	}
	return numbers, special
}

func sumOf(numbers []*big.Rat) *big.Rat {
	total := new(big.Rat)
	for _, x := range numbers {
		total.Add(total, x)
	}
	return total
}

// compare orders two rows as sorts do.
func (c modelColumn) compare(a, b int) int {
	switch v := c.values.(type) {
	case *array.String:
		return cmp.Compare(v.Value(a), v.Value(b))
	case *array.Float32, *array.Float64, *array.Float16:
		x, y := columntest.Number(v, a), columntest.Number(v, b)
		switch {
		case x != x || y != y:
			return strings.Compare(fmt.Sprint(x != x), fmt.Sprint(y != y))
		}
		return cmp.Compare(x, y)
	}
	x, _ := c.exact(a)
	y, _ := c.exact(b)
	return x.Cmp(y)
}

func (c modelColumn) isFloat() bool { return arrow.IsFloating(c.values.DataType().ID()) }

// extreme returns the first row of the least or the greatest value.
func (c modelColumn) extreme(rows []int, sign int) int {
	best := rows[0]
	isNaN := func(row int) bool { return c.isFloat() && math.IsNaN(columntest.Number(c.values, row)) }
	for _, row := range rows[1:] {
		if isNaN(best) && !isNaN(row) || !isNaN(row) && sign*c.compare(row, best) < 0 {
			best = row
		}
	}
	return best
}

// modelled is an aggregate and its plain definition: the text of the result for rows that
// meet the condition and are not null. all are the rows of the group that meet the
// condition. An empty text is a null.
type modelled struct {
	name      string
	aggregate func(expr.Expr) group.Aggregate
	accepts   func(arrow.DataType) bool
	of        func(c modelColumn, rows, all []int) string
}

const isNull = columntest.Null

func floatText(x float64) string {
	if x == 0 {
		x = 0
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func any_(arrow.DataType) bool { return true }

func is(ids ...arrow.Type) func(arrow.DataType) bool {
	return func(t arrow.DataType) bool { return slices.Contains(ids, t.ID()) }
}

func number(t arrow.DataType) bool {
	return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID())
}

func integerOrBool(t arrow.DataType) bool {
	return arrow.IsInteger(t.ID()) || t.ID() == arrow.BOOL
}

func isInteger(t arrow.DataType) bool { return arrow.IsInteger(t.ID()) }

// bitsOf combines the bits of values, extended to 64 bits by their sign.
func bitsOf(combine func(a, b uint64) uint64) func(c modelColumn, rows, _ []int) string {
	return func(c modelColumn, rows, _ []int) string {
		if len(rows) == 0 {
			return isNull
		}
		bits := uint64(0)
		for _, row := range rows {
			x, _ := c.exact(row)
			if x.Sign() < 0 {
				bits = combine(bits, uint64(x.Num().Int64()))
			} else {
				bits = combine(bits, x.Num().Uint64())
			}
		}
		if arrow.IsSignedInteger(c.values.DataType().ID()) {
			return strconv.FormatInt(int64(bits), 10)
		}
		return strconv.FormatUint(bits, 10)
	}
}

func ordered(t arrow.DataType) bool { return t.ID() != arrow.DICTIONARY }

// integerText returns an integer, or null if it does not fit.
func integerText(x *big.Int, t arrow.DataType) string {
	least, most := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	if !arrow.IsSignedInteger(t.ID()) {
		least, most = new(big.Int), new(big.Int).SetUint64(math.MaxUint64)
	}
	if x.Cmp(least) < 0 || x.Cmp(most) > 0 {
		return isNull
	}
	return x.String()
}

var modelAggregates = []modelled{
	{"count all", func(expr.Expr) group.Aggregate { return group.CountAll() }, any_, func(_ modelColumn, _, all []int) string { return fmt.Sprint(len(all)) }},
	{"count", group.Count, any_, func(_ modelColumn, rows, _ []int) string { return fmt.Sprint(len(rows)) }},
	{"count null", group.CountNull, any_, func(_ modelColumn, rows, all []int) string { return fmt.Sprint(len(all) - len(rows)) }},
	{"sum", group.Sum, integerOrBool, func(c modelColumn, rows, _ []int) string {
		if len(rows) == 0 {
			return isNull
		}
		numbers, _ := c.numbers(rows)
		return integerText(sumOf(numbers).Num(), c.values.DataType())
	}},
	{"bit or", group.BitOr, isInteger, bitsOf(func(a, b uint64) uint64 { return a | b })},
	{"bit xor", group.BitXor, isInteger, bitsOf(func(a, b uint64) uint64 { return a ^ b })},
	{"product", group.Product, integerOrBool, func(c modelColumn, rows, _ []int) string {
		if len(rows) == 0 {
			return isNull
		}
		product := big.NewInt(1)
		for _, row := range rows {
			x, _ := c.exact(row)
			product.Mul(product, x.Num())
		}
		low := new(big.Int).And(product, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		if arrow.IsSignedInteger(c.values.DataType().ID()) {
			return fmt.Sprint(int64(low))
		}
		return fmt.Sprint(low)
	}},
	{"min", group.Min, ordered, func(c modelColumn, rows, _ []int) string { return c.extremeText(rows, 1) }},
	{"max", group.Max, ordered, func(c modelColumn, rows, _ []int) string { return c.extremeText(rows, -1) }},
	{"arg min", group.ArgMin, ordered, func(c modelColumn, rows, _ []int) string {
		if len(rows) == 0 {
			return isNull
		}
		return fmt.Sprint(c.extreme(rows, 1))
	}},
	{"arg max", group.ArgMax, ordered, func(c modelColumn, rows, _ []int) string {
		if len(rows) == 0 {
			return isNull
		}
		return fmt.Sprint(c.extreme(rows, -1))
	}},
	{"first", group.First, any_, func(c modelColumn, _, all []int) string { return c.text(all, 0) }},
	{"last", group.Last, any_, func(c modelColumn, _, all []int) string { return c.text(all, len(all)-1) }},
	{"first value", skipping(group.First), any_, func(c modelColumn, rows, _ []int) string { return c.text(rows, 0) }},
	{"last value", skipping(group.Last), any_, func(c modelColumn, rows, _ []int) string { return c.text(rows, len(rows)-1) }},
	{"any", group.Any, is(arrow.BOOL), func(c modelColumn, rows, _ []int) string {
		return c.truth(rows, func(ones int) bool { return ones > 0 })
	}},
	{"all", group.All, is(arrow.BOOL), func(c modelColumn, rows, _ []int) string {
		return c.truth(rows, func(ones int) bool { return ones == len(rows) })
	}},
	{"count distinct", func(e expr.Expr) group.Aggregate { return group.CountDistinct(e) }, any_, func(c modelColumn, rows, _ []int) string {
		order, _ := columntest.Distinct(c.textsOf(rows))
		return fmt.Sprint(len(order))
	}},
	{"mode", group.Mode, any_, func(c modelColumn, rows, _ []int) string {
		if len(rows) == 0 {
			return isNull
		}
		order, counts := columntest.Distinct(c.textsOf(rows))
		best := order[0]
		for _, value := range order {
			if counts[value] > counts[best] {
				best = value
			}
		}
		return best
	}},
	{"median", group.Median, number, func(c modelColumn, rows, _ []int) string { return c.quantile(rows, 0.5) }},
	{"quantile", func(e expr.Expr) group.Aggregate { return group.Quantile(e, 0.3) }, number, func(c modelColumn, rows, _ []int) string { return c.quantile(rows, 0.3) }},
	{"collect", group.Collect, any_, func(c modelColumn, _, all []int) string { return fmt.Sprint(c.textsOf(all)) }},
	{"collect values", skipping(group.Collect), any_, func(c modelColumn, rows, _ []int) string { return fmt.Sprint(c.textsOf(rows)) }},
	{"join", func(e expr.Expr) group.Aggregate { return group.Join(e, ", ") }, is(arrow.STRING), joined(", ")},
	{"join without separator", func(e expr.Expr) group.Aggregate { return group.Join(e, "") }, is(arrow.STRING), joined("")},
	{"largest", func(e expr.Expr) group.Aggregate { return group.Largest(e, 2) }, ordered, func(c modelColumn, rows, _ []int) string { return c.firstOf(rows, -1, 2) }},
	{"smallest", func(e expr.Expr) group.Aggregate { return group.Smallest(e, 3) }, ordered, func(c modelColumn, rows, _ []int) string { return c.firstOf(rows, 1, 3) }},
}

func skipping(f func(expr.Expr) group.Aggregate) func(expr.Expr) group.Aggregate {
	return func(e expr.Expr) group.Aggregate { return f(e).SkipNulls() }
}

func joined(separator string) func(c modelColumn, rows, _ []int) string {
	return func(c modelColumn, rows, _ []int) string {
		if len(rows) == 0 {
			return isNull
		}
		values := make([]string, len(rows))
		for i, row := range rows {
			values[i] = c.values.(*array.String).Value(row)
		}
		return strings.Join(values, separator)
	}
}

func (c modelColumn) textsOf(rows []int) []string {
	texts := make([]string, len(rows))
	for i, row := range rows {
		texts[i] = c.texts[row]
	}
	return texts
}

func (c modelColumn) text(rows []int, i int) string {
	if len(rows) == 0 {
		return isNull
	}
	return c.texts[rows[i]]
}

func (c modelColumn) extremeText(rows []int, sign int) string {
	if len(rows) == 0 {
		return isNull
	}
	return c.texts[c.extreme(rows, sign)]
}

func (c modelColumn) truth(rows []int, result func(ones int) bool) string {
	if len(rows) == 0 {
		return isNull
	}
	ones := 0
	for _, row := range rows {
		if c.values.(*array.Boolean).Value(row) {
			ones++
		}
	}
	return fmt.Sprint(result(ones))
}

func (c modelColumn) sorted(rows []int, sign int) []int {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b int) int { return sign * c.compare(a, b) })
	return sorted
}

func (c modelColumn) firstOf(rows []int, sign, n int) string {
	sorted := c.sorted(rows, sign)
	return fmt.Sprint(c.textsOf(sorted[:min(n, len(sorted))]))
}

func (c modelColumn) quantile(rows []int, q float64) string {
	if len(rows) == 0 {
		return isNull
	}
	sorted := c.sorted(rows, 1)
	at := func(i int) float64 {
		if u, ok := c.values.(*array.Uint64); ok {
			return float64(u.Value(sorted[i]))
		}
		return columntest.Number(c.values, sorted[i])
	}
	place := float64(len(rows)-1) * q
	below := int(place)
	x := at(below)
	if part := place - float64(below); part > 0 && at(below+1) != x {
		x = aggregate.Interpolate(x, at(below+1), part)
	}
	return floatText(x)
}

// texts returns the elements of a result as the model writes them.
func resultTexts(t *testing.T, values arrow.Array) []string {
	switch v := values.(type) {
	case *array.List:
		texts := make([]string, v.Len())
		inner := columntest.Texts(v.ListValues())
		for i := range texts {
			begin, end := v.ValueOffsets(i)
			require.True(t, v.IsValid(i))
			texts[i] = fmt.Sprint(append([]string{}, inner[begin:end]...))
		}
		return texts
	case *array.Float64:
		texts := make([]string, v.Len())
		for i := range texts {
			texts[i] = isNull
			if v.IsValid(i) {
				texts[i] = floatText(v.Value(i))
			}
		}
		return texts
	}
	return columntest.Texts(values)
}
