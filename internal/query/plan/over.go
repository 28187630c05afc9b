package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// Over yields the rows of its input, in their order, with further columns: aggregations of the rows
// with equal partition keys. Without keys all rows are one partition.
type Over struct {
	single
	keys         WindowKeys
	aggregations []Aggregation
}

// NewOver makes windows.
func NewOver(input Node, keys WindowKeys, aggregations []Aggregation) (*Over, error) {
	o := &Over{singleOf(input, nil), keys, slices.Clone(aggregations)}
	fieldsOf := o.wholeFields
	if o.IsOrdered() {
		fieldsOf = o.orderedFields
	}
	fields, err := fieldsOf(input.Schema())
	if err != nil {
		return nil, err
	}
	o.schema = arrow.NewSchema(append(slices.Clone(input.Schema().Fields()), fields...), nil)
	if err := checkNames(o.schema); err != nil {
		return nil, err
	}
	return o, nil
}

// wholeFields returns the fields of aggregations of whole partitions.
func (o *Over) wholeFields(input *arrow.Schema) ([]arrow.Field, error) {
	aggregates, err := o.Aggregates()
	if err != nil {
		return nil, err
	}
	schema, err := group.Schema(input, o.GroupKeys(), aggregates)
	if err != nil {
		return nil, err
	}
	fields := slices.Clone(schema.Fields()[schema.NumFields()-len(aggregates):])
	for i := range fields {
		fields[i].Nullable = true
	}
	return fields, nil
}

// orderedFields returns the fields of functions of ordered rows.
func (o *Over) orderedFields(input *arrow.Schema) ([]arrow.Field, error) {
	for _, k := range append(o.partitionKeys(), o.keys.Order...) {
		if _, err := NewSort(o.input, []SortKey{k}, All); err != nil {
			return nil, err
		}
	}
	functions, gathered, err := o.Functions()
	if err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, len(functions))
	for i, f := range functions {
		t, err := f.Type(input, o.Windows())
		if err == nil && gathered[i] {
			t, err = o.gatheredType(input, o.aggregations[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%v: %w", o.aggregations[i], err)
		}
		fields[i] = arrow.Field{Name: o.aggregations[i].Name, Type: t, Nullable: true}
	}
	return fields, nil
}

// gatheredType returns the type of an aggregation of gathered rows.
func (o *Over) gatheredType(input *arrow.Schema, a Aggregation) (arrow.DataType, error) {
	aggregate, err := a.Build()
	if err != nil {
		return nil, err
	}
	schema, err := group.Schema(input, groupKeys(nil), []group.Aggregate{aggregate})
	if err != nil {
		return nil, err
	}
	return schema.Field(schema.NumFields() - 1).Type, nil
}

// IsOrdered reports whether a value depends on the order of the partition, on a frame or on the place
// of the row: [Over.Functions] computes the columns. Otherwise [Over.Aggregates] does.
func (o *Over) IsOrdered() bool {
	return slices.ContainsFunc(o.aggregations, func(a Aggregation) bool { return a.IsOrdered(len(o.keys.Order) > 0) })
}

// GroupKeys returns the keys of partitions for package group, at least one.
func (o *Over) GroupKeys() []group.Key { return groupKeys(o.keys.Partition) }

// Aggregates returns the aggregates for package group.
func (o *Over) Aggregates() ([]group.Aggregate, error) { return build(o.aggregations) }

func (o *Over) partitionKeys() []SortKey {
	keys := make([]SortKey, len(o.keys.Partition))
	for i, e := range o.keys.Partition {
		keys[i] = SortKey{Value: e}
	}
	return keys
}

// Windows returns the windows for package window.
func (o *Over) Windows() window.Windows {
	return window.Windows{PartitionBy: orderKeys(o.partitionKeys()), OrderBy: orderKeys(o.keys.Order)}
}

// orderKeys returns keys for package order.
func orderKeys(list []SortKey) []order.Key {
	keys := make([]order.Key, len(list))
	for i, k := range list {
		keys[i] = order.Key{Expr: k.Value, Descending: k.Descending, NullsFirst: k.NullsFirst}
	}
	return keys
}

// Functions returns the functions for package window. Those that are gathered are aggregates of package group, of the rows that
// a function with their frame reads.
func (o *Over) Functions() (functions []window.Function, gathered []bool, err error) {
	functions, gathered = make([]window.Function, len(o.aggregations)), make([]bool, len(o.aggregations))
	for i, a := range o.aggregations {
		if gathered[i] = a.isGathered(o.input.Schema()); gathered[i] {
			functions[i] = a.Frame.FrameFunction()
		} else if functions[i], err = a.withFloats(o.input.Schema()).buildWindow(); err != nil {
			return nil, nil, err
		}
	}
	return functions, gathered, nil
}

// Aggregations returns the aggregations of the columns.
func (o *Over) Aggregations() []Aggregation { return o.aggregations }

// WithInputs implements [Node].
func (o *Over) WithInputs(inputs ...Node) (Node, error) {
	return node(NewOver(inputs[0], o.keys, o.aggregations))
}

// String implements [Node].
func (o *Over) String() string {
	keys := o.keys.String()
	if len(o.keys.Partition) == 0 {
		keys = strings.TrimSpace("all rows " + keys)
	}
	if !o.IsOrdered() {
		return "over " + keys + ": " + describedAggregations(o.aggregations)
	}
	texts := make([]string, len(o.aggregations))
	for i, a := range o.aggregations {
		texts[i] = a.String()
		if name := Readable(a.Name); !strings.HasPrefix(name, texts[i]) {
			texts[i] = name + " = " + texts[i]
		}
	}
	return "over " + keys + ": " + strings.Join(texts, ", ")
}

func (o *Over) isEmpty() bool { return isNothing(o.input) }

func (o *Over) rowNumbers() rowNumbers { return inputNumbers }

func (o *Over) readsOrder(_ int, own bool) bool {
	return own || o.IsOrdered() || !ofAnyOrder(o.aggregations)
}

func (o *Over) sortedBy(keys []SortKey) (bool, []SortKey) {
	if o.IsOrdered() {
		return false, nil
	}
	return false, keys
}

func (o *Over) conditionBelow() func(expr.Expr) (expr.Expr, bool) {
	return onKeys(o.input.Schema(), columnsOnly(o.keys.Partition))
}

func (o *Over) reads(wanted columnSet) []columnSet {
	list := wantedOf(o.aggregations, wanted)
	read := wanted.with()
	for _, a := range list {
		a.columns(read)
	}
	if len(list) > 0 {
		read.read(o.keys.All()...)
	}
	return []columnSet{read}
}

func (o *Over) pruned(inputs []Node, wanted columnSet) (Node, error) {
	list := wantedOf(o.aggregations, wanted)
	switch len(list) {
	case 0:
		return inputs[0], nil
	case len(o.aggregations):
		return nil, nil
	}
	return node(NewOver(inputs[0], o.keys, list))
}

func (o *Over) simplified() (Node, error) {
	if o.IsOrdered() {
		return nil, nil
	}
	s := newSimplifier(o.input.Schema())
	keys, aggregations := WindowKeys{Partition: s.all(o.keys.Partition)}, s.aggregations(o.aggregations)
	if !s.changed {
		return nil, nil
	}
	return node(NewOver(o.input, keys, aggregations))
}

func (o *Over) same(other Node) bool {
	p, ok := other.(*Over)
	return ok && o.keys.Same(p.keys) && slices.EqualFunc(o.aggregations, p.aggregations, Aggregation.same)
}

func (o *Over) dividedAsMoved(d *distribution, inputs []spread) (spread, error) {
	if reason, ok := d.dividesWindows(o, inputs[0]); !ok {
		return spread{reason: reason}, nil
	}
	return d.window(o, inputs[0])
}
