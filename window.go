package gpuframe

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Window divides the rows of a query into partitions, for [Expr.Over]. It may order the
// rows of each, and restrict functions to a frame of them. It is immutable.
type Window struct {
	partition []Expr
	order     []bind.Order
	frame     plan.Frame
}

// By makes partitions of the rows with equal keys. Without keys all rows are one partition.
func By(keys ...Key) Window {
	return Window{partition: keyExprs(keys)}
}

// OrderBy orders the rows of each partition. Rows with equal keys keep their order.
func (w Window) OrderBy(keys ...Ordering) Window {
	w.order = orders(keys)
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
//
// Dates and timestamps also have bounds in steps of a calendar, a [Calendar] or a window.Interval: Range(Every(-1, "month"), 0)
// are the rows since the same day of the month before, or since the last day of a month that lacks it. Days and months
// pass in the time zone of the key, unless [Calendar.In] names one.
func (w Window) Range(low, high any) Window {
	w.frame = plan.Frame{Kind: plan.RangeFrame, LowOffset: stepOf(low), HighOffset: stepOf(high), AtLeast: w.frame.AtLeast}
	return w
}

// stepOf returns a length of time, such as a bound of a range, as plans have it.
func stepOf(x any) any {
	if c, ok := x.(Calendar); ok {
		return c.calendar
	}
	return x
}

// AtLeast makes aggregates of frames with fewer values than n null.
func (w Window) AtLeast(n int64) Window {
	w.frame.AtLeast = n
	return w
}

// String formats the keys.
func (w *Window) String() string { return bind.WindowText(w.keys()) }

func (w *Window) keys() (keys plan.WindowKeys) {
	for _, k := range w.partition {
		keys.Partition = append(keys.Partition, k.named())
	}
	for _, o := range w.order {
		keys.Order = append(keys.Order, plan.SortKey{Value: o.Key.Named(), Descending: o.Descending, NullsFirst: o.NullsFirst})
	}
	return keys
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
	keys := w.keys()
	for _, k := range w.partition {
		e.misuse = joinMisuse(e.misuse, k.misuse)
	}
	for _, o := range w.order {
		e.misuse = joinMisuse(e.misuse, o.Key.Misuse)
	}
	return e.onAggregates(func(tree expr.Expr) expr.Expr { return bind.Over(tree, keys, w.frame) })
}

// percentChange is [Expr.PercentChange].
func (e Expr) percentChange(n int) Expr {
	float := e.Cast(arrow.PrimitiveTypes.Float64)
	return float.Difference(n).Div(float.Lag(n))
}

// exponentialMeanBy is [Expr.ExponentialMeanBy]. The function has its order, to which Over adds that of the window.
func (e Expr) exponentialMeanBy(at Expr, halfLife any) Expr {
	mean := windowFunction(plan.Aggregation{Function: "exponential_mean_by", Distance: halfLife}, e, at)
	mean.tree = bind.InOrder(mean.tree, []bind.Order{at.ordering()})
	return mean
}

// cumulative gives aggregates the frame of the rows up to the current one. Over all rows,
// unless Over follows.
func (e Expr) cumulative() Expr { return e.framed(FirstRow, 0) }

// framed gives aggregates a frame of rows.
func (e Expr) framed(low, high int64) Expr {
	exec.UseWindows()
	return e.eachAggregate(func(f *bind.RowsFunction) {
		f.Aggregation.Frame = plan.Frame{Kind: plan.RowsFrame, Low: low, High: high}
	})
}

// OrderBy is an expression with a direction.
type OrderBy struct{ order bind.Order }

func (o OrderBy) ordering() bind.Order { return o.order }

// Asc orders from the least value to the greatest. Nulls come last.
func (e Expr) Asc() OrderBy { return OrderBy{e.ordering()} }

// Desc orders from the greatest value to the least. Nulls come last.
func (e Expr) Desc() OrderBy { return OrderBy{bind.Order{Key: e.bound(), Descending: true}} }

// NullsFirst puts nulls before all values.
func (o OrderBy) NullsFirst() OrderBy {
	o.order.NullsFirst = true
	return o
}
