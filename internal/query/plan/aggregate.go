package plan

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// GroupOptions are options of an [Aggregate].
type GroupOptions struct {
	// DropNulls leaves out rows with a null key. Otherwise null is a key.
	DropNulls bool
	// Order is the order of the groups.
	Order group.Order
	// Where is a condition on the rows, or the zero Expr. The pass that fuses filters sets it.
	Where expr.Expr
}

// Same reports whether options are equal.
func (o GroupOptions) Same(p GroupOptions) bool {
	return o.DropNulls == p.DropNulls && o.Order == p.Order && o.Where.Same(p.Where)
}

// Aggregate yields a row for each group of rows with equal keys: the keys, then the
// aggregations. Without keys it yields one row for all rows, also for no rows.
type Aggregate struct {
	single
	keys         []expr.Expr
	aggregations []Aggregation
	options      GroupOptions
}

// NewAggregate makes a grouping. Without aggregations it yields the distinct keys.
func NewAggregate(input Node, keys []expr.Expr, aggregations []Aggregation, options GroupOptions) (*Aggregate, error) {
	if len(keys)+len(aggregations) == 0 {
		return nil, fmt.Errorf("no key and no aggregate is given: %w", device.ErrInvalidValue)
	}
	a := &Aggregate{singleOf(input, nil), slices.Clone(keys), slices.Clone(aggregations), options}
	if err := a.checkWhere(); err != nil {
		return nil, err
	}
	aggregates, err := a.Aggregates()
	if err != nil {
		return nil, err
	}
	schema, err := group.Schema(input.Schema(), a.Keys(), aggregates)
	if err != nil {
		return nil, err
	}
	kept := schema.Fields()[len(schema.Fields())-len(aggregates):]
	if len(aggregations) == 0 {
		kept = nil
	}
	a.schema = arrow.NewSchema(append(slices.Clone(schema.Fields()[:len(keys)]), kept...), nil)
	if err := checkNames(a.schema); err != nil {
		return nil, err
	}
	return a, nil
}

// checkWhere refuses a condition that does not fit the input.
func (a *Aggregate) checkWhere() error {
	if a.options.Where.IsZero() {
		return nil
	}
	_, err := NewFilter(a.input, a.options.Where)
	return err
}

// Keys returns the keys for package group, at least one: without keys all rows have the
// same.
func (a *Aggregate) Keys() []group.Key { return groupKeys(a.keys) }

// groupKeys returns keys for package group, at least one.
func groupKeys(list []expr.Expr) []group.Key {
	if len(list) == 0 {
		return []group.Key{{Expr: expr.LitOf(arrow.PrimitiveTypes.Int8, int8(0)), Name: Computed("all")}}
	}
	keys := make([]group.Key, len(list))
	for i, e := range list {
		keys[i] = group.Key{Expr: e, Name: e.Name()}
	}
	return keys
}

// Aggregates returns the aggregates for package group, at least one: without aggregations
// the number of rows, which is no column of the node.
func (a *Aggregate) Aggregates() ([]group.Aggregate, error) {
	if len(a.aggregations) == 0 {
		return []group.Aggregate{group.CountAll().As(Computed("rows"))}, nil
	}
	return build(a.aggregations)
}

// GroupKeys returns the keys as expressions.
func (a *Aggregate) GroupKeys() []expr.Expr { return a.keys }

// Aggregations returns the aggregations.
func (a *Aggregate) Aggregations() []Aggregation { return a.aggregations }

// Options returns the options.
func (a *Aggregate) Options() GroupOptions { return a.options }

// WithInputs implements [Node].
func (a *Aggregate) WithInputs(inputs ...Node) (Node, error) {
	return node(NewAggregate(inputs[0], a.keys, a.aggregations, a.options))
}

// String implements [Node].
func (a *Aggregate) String() string {
	where := ""
	if !a.options.Where.IsZero() {
		where = " of rows where " + described(a.options.Where)
	}
	switch {
	case len(a.keys) == 0:
		return "aggregate " + describedAggregations(a.aggregations) + where
	case len(a.aggregations) == 0:
		return "distinct " + joined(a.keys, ", ") + where
	}
	return fmt.Sprintf("group by %s: %s%s", joined(a.keys, ", "), describedAggregations(a.aggregations), where)
}

func (a *Aggregate) estimate(_ *Analysis, first Size) Size {
	if len(a.keys) == 0 {
		return Size{Rows: 1, Exact: true}
	}
	return scaled(scaled(first, selectivity(a.options.Where)), keptByGrouping)
}

func (a *Aggregate) isEmpty() bool { return isNothing(a.input) && len(a.keys) > 0 }

func (a *Aggregate) readsOrder(_ int, own bool) bool {
	for _, k := range a.keys {
		// The first of equal keys is the one in the result, and −0 is equal to 0.
		if t := typeOf(k, a.input.Schema()); t == nil || isFloat(t) {
			return true
		}
	}
	return own && a.options.Order == group.FirstAppearance || !ofAnyOrder(a.aggregations)
}

func (a *Aggregate) conditionBelow() func(expr.Expr) (expr.Expr, bool) {
	return onKeys(a.input.Schema(), a.keys)
}

func (a *Aggregate) reads(wanted columnSet) []columnSet {
	read := columnSet{}.read(a.keys...).read(a.options.Where)
	for _, each := range a.needed(wanted) {
		each.columns(read)
	}
	return []columnSet{read}
}

func (a *Aggregate) pruned(inputs []Node, wanted columnSet) (Node, error) {
	list := a.needed(wanted)
	if len(list) == len(a.aggregations) {
		return nil, nil
	}
	return node(NewAggregate(inputs[0], a.keys, list, a.options))
}

func (a *Aggregate) simplified() (Node, error) {
	s := newSimplifier(a.input.Schema())
	keys, aggregations := s.all(a.keys), s.aggregations(a.aggregations)
	if !s.changed {
		return nil, nil
	}
	return node(NewAggregate(a.input, keys, aggregations, a.options))
}

func (a *Aggregate) same(other Node) bool {
	o, ok := other.(*Aggregate)
	return ok && a.options.Same(o.options) && sameExpressions(a.keys, o.keys) && slices.EqualFunc(a.aggregations, o.aggregations, Aggregation.same)
}

func (a *Aggregate) origin(name string) (Node, string) {
	key, ok := a.keyNamed(name)
	if !ok {
		return nil, ""
	}
	from, ok := plainColumn(key)
	if !ok {
		return nil, ""
	}
	return a.input, from
}

// keyNamed returns the key of a name if rows of other groups change nothing in a group: not the
// order of the groups.
func (a *Aggregate) keyNamed(name string) (expr.Expr, bool) {
	at := slices.IndexFunc(a.keys, func(k expr.Expr) bool { return k.Name() == name })
	if at < 0 || a.options.Order != group.Unspecified {
		return expr.Expr{}, false
	}
	return Unnamed(a.keys[at]), true
}

func (a *Aggregate) partialTables() partialTables { return partialStates }

func (a *Aggregate) divided(d *distribution, inputs []spread) (spread, error) {
	if !inputs[0].all || slices.ContainsFunc(a.aggregations, isRowNumber) {
		return spread{}, nil
	}
	return d.aggregate(a, inputs[0].node)
}

// Combines reports whether a device may combine partial results of rows that are not
// consecutive: then the groups do not depend on the order of the rows.
func (a *Aggregate) Combines() bool { return !a.readsOrder(0, true) }
