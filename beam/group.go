package gpubeam

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// GroupBy groups the rows of all batches by the step "group" of a document. Each bundle sends the
// states of its groups, divided by a hash of the keys; each partition is merged by one
// worker, which runs the later steps.
//
// # Errors
//
// The error wraps querydata.ErrDocument for a malformed document, [ErrStep] for steps that cannot
// be divided among workers, and [ErrOptions].
func GroupBy(s beam.Scope, options Options, document string, batches beam.PCollection) (beam.PCollection, error) {
	return reduce(s, "GroupBy", "group", options, document, batches)
}

// ordered are the aggregates that depend on the order of the rows.
var ordered = []string{"first", "last", "any_value", "mode", "list", "join_strings"}

// grouping is the reduction of a step "group". Its document becomes three: one computes the keys
// and the arguments of the aggregates of a batch, one has the group step for its schema, and one
// makes the result of the merged groups.
type grouping struct {
	document, arguments, schemaOf string
	keyNames                      []string
	keyless                       bool
	list                          []group.Aggregate
	nulls                         group.Nulls
	// results are the expressions of the aggregates on the columns of the merged groups.
	results []any
	after   []object
}

func newGrouping(document string) (*grouping, error) {
	d, err := parse(document, 1)
	if err != nil {
		return nil, err
	}
	w, err := d.divide("group")
	if err != nil {
		return nil, err
	}
	keys := expressionsOf(w.wide, "keys")
	if function := wideFunction(keys); function != "" {
		return nil, fmt.Errorf("a key has the function %q, which depends on other rows: %w", function, ErrStep)
	}
	g := &grouping{document: document, schemaOf: text(append(slices.Clone(w.before), w.wide)), after: w.after}
	if drop, _ := w.wide["drop_nulls"].(bool); drop {
		g.nulls = group.DropNulls
	}
	if g.keyless = len(keys) == 0; g.keyless {
		keys = []any{object{"function": "literal", "value": 0, "type": "int64"}}
	}
	var columns []any
	for i, key := range keys {
		g.keyNames = append(g.keyNames, fmt.Sprintf("gpubeam key %d", i))
		columns = append(columns, named(key, g.keyNames[i]))
	}
	a := arguments{names: map[string]string{}}
	for _, e := range expressionsOf(w.wide, "aggregates") {
		g.results = append(g.results, a.replace(e, nil))
	}
	if a.err != nil {
		return nil, a.err
	}
	g.list = a.list
	if len(g.list) == 0 { // a partial result has one aggregate or more
		g.list = []group.Aggregate{group.CountAll().As(aggregateName(0))}
	}
	sel := object{"verb": "select", "inputs": w.wide["inputs"], "expressions": append(columns, a.columns...)}
	g.arguments = text(append(slices.Clone(w.before), sel))
	return g, nil
}

func aggregateName(i int) string { return fmt.Sprintf("gpubeam aggregate %d", i) }

// arguments collects the aggregates of expressions, and the columns that they read.
type arguments struct {
	list    []group.Aggregate
	columns []any
	// names are the names of the columns, by their expressions.
	names map[string]string
	err   error
}

// replace returns an expression with columns of results in place of aggregates. The conditions
// are those of functions "where" around it.
func (a *arguments) replace(expression any, conditions []any) any {
	e, ok := expression.(object)
	if !ok {
		return expression
	}
	name, _ := e["function"].(string)
	list := expressionsOf(e, "arguments")
	switch f := catalog.OfDocument(name); {
	case f.Kind == catalog.Aggregated:
		return a.aggregate(e, f, list, conditions)
	case f.ReadsOtherRows():
		a.fail("an aggregate has the function %q, which depends on the order of rows: %w", name, ErrStep)
	}
	if name == "where" && len(list) == 2 {
		return a.replace(list[0], append(slices.Clone(conditions), list[1]))
	}
	if len(list) == 0 {
		return e
	}
	copied := maps.Clone(e)
	replaced := make([]any, len(list))
	for i, argument := range list {
		replaced[i] = a.replace(argument, conditions)
	}
	copied["arguments"] = replaced
	return copied
}

func (a *arguments) fail(format string, values ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, values...)
	}
}

func (a *arguments) aggregate(e object, f *catalog.Function, list, conditions []any) any {
	if slices.Contains(ordered, f.Name) {
		a.fail("the aggregate %q depends on the order of rows, which a collection does not have: use min, max, largest or smallest: %w", f.Name, ErrStep)
		return e
	}
	aggregation := plan.Aggregation{Function: f.Aggregation, Count: f.Freedom, Name: aggregateName(len(a.list))}
	for _, argument := range list {
		aggregation.Values = append(aggregation.Values, a.column(argument))
	}
	for _, c := range conditions {
		if condition := a.column(c); aggregation.Where.IsZero() {
			aggregation.Where = condition
		} else {
			aggregation.Where = aggregation.Where.And(condition)
		}
	}
	if q, ok := e["q"].(json.Number); ok {
		aggregation.Number, _ = q.Float64()
	}
	if n, ok := e["n"].(json.Number); ok {
		aggregation.Count, _ = n.Int64()
	}
	built, err := aggregation.Build()
	if err != nil {
		a.fail("%w: %w", err, ErrStep)
		return e
	}
	a.list = append(a.list, built)
	return column(aggregation.Name)
}

// column returns the column of an argument.
func (a *arguments) column(argument any) expr.Expr {
	if function := wideFunction(argument); function != "" {
		a.fail("an aggregate is of the function %q, which depends on other rows: %w", function, ErrStep)
	}
	key, _ := json.Marshal(argument)
	name, known := a.names[string(key)]
	if !known {
		name = fmt.Sprintf("gpubeam argument %d", len(a.columns))
		a.names[string(key)] = name
		a.columns = append(a.columns, named(argument, name))
	}
	return expr.Col(name)
}

// keys implements reduction.
func (g *grouping) keys(*arrow.Schema) []expr.Expr {
	if g.keyless {
		return nil
	}
	var list []expr.Expr
	for _, name := range g.keyNames {
		list = append(list, expr.Col(name))
	}
	return list
}

// part implements reduction: it returns the states of the groups of a batch.
func (g *grouping) part(ctx context.Context, e *gpuframe.Engine, batch arrow.Record) (record arrow.Record, err error) {
	q, err := onRecords(e, g.arguments, []arrow.Record{batch})
	if err != nil {
		return nil, err
	}
	frame, err := q.Collect(ctx)
	if err != nil {
		return nil, err
	}
	states, err := group.By(frame.Table(), group.Columns(g.keyNames...)...).Partial(ctx, g.list, group.ByOptions{Nulls: g.nulls})
	if err = errors.Join(err, frame.Release()); err != nil {
		return nil, errors.Join(err, states.Release())
	}
	return download(ctx, states, batch.Schema())
}

// download copies states to the host, with the schema of the batches that they are of, and
// releases them.
func download(ctx context.Context, states *buffer.Buffer, source *arrow.Schema) (arrow.Record, error) {
	record, err := states.Record(ctx)
	if err = errors.Join(err, states.Release()); err != nil {
		return nil, err
	}
	return withSource(record, source)
}

// sourceKey is the key of a schema in the metadata of states.
const sourceKey = "gpubeam source"

func withSource(record arrow.Record, source *arrow.Schema) (arrow.Record, error) {
	encoded, err := encodeBatch(Batch{emptyRecord(source)})
	if err != nil {
		return nil, err
	}
	metadata := arrow.NewMetadata([]string{sourceKey}, []string{base64.StdEncoding.EncodeToString(encoded)})
	return array.NewRecord(arrow.NewSchema(record.Schema().Fields(), &metadata), record.Columns(), record.NumRows()), nil
}

// sourceOf returns the schema of the batches that states are of.
func sourceOf(states arrow.Record) (*arrow.Schema, error) {
	text, ok := states.Schema().Metadata().GetValue(sourceKey)
	if !ok {
		return nil, fmt.Errorf("the states of groups have no source schema: %w", ErrBatch)
	}
	encoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the source schema of states of groups: %w: %w", err, ErrBatch)
	}
	b, err := decodeBatch(bytes.Clone(encoded))
	if err != nil {
		return nil, err
	}
	return b.record.Schema(), nil
}

// merging are states in device memory, with the schemas of their batches, and of the keys and arguments.
type merging struct {
	tables            []*buffer.Buffer
	source, arguments *arrow.Schema
}

func (m *merging) release() error {
	var failures []error
	for _, t := range m.tables {
		failures = append(failures, t.Release())
	}
	return errors.Join(failures...)
}

// load copies states to the device.
func (g *grouping) load(ctx context.Context, e *gpuframe.Engine, parts []arrow.Record) (*merging, error) {
	source, err := sourceOf(parts[0])
	if err != nil {
		return nil, err
	}
	q, err := onRecords(e, g.arguments, []arrow.Record{emptyRecord(source)})
	if err != nil {
		return nil, err
	}
	m := &merging{source: source}
	if m.arguments, err = q.Schema(ctx); err != nil {
		return nil, err
	}
	for _, part := range parts {
		table, err := load(ctx, e, part)
		if err != nil {
			return nil, errors.Join(err, m.release())
		}
		m.tables = append(m.tables, table)
	}
	return m, nil
}

// combine implements reduction.
func (g *grouping) combine(ctx context.Context, e *gpuframe.Engine, parts []arrow.Record) (arrow.Record, error) {
	m, err := g.load(ctx, e, parts)
	if err != nil {
		return nil, err
	}
	combined, err := group.Combine(ctx, m.arguments, m.tables, g.list)
	if err = errors.Join(err, m.release()); err != nil {
		return nil, errors.Join(err, combined.Release())
	}
	return download(ctx, combined, m.source)
}

// finish implements reduction.
func (g *grouping) finish(ctx context.Context, e *gpuframe.Engine, parts []arrow.Record) ([]arrow.Record, error) {
	m, err := g.load(ctx, e, parts)
	if err != nil {
		return nil, err
	}
	merged, err := group.Merge(ctx, m.arguments, m.tables, g.list)
	if err = errors.Join(err, m.release()); err != nil {
		return nil, errors.Join(err, merged.Release())
	}
	record, err := merged.Record(ctx)
	if err = errors.Join(err, merged.Release()); err != nil {
		return nil, err
	}
	if g.keyless && record.NumRows() == 0 { // the aggregates of no rows
		return answer(ctx, e, "", g.document, []arrow.Record{emptyRecord(m.source)})
	}
	document, err := g.final(ctx, e, m.source)
	if err != nil {
		return nil, err
	}
	return answer(ctx, e, "", document, []arrow.Record{record})
}

// final returns the document that makes the result of the merged groups. The names of its columns
// are those of the group step.
func (g *grouping) final(ctx context.Context, e *gpuframe.Engine, source *arrow.Schema) (string, error) {
	q, err := onRecords(e, g.schemaOf, []arrow.Record{emptyRecord(source)})
	if err != nil {
		return "", err
	}
	schema, err := q.Schema(ctx)
	if err != nil {
		return "", err
	}
	var merged, results []any
	keys := len(g.keyNames)
	if g.keyless {
		keys = 0
	}
	for i, name := range g.keyNames[:keys] {
		merged = append(merged, named(column(name), schema.Field(i).Name))
		results = append(results, column(schema.Field(i).Name))
	}
	for i := range g.list {
		merged = append(merged, column(aggregateName(i)))
	}
	for i, e := range g.results {
		results = append(results, named(e, schema.Field(keys+i).Name))
	}
	steps := []object{givenStep(0),
		{"verb": "select", "inputs": []int{0}, "expressions": merged},
		{"verb": "select", "inputs": []int{1}, "expressions": results},
	}
	for _, step := range g.after[1:] {
		steps = append(steps, shifted(step, 2))
	}
	return text(steps), nil
}
