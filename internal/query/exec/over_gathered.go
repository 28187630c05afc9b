package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/kernels/selection"
	windows "github.com/gpuframe/gpuframe/kernels/window"
)

// Aggregates of frames that package window does not have are those of groups: the rows of each frame are copied with the number
// of the frame. A block of frames is copied at a time, half as many after memory was short.

// mostGathered is the most rows that are copied at a time.
const mostGathered = 1 << 22

// frameAggregation is an aggregation of the frames of a table's rows.
type frameAggregation struct {
	*stage
	aggregation plan.Aggregation
	// inputs are the values of the aggregation in the rows of the table, and its condition.
	inputs *buffer.Buffer
	frames *windows.Frames
	// firsts are the first places of the frames, counts their rows.
	firsts, counts []int64
}

// The names of the columns of gathered rows.
const (
	frameColumn, firstColumn, membersColumn, existsColumn = "frame", "first", "members", "exists"
	conditionColumn, resultColumn, countColumn            = "condition", "result", "count"
)

func gatheredValue(i int) string { return fmt.Sprint("value ", i) }

// gatherFrames returns the column of an aggregation of an Over node.
func (s *stage) gatherFrames(ctx context.Context, table *buffer.Buffer, n *plan.Over, number int) (result *column.Column, err error) {
	g := &frameAggregation{stage: s, aggregation: n.Aggregations()[number]}
	var owned release.Stack
	defer func() {
		if err = errors.Join(err, owned.Release()); err != nil {
			result, err = nil, errors.Join(err, result.Release())
		}
	}()
	if g.inputs, err = g.evaluate(ctx, table); err != nil {
		return nil, err
	}
	owned.Add(g.inputs)
	if g.frames, err = windows.FramesOf(ctx, table, n.Windows(), g.aggregation.Frame.FrameFunction(), g.options()); err != nil {
		return nil, err
	}
	owned.Add(g.frames)
	if g.firsts, err = hostIntegers(ctx, g.frames.First); err != nil {
		return nil, err
	}
	if g.counts, err = hostIntegers(ctx, g.frames.Count); err != nil {
		return nil, err
	}
	return g.blocks(ctx)
}

// hostIntegers returns a copy of a column of int64.
func hostIntegers(ctx context.Context, c *column.Column) ([]int64, error) {
	values, err := c.Array(ctx)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	return append([]int64(nil), values.(*array.Int64).Int64Values()...), nil
}

// evaluate computes the values and the condition, and replaces them by their columns.
func (g *frameAggregation) evaluate(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	a := &g.aggregation
	var list []expr.Expr
	values := make([]expr.Expr, len(a.Values))
	for i, e := range a.Values {
		list, values[i] = append(list, e.As(gatheredValue(i))), expr.Col(gatheredValue(i))
	}
	if !a.Where.IsZero() {
		list, a.Where = append(list, a.Where.As(conditionColumn)), expr.Col(conditionColumn)
	}
	a.Values, a.Name = values, resultColumn
	return expr.Project(ctx, table, list, g.options())
}

// blocks computes the frames of blocks of rows.
func (g *frameAggregation) blocks(ctx context.Context) (*column.Column, error) {
	var parts []*buffer.Buffer
	limit := int64(mostGathered)
	for begin := 0; begin < len(g.counts) || parts == nil; {
		end, members := begin, int64(0)
		for end < len(g.counts) && (end == begin || members+max(g.counts[end], 1) <= limit) {
			members += max(g.counts[end], 1)
			end++
		}
		part, err := g.block(ctx, begin, end)
		if isTooLarge(err) && ctx.Err() == nil && end-begin > 1 {
			limit = max(members/2, 1)
			continue
		}
		if err != nil {
			return nil, errors.Join(err, release.All(parts))
		}
		parts, begin = append(parts, part), max(end, 1)
	}
	all := parts[0]
	if len(parts) > 1 {
		var err error
		all, err = selection.Concat(ctx, parts, g.options())
		if all, err = release.OnError(all, err, release.All(parts)); err != nil {
			return nil, err
		}
	}
	result := all.Column(0)
	return release.OnError(result, result.Retain(), all.Release())
}

// block computes the frames of some rows.
func (g *frameAggregation) block(ctx context.Context, begin, end int) (*buffer.Buffer, error) {
	members, err := g.members(ctx, begin, end)
	if err != nil {
		return nil, err
	}
	exists := expr.Col(existsColumn)
	a := g.aggregation
	a.Where = exists
	if !g.aggregation.Where.IsZero() {
		a.Where = exists.And(g.aggregation.Where)
	}
	aggregate, err := a.Build()
	if err != nil {
		return nil, errors.Join(err, members.Release())
	}
	aggregates := []group.Aggregate{aggregate}
	least := a.Frame.AtLeast
	if least > 0 && !a.Properties().KeepsNulls {
		aggregates = append(aggregates, group.Count(a.Values[0]).Where(a.Where).As(countColumn))
	}
	groups, err := group.By(members, group.Columns(frameColumn)...).Aggregate(ctx, aggregates, group.ByOptions{Options: g.options(), Order: group.ByKey})
	if groups, err = release.OnError(groups, err, members.Release()); err != nil {
		return nil, err
	}
	result := expr.Col(resultColumn)
	if len(aggregates) > 1 {
		t := groups.Schema().Field(1).Type
		result = expr.If(expr.Col(countColumn).Ge(expr.Lit(least)), result, expr.Null(t)).As(resultColumn)
	}
	results, err := expr.Project(ctx, groups, []expr.Expr{result}, g.options())
	if results, err = release.OnError(results, err, groups.Release()); err != nil {
		return nil, err
	}
	exact, err := exactRows(ctx, results)
	return release.OnError(exact, err, results.Release())
}

// members returns the rows of the frames of some rows, with the numbers of the frames. An empty frame has a row that does not
// exist.
func (g *frameAggregation) members(ctx context.Context, begin, end int) (*buffer.Buffer, error) {
	places, err := g.places(ctx, begin, end)
	if err != nil {
		return nil, err
	}
	place, err := places.ColumnByName(membersColumn)
	if err != nil {
		return nil, errors.Join(err, places.Release())
	}
	options := selection.TakeOptions{Options: g.options(), Bounds: selection.Null}
	rows, err := selection.TakeColumnWith(ctx, g.frames.Rows, place, options)
	if err != nil {
		return nil, errors.Join(err, places.Release())
	}
	values, err := selection.TakeWith(ctx, g.inputs, rows, options)
	if values, err = release.OnError(values, err, rows.Release()); err != nil {
		return nil, errors.Join(err, places.Release())
	}
	columns := []*column.Column{places.Column(0), places.Column(1)}
	fields := []arrow.Field{places.Schema().Field(0), places.Schema().Field(1)}
	for i, f := range values.Schema().Fields() {
		f.Nullable = true
		columns, fields = append(columns, values.Column(i)), append(fields, f)
	}
	table, err := buffer.New(arrow.NewSchema(fields, nil), columns, places.Rows())
	return release.OnError(table, err, values.Release(), places.Release())
}

// places returns the number of the frame, whether there is a row, and its place, of each row of some frames.
func (g *frameAggregation) places(ctx context.Context, begin, end int) (*buffer.Buffer, error) {
	block, err := g.upload(ctx, begin, end)
	if err != nil {
		return nil, err
	}
	frame := expr.Col(frameColumn)
	lists, err := expr.Project(ctx, block, []expr.Expr{frame, expr.Col(firstColumn), nested.Sequence(expr.Col(countColumn)).As(membersColumn)}, g.options())
	if lists, err = release.OnError(lists, err, block.Release()); err != nil {
		return nil, err
	}
	rows, err := nested.Explode(ctx, lists, []string{membersColumn}, nested.ExplodeOptions{Options: g.options()})
	if rows, err = release.OnError(rows, err, lists.Release()); err != nil {
		return nil, err
	}
	member := expr.Col(membersColumn)
	places, err := expr.Project(ctx, rows, []expr.Expr{frame, member.IsValid().As(existsColumn), expr.Col(firstColumn).Add(member).As(membersColumn)}, g.options())
	return release.OnError(places, err, rows.Release())
}

// upload returns a table of the frames of some rows.
func (g *frameAggregation) upload(ctx context.Context, begin, end int) (*buffer.Buffer, error) {
	integer := arrow.PrimitiveTypes.Int64
	schema := arrow.NewSchema([]arrow.Field{{Name: frameColumn, Type: arrow.PrimitiveTypes.Int32}, {Name: firstColumn, Type: integer}, {Name: countColumn, Type: integer}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	numbers := b.Field(0).(*array.Int32Builder)
	numbers.Reserve(end - begin)
	for i := range end - begin {
		numbers.UnsafeAppend(int32(i))
	}
	b.Field(1).(*array.Int64Builder).AppendValues(g.firsts[begin:end], nil)
	b.Field(2).(*array.Int64Builder).AppendValues(g.counts[begin:end], nil)
	record := b.NewRecord()
	defer record.Release()
	return buffer.FromRecordWith(ctx, g.settings.Manager, record, buffer.LoadOptions{Stream: g.settings.stream(), Tag: g.settings.Tag})
}

// options are those of memory that is released in the end.
func (g *frameAggregation) options() kernels.Options { return g.stage.options() }
