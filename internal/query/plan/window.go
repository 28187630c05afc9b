package plan

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// Window yields the rows of its input with further columns: aggregations of the rows with
// equal partition keys. Without keys all rows are one partition.
type Window struct {
	single
	partition    []expr.Expr
	aggregations []Aggregation
}

// NewWindow makes a window.
func NewWindow(input Node, partition []expr.Expr, aggregations []Aggregation) (*Window, error) {
	w := &Window{singleOf(input, nil), slices.Clone(partition), slices.Clone(aggregations)}
	aggregates, err := w.Aggregates()
	if err != nil {
		return nil, err
	}
	schema, err := group.Schema(input.Schema(), w.Keys(), aggregates)
	if err != nil {
		return nil, err
	}
	fields := slices.Clone(input.Schema().Fields())
	for _, f := range schema.Fields()[schema.NumFields()-len(aggregates):] {
		f.Nullable = true
		fields = append(fields, f)
	}
	w.schema = arrow.NewSchema(fields, nil)
	if err := checkNames(w.schema); err != nil {
		return nil, err
	}
	return w, nil
}

// Keys returns the keys of partitions for package group, at least one.
func (w *Window) Keys() []group.Key { return groupKeys(w.partition) }

// Aggregates returns the aggregates for package group.
func (w *Window) Aggregates() ([]group.Aggregate, error) { return build(w.aggregations) }

// Partition returns the keys of partitions.
func (w *Window) Partition() []expr.Expr { return w.partition }

// Aggregations returns the aggregations.
func (w *Window) Aggregations() []Aggregation { return w.aggregations }

// WithInputs implements [Node].
func (w *Window) WithInputs(inputs ...Node) (Node, error) {
	return node(NewWindow(inputs[0], w.partition, w.aggregations))
}

// String implements [Node].
func (w *Window) String() string {
	if len(w.partition) == 0 {
		return "over all rows: " + describedAggregations(w.aggregations)
	}
	return fmt.Sprintf("over %s: %s", joined(w.partition, ", "), describedAggregations(w.aggregations))
}

func (w *Window) isEmpty() bool { return isNothing(w.input) }

func (w *Window) isRowByRow() bool { return true }

func (w *Window) readsOrder(_ int, own bool) bool { return own || !ofAnyOrder(w.aggregations) }

func (w *Window) sortedBy(keys []SortKey) (bool, []SortKey) { return false, keys }

func (w *Window) conditionBelow() func(expr.Expr) (expr.Expr, bool) {
	return onKeys(w.input.Schema(), columnsOnly(w.partition))
}

func (w *Window) reads(wanted columnSet) []columnSet {
	list := wantedOf(w.aggregations, wanted)
	read := wanted.with()
	for _, a := range list {
		a.columns(read)
	}
	if len(list) > 0 {
		read.read(w.partition...)
	}
	return []columnSet{read}
}

func (w *Window) pruned(inputs []Node, wanted columnSet) (Node, error) {
	list := wantedOf(w.aggregations, wanted)
	switch len(list) {
	case 0:
		return inputs[0], nil
	case len(w.aggregations):
		return nil, nil
	}
	return node(NewWindow(inputs[0], w.partition, list))
}

func (w *Window) simplified() (Node, error) {
	s := newSimplifier(w.input.Schema())
	partition, aggregations := s.all(w.partition), s.aggregations(w.aggregations)
	if !s.changed {
		return nil, nil
	}
	return node(NewWindow(w.input, partition, aggregations))
}

func (w *Window) same(other Node) bool {
	o, ok := other.(*Window)
	return ok && sameExpressions(w.partition, o.partition) && slices.EqualFunc(w.aggregations, o.aggregations, Aggregation.same)
}
