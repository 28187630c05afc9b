package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// grouping groups the rows of its input. A single table is aggregated directly; of several,
// each one's partial result is kept, and they are merged in the end. If memory does not
// suffice for that, they are divided by a hash of the keys, and each part is merged
// separately.
type grouping struct {
	*stage
	plan *plan.Aggregate
	// rows is the schema of the rows that are grouped.
	rows       *arrow.Schema
	aggregates []group.Aggregate
	options    group.ByOptions
	started    bool
	// merges is set if the input has partial results.
	merges bool
	// parts are partial results to merge.
	parts []dividedPart
}

// dividedPart is a part of rows that were divided by hashes, and how often they were.
type dividedPart struct {
	*held
	level int
}

// newGroups makes the reader of groups of rows.
func newGroups(s *stage, n *plan.Aggregate) (buffer.Reader, error) {
	g, err := newGrouping(s, n, s.inputs[0].Schema())
	if err != nil {
		return nil, err
	}
	return g, nil
}

func newGrouping(s *stage, n *plan.Aggregate, rows *arrow.Schema) (*grouping, error) {
	aggregates, err := n.Aggregates()
	if err != nil {
		return nil, err
	}
	g := &grouping{stage: s, plan: n, rows: rows, aggregates: aggregates, options: group.ByOptions{Options: s.options(), Order: n.Options().Order, FixedPointSums: s.settings.FixedPointSums}}
	if n.Options().DropNulls {
		g.options.Nulls = group.DropNulls
	}
	if len(n.GroupKeys()) == 0 {
		g.options.MaxGroups = 1
	}
	return g, nil
}

// Next implements buffer.Reader.
func (g *grouping) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := g.next(ctx)
	return table, g.failed(err)
}

func (g *grouping) next(ctx context.Context) (*buffer.Buffer, error) {
	if !g.started {
		g.started = true
		if len(g.inputs) == 0 {
			return nil, errEnd
		}
		read := g.read
		if g.merges {
			read = g.readPartials
		}
		groups, err := read(ctx)
		if err != nil {
			return nil, unended(err)
		}
		if groups != nil {
			return g.finish(ctx, groups)
		}
	}
	for len(g.parts) > 0 {
		part := g.parts[0]
		g.parts = g.parts[1:]
		groups, err := g.merge(ctx, part.held)
		if isShort(err) {
			parts, err := g.smaller(ctx, part, err)
			g.parts = append(g.parts, parts...)
			if err != nil {
				return nil, unended(err)
			}
			continue
		}
		if failure := part.Release(); failure != nil {
			return nil, errors.Join(err, failure, groups.Release())
		}
		if err != nil {
			return nil, unended(err)
		}
		return g.finish(ctx, groups)
	}
	return nil, errEnd
}

// smaller takes over a part that memory did not suffice to merge. It returns the part with fewer partial
// results, or its parts by a hash of the keys, or else the cause.
func (g *grouping) smaller(ctx context.Context, part dividedPart, cause error) (parts []dividedPart, err error) {
	tables := len(part.tables)
	combined, err := g.combine(ctx, part.held)
	if err == nil && combined && len(part.tables) < tables {
		return []dividedPart{part}, nil
	}
	if err != nil || !g.divisible() || part.level >= mostLevels {
		return nil, errors.Join(cause, err, part.Release())
	}
	divided, err := part.byHash(ctx, expr.Hash(g.keyColumns()...), part.level)
	if err == nil {
		err = checkDivided(divided)
	}
	if err != nil {
		return nil, errors.Join(cause, err, part.Release())
	}
	for _, p := range divided {
		parts = append(parts, dividedPart{p, part.level + 1})
	}
	return parts, part.Release()
}

// divisible reports whether groups may come in any order.
func (g *grouping) divisible() bool {
	return len(g.plan.GroupKeys()) > 0 && g.plan.Options().Order == group.Unspecified
}

// keyColumns returns the columns of the keys in a partial result.
func (g *grouping) keyColumns() []expr.Expr {
	list := make([]expr.Expr, len(g.plan.GroupKeys()))
	for i, k := range g.plan.GroupKeys() {
		list[i] = expr.Col(k.Name())
	}
	return list
}

// read reads the input. It returns the result, or leaves partial results in parts.
func (g *grouping) read(ctx context.Context) (*buffer.Buffer, error) {
	input := g.inputs[0]
	first, err := input.Next(ctx)
	if err == nil {
		first, err = counted(ctx, first)
	}
	if err == errEnd {
		return g.emptyResult(ctx)
	}
	if err != nil {
		return nil, err
	}
	second, err := input.Next(ctx)
	switch {
	case err == errEnd:
		groups, err := g.aggregateTable(ctx, first)
		if !isShort(err) {
			return release.OnError(groups, err, first.Release())
		}
		return g.collectPartials(ctx, first)
	case err != nil:
		return nil, errors.Join(err, first.Release())
	}
	return g.collectPartials(ctx, first, second)
}

// emptyResult returns the groups of no rows. One of several devices has no groups then.
func (g *grouping) emptyResult(ctx context.Context) (*buffer.Buffer, error) {
	if g.worker != nil && len(g.plan.GroupKeys()) > 0 {
		return nil, nil
	}
	empty, err := Empty(ctx, g.settings.Manager, g.rows, g.settings.Tag)
	if err != nil {
		return nil, err
	}
	groups, err := g.aggregateTable(ctx, empty)
	return release.OnError(groups, err, empty.Release())
}

// aggregateTable aggregates a table.
func (g *grouping) aggregateTable(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	return g.widening(ctx, table, func(table *buffer.Buffer) (*buffer.Buffer, error) {
		kept, err := g.filtered(ctx, table)
		if err != nil {
			return nil, err
		}
		if kept == nil {
			return g.by(table).Aggregate(ctx, g.aggregates, g.options)
		}
		groups, err := group.By(kept, g.plan.Keys()...).Aggregate(ctx, g.aggregates, g.options)
		return release.OnError(groups, err, kept.Release())
	})
}

// filtered returns the rows of a table that meet the condition, if the budget permits no room for all rows but for a
// copy of those, or nil: then they are filtered while they are grouped.
func (g *grouping) filtered(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	where, rowBytes := g.plan.Options().Where, float64(plan.RowBytesOf(g.plan.Inputs()[0].Schema()))
	if where.IsZero() || g.fits(uint64(rowBytes*float64(table.Capacity()))) {
		return nil, nil
	}
	matches, err := g.find(ctx, table, where, rowBytes)
	if matches == nil {
		return nil, err
	}
	kept, err := matches.Copy(ctx, nil, g.stage.options())
	if isShort(err) {
		err = nil
	}
	if failure := errors.Join(err, matches.Release()); failure != nil {
		return release.OnError(kept, failure)
	}
	return kept, nil
}

// by returns the groups of a table's rows.
func (g *grouping) by(table *buffer.Buffer) group.Query {
	query := group.By(table, g.plan.Keys()...)
	if where := g.plan.Options().Where; !where.IsZero() {
		query = query.Where(where)
	}
	return query
}

// collectPartials makes partial results of some tables, which it takes over, and all that follow.
// Aggregates without a partial result are computed of all rows together.
func (g *grouping) collectPartials(ctx context.Context, tables ...*buffer.Buffer) (*buffer.Buffer, error) {
	partials, rest, err := g.partials(ctx, tables...)
	if err != nil {
		return nil, err
	}
	if partials == nil {
		return g.concatAndAggregate(ctx, rest)
	}
	g.parts = []dividedPart{{partials, 0}}
	return nil, nil
}

// partials makes partial results of some tables, which it takes over, and all that follow. If the
// aggregates have none, it returns the tables instead.
func (g *grouping) partials(ctx context.Context, tables ...*buffer.Buffer) (partials *held, unused []*buffer.Buffer, err error) {
	partials, limit := &held{stage: g.stage}, mostPartials
	var rest pieces
	for _, t := range slices.Backward(tables) {
		rest.push(t)
	}
	for {
		for !rest.isEmpty() {
			partial, err := rest.next(ctx, func(piece *buffer.Buffer) (*buffer.Buffer, error) {
				return g.by(piece).Partial(ctx, g.aggregates, g.options)
			})
			if err != nil && partials.schema == nil && errors.Is(err, device.ErrNotSupported) {
				return nil, rest.take(), nil
			}
			if err == nil {
				limit, err = g.keep(ctx, partials, partial, limit)
			}
			if err != nil {
				return nil, nil, errors.Join(err, partials.Release(), rest.Release())
			}
		}
		next, err := g.inputs[0].Next(ctx)
		if err == errEnd {
			return partials, nil, nil
		}
		if err != nil {
			return nil, nil, errors.Join(err, partials.Release())
		}
		rest.push(next)
	}
}

// keep adds a partial result, and combines all when their number reaches the limit. It returns
// the next limit.
func (g *grouping) keep(ctx context.Context, partials *held, partial *buffer.Buffer, limit int) (int, error) {
	partials.schema = partial.Schema()
	err := partials.add(ctx, partial)
	if err == nil && len(partials.tables) >= limit {
		_, err = g.combine(ctx, partials)
		limit = max(mostPartials, 2*len(partials.tables))
	}
	return limit, err
}

// mostPartials is the number of partial results that are combined. If many are left, because memory
// does not suffice, it is tried again with twice as many.
const mostPartials = 32

// combine replaces partial results by fewer: by one if memory suffices, else it combines sequences that
// memory suffices for. It stops at a sequence that has too many groups to become much smaller, and returns
// false.
func (g *grouping) combine(ctx context.Context, partials *held) (combined bool, err error) {
	if len(partials.tables) < 2 {
		return false, nil // a single result is not in the list
	}
	results := &held{stage: g.stage, schema: partials.schema}
	combined = true
	for err == nil && combined && len(partials.tables) > 1 {
		combined, err = g.combineFirst(ctx, partials, results)
	}
	if err == nil {
		err = results.addAll(ctx, partials.tables)
	}
	if err != nil {
		return false, errors.Join(err, results.Release())
	}
	*partials = *results
	return combined, nil
}

// combineFirst combines the first partial results that memory suffices for, and adds the result to
// others. It returns false if memory does not suffice for two, or if some are left and the result
// has more than half of the rows.
func (g *grouping) combineFirst(ctx context.Context, partials, results *held) (fewer bool, err error) {
	tables, err := partials.acquireTables(ctx)
	if isShort(err) {
		tables, err = firstHalf(tables)
	}
	var combined *buffer.Buffer
	for err == nil && combined == nil && len(tables) > 1 {
		combined, err = group.Combine(ctx, g.rows, tables, g.aggregates, g.mergeOptions())
		if isShort(err) {
			tables, err = firstHalf(tables)
		}
	}
	fewer = true
	if combined != nil && len(tables) < len(partials.tables) {
		fewer, err = halvesRows(ctx, combined, tables)
	}
	if combined, err = release.OnError(combined, err, release.All(tables)); combined == nil {
		return false, err
	}
	if err := partials.drop(len(tables)); err != nil {
		return false, errors.Join(err, combined.Release())
	}
	return fewer, results.add(ctx, combined)
}

// firstHalf releases the other half of some tables.
func firstHalf(tables []*buffer.Buffer) ([]*buffer.Buffer, error) {
	half := len(tables) / 2
	err := release.All(tables[half:])
	return tables[:half], err
}

// halvesRows reports whether a table has at most half of the rows of others.
func halvesRows(ctx context.Context, table *buffer.Buffer, others []*buffer.Buffer) (bool, error) {
	rows, err := table.NumRows(ctx)
	total := int64(0)
	for _, t := range others {
		if err != nil {
			break
		}
		var n int64
		n, err = t.NumRows(ctx)
		total += n
	}
	return 2*rows <= total, err
}

// mergeOptions are the options for partial results. Their rows were selected before.
func (g *grouping) mergeOptions() group.ByOptions {
	options := g.options
	options.Nulls = group.KeepNulls
	return options
}

// merge merges partial results. There may be none, if all tables were empty.
func (g *grouping) merge(ctx context.Context, partials *held) (*buffer.Buffer, error) {
	tables, err := partials.acquire(ctx)
	if err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		empty, err := Empty(ctx, g.settings.Manager, partials.schema, g.settings.Tag)
		if err != nil {
			return nil, err
		}
		tables = append(tables, empty)
	}
	merged, err := group.Merge(ctx, g.rows, tables, g.aggregates, g.mergeOptions())
	return release.OnError(merged, err, release.All(tables))
}

// concatAndAggregate aggregates tables and all that follow as one.
func (g *grouping) concatAndAggregate(ctx context.Context, tables []*buffer.Buffer) (*buffer.Buffer, error) {
	all, err := g.collect(ctx, g.inputs[0], tables...)
	if err != nil {
		return nil, err
	}
	groups, err := g.aggregateTable(ctx, all)
	return release.OnError(groups, err, all.Release())
}

// Close implements buffer.Reader.
func (g *grouping) Close() error {
	err := release.All(g.parts)
	g.parts = nil
	return errors.Join(err, g.stage.Close())
}

// finish returns the columns of the node. It takes over the table.
func (g *grouping) finish(ctx context.Context, groups *buffer.Buffer) (*buffer.Buffer, error) {
	if len(g.plan.GroupKeys()) > 0 {
		if len(g.plan.Aggregations()) > 0 {
			return groups, nil
		}
		keys, err := columns(groups, g.plan.Schema())
		return release.OnError(keys, err, groups.Release())
	}
	rows, err := groups.NumRows(ctx)
	if err != nil {
		return nil, errors.Join(err, groups.Release())
	}
	if rows == 0 {
		row, err := g.emptyInputRow(ctx)
		return release.OnError(row, err, groups.Release())
	}
	values, err := columns(groups, g.plan.Schema())
	return release.OnError(values, err, groups.Release())
}

// columns returns the columns of a schema.
func columns(table *buffer.Buffer, schema *arrow.Schema) (*buffer.Buffer, error) {
	names := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		names[i] = f.Name
	}
	return table.Select(names...)
}

// emptyInputRow returns the row of aggregates of no rows: 0 of those that count, an empty list, or null.
func (g *grouping) emptyInputRow(ctx context.Context) (*buffer.Buffer, error) {
	schema := g.plan.Schema()
	values := make([]arrow.Array, 0, schema.NumFields())
	defer func() { hostarray.Release(values) }()
	for i, a := range g.plan.Aggregations() {
		element := hostarray.Null
		collects := a.Function == "list" || a.Function == "largest" || a.Function == "smallest" // others are of lists: no value is null
		if t := schema.Field(i).Type; t.ID() == arrow.LIST && collects || t.ID() == arrow.INT64 && a.Properties().CountsRows {
			element = hostarray.Zero
		}
		var value arrow.Array
		var err error
		if a.Folding != nil {
			value, err = g.foldedNothing(ctx, i)
		} else {
			value, err = element(schema.Field(i).Type)
		}
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	record := array.NewRecord(schema, values, 1)
	defer record.Release()
	return buffer.FromRecordWith(ctx, g.settings.Manager, record, buffer.LoadOptions{Stream: g.settings.stream(), Tag: g.settings.Tag})
}

// foldedNothing returns the result of an aggregate with a folding for no rows: that of a null.
func (g *grouping) foldedNothing(ctx context.Context, i int) (arrow.Array, error) {
	const name = "value"
	t, _, err := g.plan.Aggregations()[i].Values[0].Type(g.rows)
	if err != nil {
		return nil, err
	}
	null, err := hostarray.Null(t)
	if err != nil {
		return nil, err
	}
	defer null.Release()
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: name, Type: t, Nullable: true}}, nil), []arrow.Array{null}, 1)
	defer record.Release()
	row, err := buffer.FromRecordWith(ctx, g.settings.Manager, record, buffer.LoadOptions{Stream: g.settings.stream(), Tag: g.settings.Tag})
	if err != nil {
		return nil, err
	}
	folding := group.Fold(expr.Col(name), g.plan.Aggregations()[i].Folding).As(name)
	groups, err := group.By(row, g.plan.Keys()...).Aggregate(ctx, []group.Aggregate{folding}, group.ByOptions{Options: g.stage.options(), MaxGroups: 1})
	if groups, err = release.OnError(groups, err, row.Release()); err != nil {
		return nil, err
	}
	results, err := column.ToArrays(ctx, []*column.Column{groups.Column(groups.NumColumns() - 1)}, column.DownloadOptions{Stream: g.settings.stream()})
	if err = errors.Join(err, groups.Release()); err != nil {
		release.Arrow(results)
		return nil, err
	}
	return results[0], nil
}
