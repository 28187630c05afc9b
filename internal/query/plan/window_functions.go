package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// windowFunctions make the functions of package window, by name. The catalog has their other
// properties.
var windowFunctions = map[string]func(a Aggregation) window.Function{
	"row_number":              placeOf(window.RowNumber),
	"rank":                    placeOf(window.Rank),
	"dense_rank":              placeOf(window.DenseRank),
	"percent_rank":            placeOf(window.PercentRank),
	"cumulative_distribution": placeOf(window.CumulativeDistribution),
	"tile":                    func(a Aggregation) window.Function { return window.Tile(a.Count) },
	"lag":                     func(a Aggregation) window.Function { return window.Lag(a.Values[0], a.Count) },
	"lead":                    func(a Aggregation) window.Function { return window.Lead(a.Values[0], a.Count) },
	"exponential_mean":        func(a Aggregation) window.Function { return window.ExponentialMean(a.Values[0], a.Number) },
	"exponential_mean_by": func(a Aggregation) window.Function {
		return window.ExponentialMeanBy(a.Values[0], a.Values[1], a.Distance)
	},
	"nth":          func(a Aggregation) window.Function { return window.Nth(a.Values[0], a.Count) },
	"first":        foldOf(window.First),
	"last":         foldOf(window.Last),
	"sum":          foldOf(window.Sum),
	"product":      foldOf(window.Product),
	"mean":         foldOf(window.Mean),
	"min":          foldOf(window.Min),
	"max":          foldOf(window.Max),
	"median":       foldOf(window.Median),
	"count_values": foldOf(window.Count),
	"null_count": foldOf(func(e expr.Expr) window.Function {
		return window.Count(expr.If(e.IsNull(), expr.Lit(true), expr.Null(boolean)))
	}),
	"bitwise_or":  foldOf(window.BitOr),
	"bitwise_xor": foldOf(window.BitXor),
	"mode":        foldOf(window.Mode),
	"any_value":   foldOf(func(e expr.Expr) window.Function { return window.First(e).SkipNulls() }),
	"count_distinct": func(a Aggregation) window.Function {
		return window.CountDistinct(a.Values[0], a.Values[1:]...)
	},
	"any":      foldOf(func(e expr.Expr) window.Function { return window.Max(truth(e)) }),
	"all":      foldOf(func(e expr.Expr) window.Function { return window.Min(truth(e)) }),
	"count":    placeOf(window.CountAll),
	"quantile": func(a Aggregation) window.Function { return window.Quantile(a.Values[0], a.Number) },
	"variance": func(a Aggregation) window.Function { return window.Variance(a.Values[0], int(a.Count)) },
	"stddev":   func(a Aggregation) window.Function { return window.StdDev(a.Values[0], int(a.Count)) },
}

// placeOf is a function without expressions.
func placeOf(construct func() window.Function) func(Aggregation) window.Function {
	return func(Aggregation) window.Function { return construct() }
}

// foldOf is a function of one expression.
func foldOf(construct func(expr.Expr) window.Function) func(Aggregation) window.Function {
	return func(a Aggregation) window.Function { return construct(a.Values[0]) }
}

var boolean = arrow.FixedWidthTypes.Boolean

// truth is a bool itself, and an error for other types.
func truth(e expr.Expr) expr.Expr { return e.Xor(expr.Lit(false)) }

// withFloats returns the aggregation on the rows of a schema with its decimals as float64, if windows need that.
func (a Aggregation) withFloats(schema *arrow.Schema) Aggregation {
	if !a.Properties().FromDecimals || len(a.Values) != 1 {
		return a
	}
	if t, _, err := a.Values[0].Type(schema); err == nil && t.ID() == arrow.DECIMAL128 {
		a.Values = []expr.Expr{a.Values[0].Cast(arrow.PrimitiveTypes.Float64)}
	}
	return a
}

// gatheredFunctions are the aggregates that package window does not have. Those of a frame are computed by package group
// of the rows of each frame.
var gatheredFunctions = []string{"list", "join_strings", "largest", "smallest", "skewness", "kurtosis", "kurtosis_pop"}

// isGathered reports whether the rows of each frame are gathered to compute the aggregation on the rows of a schema.
func (a Aggregation) isGathered(schema *arrow.Schema) bool {
	if slices.Contains(gatheredFunctions, a.Function) {
		return true
	}
	if a.Function != "sum" && a.Function != "mean" || len(a.Values) != 1 {
		return false
	}
	_, isVector := typeOf(a.Values[0], schema).(arrow.ListLikeType)
	return isVector
}

// FrameFunction returns a function of package window with the frame.
func (f Frame) FrameFunction() window.Function {
	function := window.CountAll()
	switch f.Kind {
	case RowsFrame:
		function = function.Rows(f.Low, f.High)
	case RangeFrame:
		function = function.Range(f.LowOffset, f.HighOffset)
	}
	return function
}

// buildWindow returns the function of package window.
func (a Aggregation) buildWindow() (window.Function, error) {
	construct, ok := windowFunctions[a.Function]
	if !ok {
		known := slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(windowFunctions)), gatheredFunctions...)))
		return window.Function{}, fmt.Errorf("%s with an order, or of an ordered window or a frame, expected %s: leave out the order, or aggregate and join: %w", a.Function,
			strings.Join(known, ", "), device.ErrNotSupported)
	}
	if err := a.checkValues(); err != nil {
		return window.Function{}, err
	}
	function := construct(a)
	if !a.Where.IsZero() {
		if a.Properties().KeepsNulls && !a.SkipNulls {
			return window.Function{}, fmt.Errorf("%s over an ordered window or a frame has a condition: use If in the expression instead of Where: %w", a.Function, device.ErrNotSupported)
		}
		function = function.Where(a.Where)
	}
	if a.SkipNulls {
		function = function.SkipNulls()
	}
	properties := a.Properties()
	if !properties.Framed {
		return function, nil
	}
	switch a.Frame.Kind {
	case RowsFrame:
		function = function.Rows(a.Frame.Low, a.Frame.High)
	case RangeFrame:
		function = function.Range(a.Frame.LowOffset, a.Frame.HighOffset)
	}
	if a.Frame.AtLeast != 0 && !properties.KeepsNulls {
		function = function.AtLeast(a.Frame.AtLeast)
	}
	return function, nil
}
