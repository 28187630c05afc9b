package gpuframe

import (
	"math"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/plan"
)

// Window divides the rows of a query into partitions, for [Expr.Over]. It may order the
// rows of each, and restrict functions to a frame of them. It is immutable.
type Window struct {
	partition []Expr
	order     []order
	frame     plan.Frame
}

// By makes partitions of the rows with equal keys. Without keys all rows are one partition.
func By(keys ...Expression) Window {
	var w Window
	for _, k := range keys {
		w.partition = append(w.partition, k.expression())
	}
	return w
}

// OrderBy orders the rows of each partition. Rows with equal keys keep their order.
func (w Window) OrderBy(keys ...Ordering) Window {
	w.order = nil
	for _, k := range keys {
		if k != nil {
			w.order = append(w.order, k.ordering())
		}
	}
	return w
}

// Bounds of [Window.Rows] without a limit.
const (
	// FirstRow is the first row of the partition.
	FirstRow = math.MinInt64
	// LastRow is the last row of the partition.
	LastRow = math.MaxInt64
)

// Rows restricts aggregates to rows relative to the current one: Rows(-6, 0) are the row
// and the six before it. Without Rows and Range they are of the whole partition, also with
// an order.
func (w Window) Rows(low, high int64) Window {
	w.frame = plan.Frame{Kind: plan.RowsFrame, Low: low, High: high, AtLeast: w.frame.AtLeast}
	return w
}

// Range restricts aggregates to the rows with a key from low below to high above that of
// the current row: By(city).OrderBy(ts).Range(-24*time.Hour, 0) are those of a day. A
// descending key reverses the sign of the difference. The order has one key, of numbers or times. Bounds are Go numbers, time.Duration, or nil for no
// limit. A row with a null or NaN key has the rows with the same key.
func (w Window) Range(low, high any) Window {
	w.frame = plan.Frame{Kind: plan.RangeFrame, LowOffset: low, HighOffset: high, AtLeast: w.frame.AtLeast}
	return w
}

// AtLeast makes aggregates of frames with fewer values than n null.
func (w Window) AtLeast(n int64) Window {
	w.frame.AtLeast = n
	return w
}

// String formats the keys.
func (w *Window) String() string {
	texts := make([]string, len(w.partition))
	for i, k := range w.partition {
		texts[i] = k.String()
	}
	text := strings.Join(texts, ", ")
	for i, o := range w.order {
		if i == 0 {
			text += " order by "
		} else {
			text += ", "
		}
		text += plan.SortKey{Value: o.key.value, Descending: o.descending, NullsFirst: o.nullsFirst}.String()
	}
	return "(" + strings.TrimSpace(text) + ")"
}

func (w *Window) same(v *Window) bool { return w == v || w != nil && v != nil && w.sameRows(v, true) }

// sameRows reports whether two windows have the same partitions and, if ordered is set, the
// same order.
func (w *Window) sameRows(v *Window, ordered bool) bool {
	if len(w.partition) != len(v.partition) || ordered && len(w.order) != len(v.order) {
		return false
	}
	for i, k := range w.partition {
		if !k.value.Same(v.partition[i].value) {
			return false
		}
	}
	for i := 0; ordered && i < len(w.order); i++ {
		a, b := w.order[i], v.order[i]
		if a.descending != b.descending || a.nullsFirst != b.nullsFirst || !a.key.value.Same(b.key.value) {
			return false
		}
	}
	return true
}

// Over gives each row the value of a function of its window. Aggregates are of the rows of
// the row's partition or frame: revenue.Div(revenue.Sum().Over(By(day))) is the share of a
// row in the revenue of its day. Functions of places, such as RowNumber, and Lag and Lead
// follow the order; First and Last too.
//
// All rows are in memory together. If the budget does not suffice, the rows are divided by a
// hash of the keys of the partitions, computed part by part, and sorted by their numbers. Without
// keys, and for running sums, means, variances and exponential means of floats, whose last bits
// depend on the rows of other partitions, the query ends with the error of package memory instead.
func (e Expr) Over(w Window) Expr {
	within := inheritance(&w)
	return e.eachPart(func(of *part) part {
		p := within(of)
		switch {
		case plan.IsOfRow(p.aggregation.Function) && p.aggregation.Function != "nth":
			// It has no frame.
		case p.frame.Kind == plan.WholePartition:
			p.frame = w.frame
		default:
			p.frame.AtLeast = w.frame.AtLeast
		}
		return p
	})
}

// RowNumber is the number of the row in its partition, from 1, in the order of Over.
func RowNumber() Expr { return aggregated("row_number", 0, "row_number") }

// Rank is the number of the first row with the same order keys in the partition, from 1.
func Rank() Expr { return aggregated("rank", 0, "rank") }

// DenseRank is the number of distinct order keys up to those of the row.
func DenseRank() Expr { return aggregated("dense_rank", 0, "dense_rank") }

// PercentRank is (rank − 1) / (rows − 1) of the partition, 0 in a partition of one row.
func PercentRank() Expr { return aggregated("percent_rank", 0, "percent_rank") }

// CumulativeDistribution is the fraction of the partition's rows up to the last one with
// the same order keys.
func CumulativeDistribution() Expr {
	return aggregated("cumulative_distribution", 0, "cumulative_distribution")
}

// Tile is the number, from 1, of the row's part of n parts of the partition of about the
// same size.
func Tile(n int) Expr { return counted("tile", n, "tile") }

// Lag is the value n rows before in the partition, null for its first n rows.
func (e Expr) Lag(n int) Expr { return counted("lag", n, e.Name(), e) }

// Lead is the value n rows after in the partition, null for its last n rows.
func (e Expr) Lead(n int) Expr { return counted("lead", n, e.Name(), e) }

// Nth is the value of row n of the frame, from 1, null if the frame has fewer rows.
func (e Expr) Nth(n int) Expr { return counted("nth", n, e.Name(), e) }

// Difference is the value minus that n rows before in the partition.
func (e Expr) Difference(n int) Expr { return e.Sub(e.Lag(n)) }

// PercentChange is the difference to the value n rows before, divided by that value, as
// float64.
func (e Expr) PercentChange(n int) Expr {
	float := e.Cast(arrow.PrimitiveTypes.Float64)
	return float.Difference(n).Div(float.Lag(n))
}

// ExponentialMean is the mean of the partition's values up to the row, weighted by
// (1 − alpha)^k for the value k values before the last one. Nulls are no step.
func (e Expr) ExponentialMean(alpha float64) Expr {
	return aggregated("exponential_mean", alpha, e.Name(), e)
}

// CumSum is the sum of the partition's values up to the row. Like all aggregates it skips
// nulls.
func (e Expr) CumSum() Expr { return e.Sum().cumulative() }

// CumProduct is the product of the partition's values up to the row.
func (e Expr) CumProduct() Expr { return e.Product().cumulative() }

// CumMin is the least of the partition's values up to the row.
func (e Expr) CumMin() Expr { return e.Min().cumulative() }

// CumMax is the greatest of the partition's values up to the row.
func (e Expr) CumMax() Expr { return e.Max().cumulative() }

// CumMean is the mean of the partition's values up to the row.
func (e Expr) CumMean() Expr { return e.Mean().cumulative() }

// CumCount is the number of the partition's values up to the row that are not null.
func (e Expr) CumCount() Expr { return e.Count().cumulative() }

// cumulative gives aggregates the frame of the rows up to the current one. Over all rows,
// unless Over follows.
func (e Expr) cumulative() Expr {
	return e.eachPart(func(of *part) part {
		p := *of
		p.frame = plan.Frame{Kind: plan.RowsFrame, Low: FirstRow, High: 0}
		return p
	})
}

// Ordering is an argument of [Query.Sort] and [Query.Top]: an expression, in ascending order, or
// the result of [Expr.Asc] or [Expr.Desc].
type Ordering interface{ ordering() order }

// order is a key of a sort.
type order struct {
	key        Expr
	descending bool
	nullsFirst bool
}

func (e Expr) ordering() order { return order{key: e} }

// OrderBy is an expression with a direction.
type OrderBy struct{ order }

func (o OrderBy) ordering() order { return o.order }

// Asc orders from the least value to the greatest. Nulls come last.
func (e Expr) Asc() OrderBy { return OrderBy{order{key: e}} }

// Desc orders from the greatest value to the least. Nulls come last.
func (e Expr) Desc() OrderBy { return OrderBy{order{key: e, descending: true}} }

// NullsFirst puts nulls before all values.
func (o OrderBy) NullsFirst() OrderBy {
	o.nullsFirst = true
	return o
}
