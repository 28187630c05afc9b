package exec

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// aggregate groups the rows of the input. A single table is aggregated at once; of several,
// each one's partial result is kept, and they are merged.
func aggregate(s *stage, n *plan.Aggregate) func(context.Context) (*buffer.Buffer, error) {
	return func(ctx context.Context) (*buffer.Buffer, error) {
		g, err := newGrouping(s, n)
		if err != nil {
			return nil, err
		}
		made, err := g.all(ctx)
		if err != nil {
			return nil, err
		}
		return g.finish(ctx, made)
	}
}

type grouping struct {
	*stage
	of         *plan.Aggregate
	aggregates []group.Aggregate
	options    group.ByOptions
}

func newGrouping(s *stage, n *plan.Aggregate) (*grouping, error) {
	aggregates, err := n.Aggregates()
	if err != nil {
		return nil, err
	}
	g := &grouping{s, n, aggregates, group.ByOptions{Options: s.options(), Order: n.Options().Order}}
	if n.Options().DropNulls {
		g.options.Nulls = group.DropNulls
	}
	if len(n.GroupKeys()) == 0 {
		g.options.MaxGroups = 1
	}
	return g, nil
}

// all aggregates all tables of the input.
func (g *grouping) all(ctx context.Context) (*buffer.Buffer, error) {
	input := g.inputs[0]
	first, err := input.Next(ctx)
	if err == errEnd {
		first, err = Empty(ctx, g.settings.Manager, input.Schema(), g.settings.Tag)
		if err != nil {
			return nil, err
		}
		return g.single(ctx, first)
	}
	if err != nil {
		return nil, err
	}
	second, err := input.Next(ctx)
	switch {
	case err == errEnd:
		return g.single(ctx, first)
	case err != nil:
		return releasing(nil, err, first)
	}
	return g.several(ctx, first, second)
}

// single aggregates the only table. It takes it over.
func (g *grouping) single(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	made, err := group.By(table, g.of.Keys()...).Aggregate(ctx, g.aggregates, g.options)
	return releasing(made, err, table)
}

// several merges the partial results of two tables and all that follow. Aggregates without
// a partial result are computed of all rows together.
func (g *grouping) several(ctx context.Context, tables ...*buffer.Buffer) (*buffer.Buffer, error) {
	var partials []*buffer.Buffer
	for {
		for i, table := range tables {
			partial, err := group.By(table, g.of.Keys()...).Partial(ctx, g.aggregates, g.options)
			if err != nil && len(partials) == 0 && errors.Is(err, device.ErrNotSupported) {
				return g.together(ctx, tables)
			}
			partial, err = releasing(partial, err, table)
			if err != nil {
				return releasing(nil, err, append(partials, tables[i+1:]...)...)
			}
			partials = append(partials, partial)
		}
		next, err := g.inputs[0].Next(ctx)
		if err == errEnd {
			break
		}
		if err != nil {
			return releasing(nil, err, partials...)
		}
		tables = []*buffer.Buffer{next}
	}
	made, err := group.Merge(ctx, g.inputs[0].Schema(), partials, g.aggregates, g.mergeOptions())
	return releasing(made, err, partials...)
}

// mergeOptions are the options of a merge, whose rows were selected before.
func (g *grouping) mergeOptions() group.ByOptions {
	options := g.options
	options.Nulls = group.KeepNulls
	return options
}

// together aggregates some tables and all that follow as one.
func (g *grouping) together(ctx context.Context, tables []*buffer.Buffer) (*buffer.Buffer, error) {
	all, err := g.collect(ctx, &ahead{Reader: g.inputs[0], tables: tables})
	if err != nil {
		return nil, err
	}
	return g.single(ctx, all)
}

// ahead is a reader with tables that were read before.
type ahead struct {
	buffer.Reader
	tables []*buffer.Buffer
}

// Next implements buffer.Reader.
func (a *ahead) Next(ctx context.Context) (*buffer.Buffer, error) {
	if len(a.tables) == 0 {
		return a.Reader.Next(ctx)
	}
	table := a.tables[0]
	a.tables = a.tables[1:]
	return table, nil
}

// finish returns the columns of the node. It takes over the table.
func (g *grouping) finish(ctx context.Context, made *buffer.Buffer) (*buffer.Buffer, error) {
	if len(g.of.GroupKeys()) > 0 {
		if len(g.of.Aggregations()) > 0 {
			return made, nil
		}
		keys, err := columns(made, g.of.Schema())
		return releasing(keys, err, made)
	}
	rows, err := made.NumRows(ctx)
	if err != nil {
		return releasing(nil, err, made)
	}
	if rows == 0 {
		none, err := g.ofNothing(ctx)
		return releasing(none, err, made)
	}
	values, err := columns(made, g.of.Schema())
	return releasing(values, err, made)
}

// columns returns the columns of a schema.
func columns(table *buffer.Buffer, schema *arrow.Schema) (*buffer.Buffer, error) {
	names := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		names[i] = f.Name
	}
	return table.Select(names...)
}

// counting are the functions that are zero for no rows. Others are null, or an empty list.
var counting = map[string]bool{"count": true, "count_values": true, "null_count": true, "count_distinct": true}

// ofNothing returns the aggregates of no rows.
func (g *grouping) ofNothing(ctx context.Context) (*buffer.Buffer, error) {
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, g.of.Schema())
	defer builder.Release()
	for i, a := range g.of.Aggregations() {
		switch b := builder.Field(i).(type) {
		case *array.Int64Builder:
			if counting[a.Function] {
				b.Append(0)
			} else {
				b.AppendNull()
			}
		case *array.ListBuilder:
			b.Append(true)
		default:
			b.AppendNull()
		}
	}
	record := builder.NewRecord()
	defer record.Release()
	return buffer.FromRecordWith(ctx, g.settings.Manager, record, buffer.LoadOptions{Tag: g.settings.Tag})
}
