package bind

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/nested"
)

// The functions of the frequencies of values: lists of the values of a group that are not null, each once, and of
// their numbers. Groups by the keys and the value count them, and no group's values are gathered.
const (
	// DistinctValues is the list of the values in order, DistinctCounts that of their numbers.
	DistinctValues, DistinctCounts = "distinct_values", "distinct_counts"
	// FrequentValues is the list of the Count most frequent values, the most frequent one first, equally frequent ones in
	// the order of their first rows.
	FrequentValues = "approx_top_k"
)

// ListForm is a function of frequencies by the list of the values, for windows and orders.
type ListForm struct {
	// Function is the name of the user's function in messages.
	Function string
	Tree     func(list expr.Expr, a plan.Aggregation) expr.Expr
}

// Frequency is a function of frequencies of a value. Its list form also checks the type of the value.
func Frequency(a plan.Aggregation, form *ListForm) expr.Expr {
	exec.UseTop()
	exec.UseWindows()
	exec.UseJoins()
	return Folded(a, form)
}

// Folded is a function with a folding.
func Folded(a plan.Aggregation, form *ListForm) expr.Expr {
	return RowsFunction{Aggregation: a, form: form}.Tree()
}

// ofLists replaces the functions of frequencies of an expression by their list forms.
func ofLists(e expr.Expr) expr.Expr {
	return e.Substitute(func(part expr.Expr) (expr.Expr, bool) {
		f, ok := rowsFunctionOf(part)
		if !ok || f.form == nil || f.windowed {
			return part, ok || !part.ReadsRows()
		}
		list := f
		list.form, list.called, list.Aggregation = nil, f.form.Function, plan.Aggregation{Function: "list", Values: f.Aggregation.Values, Where: f.Aggregation.Where, SkipNulls: true}
		return f.form.tree(list.Tree(), f.Aggregation), true
	})
}

// listForms is ofLists of several expressions.
func listForms(list []Expr) []Expr {
	replaced := slices.Clone(list)
	for i := range replaced {
		replaced[i].Tree = ofLists(replaced[i].Tree)
	}
	return replaced
}

// checkFrequency reports a value and a condition that a function of frequencies does not have.
func (b *binder) checkFrequency(n plan.Node, a plan.Aggregation, form *ListForm) bool {
	list := a.Values[0]
	if !b.check(list, n.Schema()) {
		return false
	}
	if !a.Where.IsZero() {
		if !b.check(a.Where, n.Schema()) {
			return false
		}
		if t, _, _ := a.Where.Type(n.Schema()); t.ID() != arrow.BOOL {
			b.report(&callError{form.Function, fmt.Errorf("its condition is %s, expected bool: %w", render.TypeName(t), device.ErrInvalidValue)})
			return false
		}
	}
	return b.check(form.tree(nested.Concat(nested.Concat(list)), a), n.Schema())
}

// sameFrequencies reports whether two functions read one table of frequencies.
func sameFrequencies(a, b plan.Aggregation) bool {
	frequent := a.Function == FrequentValues
	return frequent == (b.Function == FrequentValues) && a.Count == b.Count && a.Values[0].Same(b.Values[0]) && a.Where.Same(b.Where)
}

// frequencies are functions that read one table of frequencies.
type frequencies []plan.Aggregation

// divideFrequencies returns the functions of frequencies, by their tables, and the others.
func divideFrequencies(functions []RowsFunction) (tables []frequencies, others []RowsFunction) {
	for _, f := range functions {
		if f.form == nil || f.Aggregation.Folding != nil {
			others = append(others, f)
			continue
		}
		at := slices.IndexFunc(tables, func(t frequencies) bool { return sameFrequencies(t[0], f.Aggregation) })
		if at < 0 {
			at, tables = len(tables), append(tables, nil)
		}
		tables[at] = append(tables[at], f.Aggregation)
	}
	return tables, others
}

// node returns the groups by keys with the lists.
func (f frequencies) node(input plan.Node, keys []expr.Expr, options plan.GroupOptions) (plan.Node, error) {
	a := f[0]
	value, number := a.Values[0], plan.Computed("number")
	if !a.Where.IsZero() {
		t, _, err := value.Type(input.Schema())
		if err != nil {
			return nil, err
		}
		value = expr.If(a.Where, value, expr.Null(t))
	}
	value = value.As(plan.Computed("value"))
	counted, by := plan.Aggregation{Function: "count_values", Values: []expr.Expr{value}, Name: number}, append(slices.Clone(keys), value)
	n, err := node(plan.NewAggregate(input, by, []plan.Aggregation{counted}, plan.GroupOptions{Order: group.FirstAppearance}))
	if err != nil {
		return nil, err
	}
	columns := make([]expr.Expr, len(keys))
	for i, k := range keys {
		columns[i] = expr.Col(k.Name())
	}
	if n, err = f.sorted(n, columns, expr.Col(value.Name()), expr.Col(number)); err != nil {
		return nil, err
	}
	lists := make([]plan.Aggregation, len(f))
	for i, each := range f {
		from := expr.Col(value.Name())
		if each.Function == DistinctCounts {
			from = expr.Col(number)
		}
		lists[i] = plan.Aggregation{Function: "list", Values: []expr.Expr{from}, Where: expr.Col(number).Gt(expr.Lit(int64(0))), Name: each.Name}
	}
	return node(plan.NewAggregate(n, columns, lists, options))
}

// sorted returns the rows of a table of frequencies that the lists have, in their order. Null, of which the number is 0,
// is one of them, so that no group is missing.
func (f frequencies) sorted(n plan.Node, keys []expr.Expr, value, number expr.Expr) (plan.Node, error) {
	if f[0].Function != FrequentValues {
		return node(plan.NewSort(n, []plan.SortKey{{Value: value}}, plan.All))
	}
	byNumber, most := []plan.SortKey{{Value: number, Descending: true}}, f[0].Count
	if len(keys) == 0 {
		return node(plan.NewSort(n, byNumber, most))
	}
	sorted, err := node(plan.NewSort(n, byNumber, plan.All))
	if err != nil {
		return nil, err
	}
	place := plan.Computed("place")
	placed, err := node(plan.NewOver(sorted, plan.WindowKeys{Partition: keys}, []plan.Aggregation{{Function: "row_number", Name: place}}))
	if err != nil {
		return nil, err
	}
	return node(plan.NewFilter(placed, expr.Col(place).Le(expr.Lit(most))))
}
