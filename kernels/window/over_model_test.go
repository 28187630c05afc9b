package window_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/ordertest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// overCase is a random table with windows. The columns are p, the partition, o, the order,
// v, numbers, and s, strings.
type overCase struct {
	rows       int
	p, o, v, s arrow.Array
	partitions int
	orders     bool
	direction  ordertest.Direction
}

// drawn makes an array of random choices of texts; some rows are null.
func drawn(g *arraytest.Generator, t arrow.DataType, n int, texts []string, nulls bool) arrow.Array {
	b := array.NewBuilder(arrowalloc.DefaultAllocator, t)
	defer b.Release()
	for range n {
		if nulls && g.IntN(5) == 0 {
			b.AppendNull()
		} else if err := b.AppendValueFromString(texts[g.IntN(len(texts))]); err != nil {
			panic(err)
		}
	}
	return b.NewArray()
}

// numbersOf are the texts of numbers of a type, some of which overflow sums.
func numbersOf(g *arraytest.Generator, t arrow.DataType) []string {
	if arrow.IsFloating(t.ID()) {
		texts := []string{"0", "-0", "1.5", "-2.5", "3", "0.25", "7", "-7"}
		if g.IntN(2) == 0 {
			texts = append(texts, "NaN", "inf", "-inf")
		}
		return texts
	}
	texts := []string{"0", "1", "2", "3", "5", "9", "11", "40"}
	if columntest.IsUnsigned(t) {
		if t.ID() == arrow.UINT64 {
			texts = append(texts, "18446744073709551615", "9223372036854775809")
		}
		return texts
	}
	texts = append(texts, "-1", "-3", "-20")
	if t.ID() == arrow.INT64 {
		texts = append(texts, "9223372036854775807", "-9223372036854775808")
	}
	return texts
}

var orderTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32,
	arrow.PrimitiveTypes.Uint16, arrow.BinaryTypes.String,
}

var valueTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Float32,
	arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.FixedWidthTypes.Float16,
}

func newOverCase(g *arraytest.Generator, n int, of, by arrow.DataType) *overCase {
	c := &overCase{rows: n, partitions: 1 + g.IntN(6), orders: g.IntN(5) > 0, direction: ordertest.Directions[g.IntN(4)]}
	groups := make([]string, c.partitions)
	for i := range groups {
		groups[i] = fmt.Sprint(i)
	}
	nulls := g.IntN(4) > 0
	c.p = drawn(g, arrow.PrimitiveTypes.Int32, n, groups, nulls)
	texts := []string{"a", "b", "", "abcdefghij", "abcdefghijk"}
	keys := texts
	if by.ID() != arrow.STRING {
		keys = numbersOf(g, by)
	}
	c.o = drawn(g, by, n, keys, nulls)
	c.v = drawn(g, of, n, numbersOf(g, of), nulls)
	c.s = drawn(g, arrow.BinaryTypes.String, n, texts, nulls)
	return c
}

func (c *overCase) release() {
	for _, a := range []arrow.Array{c.p, c.o, c.v, c.s} {
		a.Release()
	}
}

func (c *overCase) record() arrow.Record {
	var fields []arrow.Field
	columns := []arrow.Array{c.p, c.o, c.v, c.s}
	for i, name := range []string{"p", "o", "v", "s"} {
		fields = append(fields, arrow.Field{Name: name, Type: columns[i].DataType(), Nullable: true})
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(c.rows))
}

func (c *overCase) windows() (w window.Windows) {
	if c.partitions > 1 {
		w.PartitionBy = []order.Key{{Column: "p"}}
	}
	if c.orders {
		w.OrderBy = []order.Key{{Expr: expr.Col("o"), Descending: c.direction.Descending, NullsFirst: c.direction.NullsFirst}}
	}
	return w
}

// modelWindow is the input of a function in one row: the rows of its partition in order, and those
// of its frame.
type modelWindow struct {
	c         *overCase
	partition []int
	at        int
	frame     []int
}

func (w *modelWindow) row() int { return w.partition[w.at] }

func (c *overCase) peer(a, b int) bool {
	return !c.orders || c.direction.Compare(c.o, a, c.o, b) == 0
}

// each calls f for each row with the window of a frame, and returns the results by row.
func (c *overCase) each(frame func(w *modelWindow, other int) bool, f func(w *modelWindow) any) []any {
	results := make([]any, c.rows)
	groups := map[string][]int{}
	for row := range c.rows {
		key := ""
		if c.partitions > 1 {
			key = c.p.ValueStr(row)
		}
		groups[key] = append(groups[key], row)
	}
	for _, rows := range groups {
		if c.orders {
			sort.SliceStable(rows, func(i, j int) bool { return c.direction.Compare(c.o, rows[i], c.o, rows[j]) < 0 })
		}
		for at, row := range rows {
			w := &modelWindow{c: c, partition: rows, at: at}
			for other := range rows {
				if frame(w, other) {
					w.frame = append(w.frame, rows[other])
				}
			}
			results[row] = f(w)
		}
	}
	return results
}

// rowsModel is the frame of rows relative to the current one.
func rowsModel(low, high int64) func(w *modelWindow, other int) bool {
	return func(w *modelWindow, other int) bool {
		d := int64(other - w.at)
		return d >= low && d <= high
	}
}

// rangeModel is the frame of a range of keys.
func rangeModel(low, high float64) func(w *modelWindow, other int) bool {
	return func(w *modelWindow, other int) bool {
		c, row, element := w.c, w.row(), w.partition[other]
		if !isNumber(c.o, row) || !isNumber(c.o, element) {
			switch {
			case c.peer(row, element):
				return true
			case other < w.at:
				return math.IsInf(low, -1)
			}
			return math.IsInf(high, 1)
		}
		if arrow.IsFloating(c.o.DataType().ID()) {
			x, y := columntest.Number(c.o, element), columntest.Number(c.o, row)
			if c.direction.Descending {
				return (math.IsInf(low, -1) || x <= y-low) && (math.IsInf(high, 1) || x >= y-high)
			}
			return (math.IsInf(low, -1) || x >= y+low) && (math.IsInf(high, 1) || x <= y+high)
		}
		d := new(big.Int).Sub(bigOf(c.o, element), bigOf(c.o, row))
		if c.direction.Descending {
			d.Neg(d)
		}
		above := func(x float64) int { // the sign of d − x
			if math.IsInf(x, 0) {
				return -int(math.Copysign(1, x))
			}
			return d.Cmp(big.NewInt(int64(x)))
		}
		return above(low) >= 0 && above(high) <= 0
	}
}

func isNumber(a arrow.Array, row int) bool {
	return a.IsValid(row) && a.ValueStr(row) != "NaN"
}

func bigOf(a arrow.Array, row int) *big.Int {
	if columntest.IsUnsigned(a.DataType()) {
		return new(big.Int).SetUint64(uint64(columntest.Integer(a, row)))
	}
	return big.NewInt(columntest.Integer(a, row))
}

// valid are the rows of the frame that are not null in v.
func (w *modelWindow) valid() []int {
	return slices.DeleteFunc(slices.Clone(w.frame), func(row int) bool { return w.c.v.IsNull(row) })
}

// numbers are the values of the frame.
func (w *modelWindow) numbers() []float64 {
	var list []float64
	for _, row := range w.valid() {
		list = append(list, columntest.Number(w.c.v, row))
	}
	return list
}

// pickModel is the text of a row, or nil.
func pickModel(a arrow.Array, list []int, at int) any {
	if at < 0 || at >= len(list) || a.IsNull(list[at]) {
		return nil
	}
	return a.ValueStr(list[at])
}

func sumModel(w *modelWindow) any {
	rows := w.valid()
	if len(rows) == 0 {
		return nil
	}
	if arrow.IsFloating(w.c.v.DataType().ID()) {
		sum := 0.0
		for _, x := range w.numbers() {
			sum += x
		}
		return sum
	}
	sum := new(big.Int)
	for _, row := range rows {
		sum.Add(sum, bigOf(w.c.v, row))
	}
	if columntest.IsUnsigned(w.c.v.DataType()) && !sum.IsUint64() || !columntest.IsUnsigned(w.c.v.DataType()) && !sum.IsInt64() {
		return nil
	}
	return sum.String()
}

func meanModel(w *modelWindow) any {
	list := w.numbers()
	if len(list) == 0 {
		return nil
	}
	sum := new(big.Float).SetPrec(200)
	for i, row := range w.valid() {
		switch x := list[i]; {
		case !arrow.IsFloating(w.c.v.DataType().ID()):
			sum.Add(sum, new(big.Float).SetInt(bigOf(w.c.v, row)))
		case x != x || math.IsInf(x, 0):
			total := 0.0
			for _, x := range list {
				total += x
			}
			return total
		default:
			sum.Add(sum, big.NewFloat(x))
		}
	}
	mean, _ := sum.Quo(sum, big.NewFloat(float64(len(list)))).Float64()
	return mean
}

func varianceModel(freedom int) func(w *modelWindow) any {
	return func(w *modelWindow) any {
		list := w.numbers()
		if len(list) <= freedom {
			return nil
		}
		mean, ok := meanModel(w).(float64)
		if !ok || mean != mean || math.IsInf(mean, 0) || len(list) == 1 {
			return 0 * mean * list[0]
		}
		sum := 0.0
		for _, x := range list {
			sum += (x - mean) * (x - mean)
		}
		return sum / float64(len(list)-freedom)
	}
}

// extremeModel is the least or greatest value; NaN only if there is no number.
func extremeModel(greatest bool) func(w *modelWindow) any {
	return func(w *modelWindow) any {
		best := -1
		for _, row := range w.valid() {
			if best < 0 {
				best = row
				continue
			}
			better := (ordertest.Direction{Descending: greatest}).Compare(w.c.v, row, w.c.v, best)
			if better == 0 && math.Signbit(columntest.Number(w.c.v, row)) != greatest {
				better = -1 // −0 comes before 0
			}
			if !isNumber(w.c.v, best) || isNumber(w.c.v, row) && better < 0 {
				best = row
			}
		}
		if best < 0 {
			return nil
		}
		return w.c.v.ValueStr(best)
	}
}

// texts are the values of the frame in s that are not null.
func (w *modelWindow) texts() (list []string) {
	for _, row := range w.frame {
		if w.c.s.IsValid(row) {
			list = append(list, w.c.s.ValueStr(row))
		}
	}
	return list
}

// textModel is the least or the greatest string, by sign.
func textModel(sign int) func(w *modelWindow) any {
	return func(w *modelWindow) any {
		list := w.texts()
		if len(list) == 0 {
			return nil
		}
		return slices.MaxFunc(list, func(a, b string) int { return sign * strings.Compare(a, b) })
	}
}

func quantileModel(q float64) func(w *modelWindow) any {
	return func(w *modelWindow) any {
		list := w.numbers()
		if len(list) == 0 {
			return nil
		}
		sort.Slice(list, func(i, j int) bool { return list[i] < list[j] || list[j] != list[j] && list[i] == list[i] })
		at := q * float64(len(list)-1)
		below := int(at)
		if at == float64(below) || list[below] == list[below+1] {
			return list[below]
		}
		return list[below] + (list[below+1]-list[below])*(at-float64(below))
	}
}

// distinctModel is the number of distinct strings.
func distinctModel(w *modelWindow) any {
	texts := map[string]bool{}
	for _, text := range w.texts() {
		texts[text] = true
	}
	return fmt.Sprint(len(texts))
}

// distinctPairsModel is the number of distinct pairs of v and s, of at least two.
func distinctPairsModel(w *modelWindow) any {
	pairs, n := map[string]bool{}, 0
	for _, row := range w.valid() {
		if w.c.s.IsNull(row) {
			continue
		}
		n++
		text := w.c.v.ValueStr(row)
		if text == "-0" {
			text = "0"
		}
		pairs[text+"|"+w.c.s.ValueStr(row)] = true
	}
	if n < 2 {
		return nil
	}
	return fmt.Sprint(len(pairs))
}

// modeModel is the most frequent string, of several the first one.
func modeModel(w *modelWindow) any {
	list := w.texts()
	if len(list) == 0 {
		return nil
	}
	counts := map[string]int{}
	for _, text := range list {
		counts[text]++
	}
	best := list[0]
	for _, text := range list {
		if counts[text] > counts[best] {
			best = text
		}
	}
	return best
}

// bitsModel folds the bits of integers.
func bitsModel(fold func(x, y int64) int64) func(w *modelWindow) any {
	return func(w *modelWindow) any {
		rows := w.valid()
		if len(rows) == 0 {
			return nil
		}
		bits := int64(0)
		for _, row := range rows {
			bits = fold(bits, columntest.Integer(w.c.v, row))
		}
		if columntest.IsUnsigned(w.c.v.DataType()) {
			return fmt.Sprint(uint64(bits))
		}
		return fmt.Sprint(bits)
	}
}
