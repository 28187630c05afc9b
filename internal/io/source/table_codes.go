package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// codeFilter selects rows of the tables that a device decodes, before it makes text of them: columns of text that have only codes
// of dictionaries are decoded as these, conditions on them are evaluated once for each value of a dictionary, and conditions
// on other columns for each row. It is safe for concurrent use.
type codeFilter struct {
	conditions []codeCondition
	counters   *Counters
	// idle is set after a table of which the conditions leave out few rows: the next ones are decoded as text.
	idle atomic.Bool
}

// newCodeFilter returns the filter of a request, or nil if it has no conditions that can be evaluated early.
func newCodeFilter(schema *arrow.Schema, request Request) *codeFilter {
	conditions := codeConditions(schema, request)
	if len(conditions) == 0 {
		return nil
	}
	return &codeFilter{conditions: conditions, counters: request.Counters.or()}
}

// rowsOfValue is the least number of rows for each value of the dictionaries of a column that is decoded as codes.
const rowsOfValue = 2

// encode changes the types of columns at places to those of dictionaries, if their column chunks have only codes, and if conditions
// can be evaluated then. f may be nil.
func (f *codeFilter) encode(columns []chunks.Column, places []int) {
	if f == nil || f.idle.Load() {
		return
	}
	coded := make([]bool, len(columns))
	for i, c := range columns {
		coded[i] = c.Nested == nil && (c.Type.ID() == arrow.STRING || c.Type.ID() == arrow.BINARY) && hasOnlyCodes(c.Chunks)
	}
	evaluated := func(c codeCondition) bool {
		i := slices.Index(places, c.place)
		return i >= 0 && (coded[i] || !arrow.IsBaseBinary(columns[i].Type.ID()))
	}
	if !slices.ContainsFunc(f.conditions, evaluated) {
		return
	}
	for i := range columns {
		if coded[i] {
			columns[i].Type = encodedType(columns[i].Type)
		}
	}
}

// hasOnlyCodes reports whether all values of column chunks are in dictionaries that are small.
func hasOnlyCodes(list []chunks.Chunk) bool {
	values, rows := int64(0), int64(0)
	for _, c := range list {
		rows += c.Rows
		for _, page := range c.Plan {
			if page.HasValues() && !page.Indexed() {
				return false
			}
			if page.Kind == pages.DictionaryPage {
				values += page.Values
			}
		}
	}
	return rows > 0 && values <= rows/rowsOfValue
}

// isEncoded reports whether a column has codes in place of the values of a type.
func isEncoded(c *column.Column, t arrow.DataType) bool {
	return c.Dictionary() != nil && t.ID() != arrow.DICTIONARY
}

// selected returns a table of columns of which some have codes: with text in place of these, for the rows that meet the
// conditions. It keeps no column.
func (f *codeFilter) selected(ctx context.Context, to rawTarget, columns []*column.Column, rows buffer.Rows) (table *buffer.Buffer, err error) {
	options := kernels.Options{Manager: to.manager, Tag: to.tag}
	names := make([]string, len(columns))
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	all, err := tableOf(names, columns, rows)
	if err != nil {
		return nil, err
	}
	defer func() { table, err = release.OnError(table, err, all.Release()) }()
	kept, err := f.filter(ctx, to.schema, all, options)
	if err != nil {
		return nil, err
	}
	defer func() { table, err = release.OnError(table, err, kept.Release()) }()
	return decodedTable(ctx, to.schema, kept, options)
}

// tableOf returns a table with nullable columns of some names.
func tableOf(names []string, columns []*column.Column, rows buffer.Rows) (*buffer.Buffer, error) {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: names[i], Type: c.Type(), Nullable: true}
	}
	return buffer.New(arrow.NewSchema(fields, nil), columns, rows)
}

// filter returns the rows of a table that meet the conditions, or the table itself if these leave out few. The columns have
// their places as names.
func (f *codeFilter) filter(ctx context.Context, schema *arrow.Schema, table *buffer.Buffer, options kernels.Options) (kept *buffer.Buffer, err error) {
	names := fieldNames(table.Schema())
	wider, condition, err := f.withMatches(ctx, schema, table, options)
	if err != nil {
		return nil, err
	}
	defer func() { kept, err = release.OnError(kept, err, wider.Release()) }()
	matches, err := selection.FindMatches(ctx, wider, condition, options)
	if err != nil {
		return nil, err
	}
	defer func() { kept, err = release.OnError(kept, err, matches.Release()) }()
	left := table.Capacity() - matches.Rows()
	if left < matches.Rows() {
		f.idle.Store(true)
		return table, table.Retain()
	}
	f.counters.MatchedRows.Add(table.Capacity())
	f.counters.UnmatchedRows.Add(left)
	return matches.Copy(ctx, names, options)
}

// withMatches returns a table with a further column for each condition on codes, and the condition on all its columns.
func (f *codeFilter) withMatches(ctx context.Context, schema *arrow.Schema, table *buffer.Buffer, options kernels.Options) (wider *buffer.Buffer, condition expr.Expr, err error) {
	names, columns := fieldNames(table.Schema()), make([]*column.Column, table.NumColumns())
	var owned release.Stack
	defer func() { wider, err = release.OnError(wider, err, owned.Release()) }()
	for i := range columns {
		columns[i] = table.Column(i)
	}
	for _, c := range f.conditions {
		values, t := columns[c.place], schema.Field(c.place).Type
		term := renamed(c.condition, names[c.place])
		if isEncoded(values, t) {
			rows, err := f.matchedRows(ctx, values, term, names[c.place], options)
			if err != nil {
				return nil, expr.Expr{}, err
			}
			owned.Add(rows)
			names, columns = append(names, "matches "+names[c.place]), append(columns, rows)
			term = expr.Col(names[len(names)-1])
		} else if arrow.IsBaseBinary(t.ID()) {
			continue
		}
		if condition.IsZero() {
			condition = term
		} else {
			condition = condition.And(term)
		}
	}
	if condition.IsZero() {
		condition = expr.Lit(true)
	}
	wider, err = tableOf(names, columns, table.Rows())
	return wider, condition, err
}

// renamed returns a condition on the one column with another name.
func renamed(condition expr.Expr, name string) expr.Expr {
	return condition.Substitute(func(part expr.Expr) (expr.Expr, bool) {
		_, ok := part.Column()
		return expr.Col(name), ok
	})
}

// matchedRows returns whether the values of rows meet a condition, which is evaluated on the dictionary.
func (f *codeFilter) matchedRows(ctx context.Context, c *column.Column, condition expr.Expr, name string, options kernels.Options) (rows *column.Column, err error) {
	values := c.Dictionary()
	about, err := tableOf([]string{name}, []*column.Column{values}, buffer.Rows{Count: int64(values.Len())})
	if err != nil {
		return nil, err
	}
	results, err := expr.Evaluate(ctx, about, []expr.Expr{condition}, options)
	if err = errors.Join(err, about.Release()); err != nil {
		return nil, errors.Join(err, release.All(results))
	}
	defer func() { rows, err = release.OnError(rows, err, results[0].Release()) }()
	codes, err := c.Indices()
	if err != nil {
		return nil, err
	}
	f.counters.MatchedValues.Add(int64(values.Len()))
	rows, err = selection.TakeColumn(ctx, results[0], codes, options)
	return release.OnError(rows, err, codes.Release())
}

// decodedTable returns a table of a schema, with the values of codes.
func decodedTable(ctx context.Context, schema *arrow.Schema, table *buffer.Buffer, options kernels.Options) (decoded *buffer.Buffer, err error) {
	columns := make([]*column.Column, table.NumColumns())
	var owned release.Stack
	defer func() { decoded, err = release.OnError(decoded, err, owned.Release()) }()
	for i := range columns {
		columns[i] = table.Column(i)
		t := schema.Field(i).Type
		if !isEncoded(columns[i], t) {
			continue
		}
		if columns[i], err = dictionary.Decode(ctx, columns[i], options); err != nil {
			return nil, fmt.Errorf("column %q: %w", schema.Field(i).Name, err)
		}
		owned.Add(columns[i])
		if !arrow.TypeEqual(columns[i].Type(), t) {
			return nil, fmt.Errorf("column %q: %w", schema.Field(i).Name, chunks.ErrLong)
		}
	}
	return buffer.New(schema, columns, table.Rows())
}
