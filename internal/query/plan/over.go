package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// FrameKind selects the rows of a frame.
type FrameKind uint8

// The kinds of frames.
const (
	// WholePartition is all rows of the partition.
	WholePartition FrameKind = iota
	// RowsFrame is rows relative to the current one.
	RowsFrame
	// RangeFrame is rows with keys relative to that of the current row.
	RangeFrame
)

// Frame is the rows of a partition that a function is of.
type Frame struct {
	Kind FrameKind
	// Low and High are the bounds of RowsFrame.
	Low, High int64
	// LowOffset and HighOffset are the bounds of RangeFrame: numbers, time.Duration or nil.
	LowOffset, HighOffset any
	// AtLeast is the number of values below which a result is null, or zero.
	AtLeast int64
}

// WindowFunction is a function of the rows of a window, as data.
type WindowFunction struct {
	Aggregation
	Frame Frame
}

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
	"nth":                     func(a Aggregation) window.Function { return window.Nth(a.Values[0], a.Count) },
	"first":                   foldOf(window.First),
	"last":                    foldOf(window.Last),
	"sum":                     foldOf(window.Sum),
	"product":                 foldOf(window.Product),
	"mean":                    foldOf(window.Mean),
	"min":                     foldOf(window.Min),
	"max":                     foldOf(window.Max),
	"median":                  foldOf(window.Median),
	"count_values":            foldOf(window.Count),
	"null_count": foldOf(func(e expr.Expr) window.Function {
		return window.Count(expr.If(e.IsNull(), expr.Lit(true), expr.Null(boolean)))
	}),
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

// withFloats returns a function of the rows of a schema with its decimals as float64.
func (f WindowFunction) withFloats(schema *arrow.Schema) WindowFunction {
	if !f.Properties().FromDecimals || len(f.Values) != 1 {
		return f
	}
	if t, _, err := f.Values[0].Type(schema); err == nil && t.ID() == arrow.DECIMAL128 {
		f.Values = []expr.Expr{f.Values[0].Cast(arrow.PrimitiveTypes.Float64)}
	}
	return f
}

// Build returns the function of package window.
func (f WindowFunction) Build() (window.Function, error) {
	construct, ok := windowFunctions[f.Function]
	if !ok {
		return window.Function{}, fmt.Errorf("%s of an ordered window or a frame: there are %s: %w", f.Function,
			strings.Join(slices.Sorted(maps.Keys(windowFunctions)), ", "), device.ErrNotSupported)
	}
	if err := f.checkValues(); err != nil {
		return window.Function{}, err
	}
	if !f.Where.IsZero() {
		return window.Function{}, fmt.Errorf("%s over an ordered window or a frame has a condition: use If in the expression instead of Where: %w", f.Function, device.ErrNotSupported)
	}
	function := construct(f.Aggregation)
	if f.SkipNulls {
		function = function.SkipNulls()
	}
	properties := f.Properties()
	if !properties.Framed {
		return function, nil
	}
	switch f.Frame.Kind {
	case RowsFrame:
		function = function.Rows(f.Frame.Low, f.Frame.High)
	case RangeFrame:
		function = function.Range(f.Frame.LowOffset, f.Frame.HighOffset)
	}
	if f.Frame.AtLeast != 0 && !properties.KeepsNulls {
		function = function.AtLeast(f.Frame.AtLeast)
	}
	return function, nil
}

// String formats the function: "mean(price) rows -6 to 0".
func (f WindowFunction) String() string {
	return f.Aggregation.String() + f.Frame.String()
}

// String formats the frame, with a space before it, or returns "".
func (f Frame) String() string {
	text := ""
	switch f.Kind {
	case RowsFrame:
		text = " " + window.RowNumber().Rows(f.Low, f.High).Frame().String()
	case RangeFrame:
		text = " " + window.RowNumber().Range(f.LowOffset, f.HighOffset).Frame().String()
	}
	if f.AtLeast != 0 {
		text += fmt.Sprintf(" at least %d", f.AtLeast)
	}
	return text
}

// Same reports whether two frames are equal.
func (f Frame) Same(g Frame) bool {
	return f.Kind == g.Kind && f.Low == g.Low && f.High == g.High && f.AtLeast == g.AtLeast &&
		sameOffset(f.LowOffset, g.LowOffset) && sameOffset(f.HighOffset, g.HighOffset)
}

// sameOffset compares offsets, which may be of types that Go cannot compare.
func sameOffset(x, y any) bool {
	return fmt.Sprintf("%T %v", x, x) == fmt.Sprintf("%T %v", y, y)
}

// same reports whether two functions compute the same.
func (f WindowFunction) same(g WindowFunction) bool {
	return f.Frame.Same(g.Frame) && f.Aggregation.same(g.Aggregation)
}

// Over yields the rows of its input, in their order, with further columns: functions of
// the rows in the order of windows.
type Over struct {
	single
	partition []expr.Expr
	keys      []SortKey
	functions []WindowFunction
}

// NewOver makes windows.
func NewOver(input Node, partition []expr.Expr, keys []SortKey, functions []WindowFunction) (*Over, error) {
	o := &Over{singleOf(input, nil), slices.Clone(partition), slices.Clone(keys), slices.Clone(functions)}
	for _, k := range append(o.partitionKeys(), keys...) {
		if _, err := NewSort(input, []SortKey{k}, All); err != nil {
			return nil, err
		}
	}
	built, err := o.Functions()
	if err != nil {
		return nil, err
	}
	fields := slices.Clone(input.Schema().Fields())
	for i, f := range built {
		t, err := f.Type(input.Schema(), o.Windows())
		if err != nil {
			return nil, fmt.Errorf("%v: %w", Readable(functions[i].String()), err)
		}
		fields = append(fields, arrow.Field{Name: functions[i].Name, Type: t, Nullable: true})
	}
	o.schema = arrow.NewSchema(fields, nil)
	if err := checkNames(o.schema); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *Over) partitionKeys() []SortKey {
	keys := make([]SortKey, len(o.partition))
	for i, e := range o.partition {
		keys[i] = SortKey{Value: e}
	}
	return keys
}

// Windows returns the windows for package window.
func (o *Over) Windows() window.Windows {
	return window.Windows{PartitionBy: orderKeys(o.partitionKeys()), OrderBy: orderKeys(o.keys)}
}

// orderKeys returns keys for package order.
func orderKeys(list []SortKey) []order.Key {
	keys := make([]order.Key, len(list))
	for i, k := range list {
		keys[i] = order.Key{Expr: k.Value, Descending: k.Descending, NullsFirst: k.NullsFirst}
	}
	return keys
}

// Functions returns the functions for package window.
func (o *Over) Functions() ([]window.Function, error) {
	functions := make([]window.Function, len(o.functions))
	for i, f := range o.functions {
		var err error
		if functions[i], err = f.withFloats(o.input.Schema()).Build(); err != nil {
			return nil, err
		}
	}
	return functions, nil
}

// WithInputs implements [Node].
func (o *Over) WithInputs(inputs ...Node) (Node, error) {
	return node(NewOver(inputs[0], o.partition, o.keys, o.functions))
}

// columns adds the columns that some functions and the keys read to a set.
func (o *Over) columns(to map[string]bool, functions []WindowFunction) {
	for _, f := range functions {
		f.Aggregation.columns(to)
	}
	for _, e := range o.partition {
		addColumns(to, e)
	}
	for _, k := range o.keys {
		addColumns(to, k.Value)
	}
}

// needed returns the functions with a column that an operation above reads.
func (o *Over) needed(wanted map[string]bool) []WindowFunction {
	return slices.DeleteFunc(slices.Clone(o.functions), func(f WindowFunction) bool { return !wanted[f.Name] })
}

// String implements [Node].
func (o *Over) String() string {
	texts := make([]string, len(o.functions))
	for i, f := range o.functions {
		texts[i] = f.String()
		if name := Readable(f.Name); !strings.HasPrefix(name, texts[i]) {
			texts[i] = name + " = " + texts[i]
		}
	}
	over := "all rows"
	if len(o.partition) > 0 {
		over = joined(o.partition, ", ")
	}
	for i, k := range o.keys {
		if i == 0 {
			over += " order by "
		} else {
			over += ", "
		}
		over += k.String()
	}
	return "over " + over + ": " + strings.Join(texts, ", ")
}

func (o *Over) isEmpty() bool { return isNothing(o.input) }

func (o *Over) isRowByRow() bool { return true }

func (o *Over) conditionBelow() func(expr.Expr) (expr.Expr, bool) {
	return onKeys(o.input.Schema(), columnsOnly(o.partition))
}

func (o *Over) reads(wanted columnSet) []columnSet {
	read := wanted.with()
	if list := o.needed(wanted); len(list) > 0 {
		o.columns(read, list)
	}
	return []columnSet{read}
}

func (o *Over) pruned(inputs []Node, wanted columnSet) (Node, error) {
	list := o.needed(wanted)
	switch len(list) {
	case 0:
		return inputs[0], nil
	case len(o.functions):
		return nil, nil
	}
	return node(NewOver(inputs[0], o.partition, o.keys, list))
}

func (o *Over) same(other Node) bool {
	p, ok := other.(*Over)
	return ok && sameExpressions(o.partition, p.partition) && slices.EqualFunc(o.keys, p.keys, SortKey.same) && slices.EqualFunc(o.functions, p.functions, WindowFunction.same)
}
