package gpuframe

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/kernels/nested"
)

// Resampled is rows in windows of time: see [Query.Resample].
type Resampled struct {
	query Query
	at    Expr
	every any
	by    []Expr
}

// Resample divides the rows into windows of a time, or of a number: every is a time.Duration,
// an integer for integers, or a [Calendar] of days, weeks, months, quarters or years. Windows
// of one length begin at multiples of it since 1970 UTC, or at the least value of the type. With keys in by, each combination of
// them has its own windows.
//
//	readings.Resample(ts, 15*time.Minute, sensor).Agg(value.Mean())
func (q Query) Resample(at Expression, every any, by ...Expression) Resampled {
	return Resampled{q, at.expression(), every, unpack(by)}
}

// Agg makes a row for each window from the first to the last one with rows, in order: the keys
// in by, the beginning of the window, and the values of expressions of aggregates. For a window
// without rows counts are 0 and other aggregates null, also lists: FillNull within the expressions, or
// FillForward and Interpolate over the keys, fill them. Rows without a time are left out.
func (r Resampled) Agg(aggregates ...Expression) Query {
	list := unpack(aggregates)
	return r.query.then("Resample", nil, func(b *binder, inputs []plan.Node) plan.Node {
		return b.resample(inputs[0], r, list)
	})
}

func (b *binder) resample(input plan.Node, r Resampled, list []Expr) plan.Node {
	values, ok := b.keys(input, append([]Expr{r.at}, r.by...))
	if !ok {
		b.lost(list)
		return nil
	}
	at, name := values[0], r.at.Name()
	t, _, err := at.Type(input.Schema())
	var windows windowing
	if err == nil {
		windows, err = windowsOf(t, r.every)
	}
	if err != nil {
		b.report(err)
		return nil
	}
	known, err := plan.NewFilter(input, at.IsValid())
	if err != nil {
		b.report(readable{err})
		return nil
	}
	keys := append(r.by[:len(r.by):len(r.by)], Expr{tree: windows.begin(at), root: name})
	grouped := b.aggregate(known, keys, list, plan.GroupOptions{})
	if grouped == nil {
		return nil
	}
	empty := make([]expr.Expr, len(list))
	for i, e := range list {
		empty[i] = ofNoRows(e, known, grouped, grouped.Schema().Field(len(keys)+i).Type)
	}
	filled, err := withEmptyWindows(grouped, len(r.by), windows, empty)
	if err != nil {
		b.report(readable{err})
		return nil
	}
	return filled
}

// ofNoRows is the value of an expression of aggregates for a window without rows, of a type: counts
// are 0, and other aggregates null. Of aggregates that expressions have no nulls of, such as lists, it
// is null. The aggregates are of the input, and the expression may have keys of the groups.
func ofNoRows(e Expr, input, groups plan.Node, t arrow.DataType) expr.Expr {
	value := e.tree.Substitute(func(part expr.Expr) (expr.Expr, bool) {
		f, ok := rowsFunctionOf(part)
		switch {
		case !ok:
			return part, false
		case f.aggregation.Properties().CountsRows:
			return expr.Lit(int64(0)), true
		}
		aggregate, err := plan.NewAggregate(input, nil, []plan.Aggregation{f.aggregation}, plan.GroupOptions{})
		if err != nil { // it has windows within
			return part, true
		}
		return expr.Null(aggregate.Schema().Field(0).Type), true
	})
	switch valueType, _, err := value.Type(groups.Schema()); {
	case err != nil:
		return expr.Null(t)
	case !arrow.TypeEqual(valueType, t):
		return value.Cast(t)
	}
	return value
}

// withEmptyWindows adds the windows without rows. The first columns of the input are keys,
// then comes the beginning of the window, then aggregates, of which empty has the values for
// windows without rows.
func withEmptyWindows(input plan.Node, keys int, windows windowing, empty []expr.Expr) (plan.Node, error) {
	list, joined := names(input.Schema()), columnsWithoutIf(input.Schema(), keys+1)
	result, number := list, plan.Computed("window")
	if len(joined) > 0 {
		numbered, err := plan.NewNumber(input, plan.NumberOptions{Row: number})
		if err != nil {
			return nil, err
		}
		input, list = numbered, append(list[:len(list):len(list)], number)
	}
	begin, following, steps := expr.Col(list[keys]), plan.Computed("next window"), plan.Computed("steps")
	var partition []expr.Expr
	var order []plan.SortKey
	for i, name := range list[:keys+1] {
		if i < keys {
			partition = append(partition, expr.Col(name))
		}
		order = append(order, plan.SortKey{Value: expr.Col(name)})
	}
	lead := plan.Aggregation{Function: "lead", Values: []expr.Expr{begin}, Count: 1, Name: following}
	n, err := node(plan.NewOver(input, plan.WindowKeys{Partition: partition, Order: order[keys:]}, []plan.Aggregation{lead}))
	if err != nil {
		return nil, err
	}
	// A window is repeated up to the next one. The last one has no next one.
	count := windows.between(begin, expr.Col(following)).Cast(arrow.PrimitiveTypes.Int64).FillNull(expr.Lit(int64(1)))
	if n, err = node(plan.NewProject(n, append(columnsNamed(list), nested.Sequence(count).As(steps))...)); err != nil {
		return nil, err
	}
	if n, err = node(plan.NewExplode(n, []string{steps}, nested.ExplodeOptions{})); err != nil {
		return nil, err
	}
	window := windows.moved(begin, expr.Col(steps))
	if windows.exists != nil {
		if n, err = node(plan.NewFilter(n, windows.exists(window))); err != nil {
			return nil, err
		}
	}
	var columns []expr.Expr
	for i, name := range list {
		value := expr.Col(name)
		switch {
		case slices.Contains(joined, name):
			continue
		case i == keys:
			value = windows.result(window)
		case name == number:
			value = ifWindow(steps, name, expr.Null(arrow.PrimitiveTypes.Int64))
		case i > keys:
			value = ifWindow(steps, name, empty[i-keys-1])
		}
		columns = append(columns, value.As(name))
	}
	if n, err = node(plan.NewProject(n, columns...)); err != nil {
		return nil, err
	}
	if len(joined) > 0 {
		if n, err = withJoined(n, input, number, joined, result); err != nil {
			return nil, err
		}
	}
	return node(plan.NewSort(n, order, plan.All))
}

// ifWindow is a column where no step was taken from a window with rows, otherwise another value.
func ifWindow(steps, name string, otherwise expr.Expr) expr.Expr {
	return expr.If(expr.Col(steps).Eq(expr.Lit(int64(0))), expr.Col(name), otherwise)
}

// columnsWithoutIf returns the columns from a position on of types that expr.If does not have:
// dictionaries and nested ones.
func columnsWithoutIf(schema *arrow.Schema, from int) (names []string) {
	for _, f := range schema.Fields()[from:] {
		t, _, err := expr.If(expr.Lit(true), expr.Col(f.Name), expr.Null(f.Type)).Type(schema)
		if err != nil || !arrow.TypeEqual(t, f.Type) {
			names = append(names, f.Name)
		}
	}
	return names
}

// withJoined adds columns of the windows with rows by their number, which is null for the others.
func withJoined(n, windows plan.Node, number string, joined, result []string) (plan.Node, error) {
	values, err := plan.NewProject(windows, columnsNamed(append([]string{number}, joined...))...)
	if err != nil {
		return nil, err
	}
	key := plan.JoinKey{Left: expr.Col(number), Right: expr.Col(number)}
	both, err := plan.NewJoin(n, values, plan.JoinOptions{Kind: join.Left, Keys: []plan.JoinKey{key}})
	if err != nil {
		return nil, err
	}
	return node(plan.NewProject(both, columnsNamed(result)...))
}

func columnsNamed(names []string) []expr.Expr {
	list := make([]expr.Expr, len(names))
	for i, name := range names {
		list[i] = expr.Col(name)
	}
	return list
}

// node returns a made node as the interface, nil for an error.
func node[N plan.Node](n N, err error) (plan.Node, error) {
	if err != nil {
		return nil, err
	}
	return n, nil
}

// stepOf returns a length in the units of a type.
func stepOf(t arrow.DataType, every any) (int64, error) {
	refuse := func(expected string) (int64, error) {
		return 0, fmt.Errorf("windows of %v (%T) of %v, expected %s: %w", every, every, t, expected, device.ErrInvalidValue)
	}
	unit := time.Duration(0)
	switch t := t.(type) {
	case *arrow.Date32Type:
		unit = 24 * time.Hour
	case *arrow.Date64Type:
		unit = time.Millisecond
	case interface{ TimeUnit() arrow.TimeUnit }:
		unit = t.TimeUnit().Multiplier()
	default:
		if !arrow.IsInteger(t.ID()) {
			return 0, fmt.Errorf("windows of %v, expected integers, dates, times, timestamps or durations: %w", t, device.ErrNotSupported)
		}
	}
	span, isSpan := every.(time.Duration)
	switch number := reflect.ValueOf(every); {
	case unit == 0 && (isSpan || !number.CanInt() || number.Int() <= 0):
		return refuse("a positive integer")
	case unit == 0:
		return number.Int(), nil
	case !isSpan || span <= 0 || span%unit != 0:
		return refuse(fmt.Sprintf("a positive multiple of %v", unit))
	}
	return int64(span / unit), nil
}
