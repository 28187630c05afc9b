package bind

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/kernels/nested"
)

// Resample makes a row for each window of a time, from the first to the last one with rows, of
// expressions of aggregates. every is a time.Duration, an integer or a [Calendar]. Each combination of the
// keys in by has its own windows, which overlap if hop has a span.
func Resample(at Expr, every any, hop Hop, by, list []Expr) Verb {
	exec.UseWindows()
	exec.UseExplode()
	exec.UseTop()
	exec.UseJoins()
	return Verb{name: "Resample", bind: onInput(func(b *binder, input plan.Node) plan.Node {
		values, ok := b.keys(input, append([]Expr{at}, by...))
		if !ok {
			b.lost(list)
			return nil
		}
		t, _, err := values[0].Type(input.Schema())
		var windows windowing
		if err == nil {
			windows, err = windowsOf(t, every)
		}
		if err != nil {
			b.report(err)
			return nil
		}
		first := windows.begin(values[0])
		if !hop.isZero() {
			var overlapping hopping
			if overlapping, err = hop.windows(t, every, windows); err == nil {
				windows = overlapping.windowing
				input, first, err = b.hops(input, values[0], overlapping)
			}
			if err != nil {
				b.report(plan.ReadableError(err))
				b.lost(list)
				return nil
			}
		}
		begin := Expr{Tree: first, Name: at.Name}
		return b.resample(input, values[0], append(by[:len(by):len(by)], begin), windows, list)
	})}
}

// resample groups by keys, of which the last one is the beginning of the window of a time.
func (b *binder) resample(input plan.Node, at expr.Expr, keys []Expr, windows windowing, list []Expr) plan.Node {
	known, err := plan.NewFilter(input, at.IsValid())
	if err != nil {
		b.report(plan.ReadableError(err))
		return nil
	}
	list = listForms(list)
	grouped := b.aggregate(known, keys, list, nil, plan.GroupOptions{})
	if grouped == nil {
		return nil
	}
	empty := make([]expr.Expr, len(list))
	for i, e := range list {
		empty[i] = ofNoRows(e, known, grouped, grouped.Schema().Field(len(keys)+i).Type)
	}
	filled, err := withEmptyWindows(grouped, len(keys)-1, windows, empty)
	if err != nil {
		b.report(plan.ReadableError(err))
		return nil
	}
	return filled
}

// ofNoRows is the value of an expression of aggregates for a window without rows, of a type: counts
// are 0, and other aggregates null. Of aggregates that expressions have no nulls of, such as lists, it
// is null. The aggregates are of the input, and the expression may have keys of the groups.
func ofNoRows(e Expr, input, groups plan.Node, t arrow.DataType) expr.Expr {
	value := e.Tree.Substitute(func(part expr.Expr) (expr.Expr, bool) {
		f, ok := rowsFunctionOf(part)
		switch {
		case !ok:
			return part, false
		case f.Aggregation.Properties().CountsRows:
			return expr.Lit(int64(0)), true
		}
		aggregate, err := plan.NewAggregate(input, nil, []plan.Aggregation{f.Aggregation}, plan.GroupOptions{})
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
