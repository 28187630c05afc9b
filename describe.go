package gpuframe

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// statistics are the rows of Describe.
var statistics = []struct {
	name      string
	aggregate func(Expr) Expr
	columns   described
}{
	{"count", Expr.Count, everything},
	{"null_count", Expr.NullCount, everything},
	{"mean", Expr.Mean, numbers},
	{"std", Expr.StdDev, numbers},
	{"min", Expr.Min, texts},
	{"25%", func(e Expr) Expr { return e.Quantile(0.25) }, numbers},
	{"50%", Expr.Median, numbers},
	{"75%", func(e Expr) Expr { return e.Quantile(0.75) }, numbers},
	{"max", Expr.Max, texts},
}

// described is the statistics that a column has: counts, the least and the greatest value as texts, or all as float64.
type described uint8

const (
	everything described = iota
	texts
	numbers
)

// descriptionOf returns the statistics of columns of a type.
func descriptionOf(t arrow.DataType) described {
	if isNumber(t) {
		return numbers
	}
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.BOOL, arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP, arrow.TIME32, arrow.TIME64, arrow.DURATION:
		return texts
	}
	return everything
}

// Describe runs the query and summarizes its columns: a row for each statistic, and a column
// of float64 for each column of numbers. Columns of strings, times and bools have the count of values and
// of nulls, the least and the greatest value, as texts; other columns have the counts. The caller releases the frame.
func (q Query) Describe(ctx context.Context, options ...RunOption) (*Frame, error) {
	chosen, err := settingsOfRun(options)
	if err != nil {
		return nil, err
	}
	schema, err := q.Schema(ctx)
	if err != nil {
		return nil, err
	}
	fields := schema.Fields()
	var list []Expression
	for i, f := range fields {
		for _, s := range statistics {
			switch {
			case s.columns > descriptionOf(f.Type):
			case descriptionOf(f.Type) == texts:
				list = append(list, s.aggregate(Col(f.Name)).As(statisticName(i, s.name)))
			default:
				list = append(list, s.aggregate(Col(f.Name)).Cast(arrow.PrimitiveTypes.Float64).As(statisticName(i, s.name)))
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("gpuframe: describe: the query has no columns")
	}
	all, err := q.Select(list).Collect(ctx, options...)
	if err != nil {
		return nil, err
	}
	record, err := all.take(ctx)
	if err != nil {
		return nil, queryError(err)
	}
	defer record.Release()
	described := describe(fields, record)
	defer described.Release()
	return q.engine.Records(nil, described).Collect(ctx, Tag(chosen.tag)) // a profile is of one run
}

func statisticName(column int, statistic string) string {
	return fmt.Sprintf("%d %s", column, statistic)
}

// isNumber reports whether statistics of numbers are defined for a type.
func isNumber(t arrow.DataType) bool {
	return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID()) || t.ID() == arrow.DECIMAL128
}

// describe makes the table of one row of statistics.
func describe(fields []arrow.Field, values arrow.Record) arrow.Record {
	schema := []arrow.Field{{Name: "statistic", Type: arrow.BinaryTypes.String}}
	for _, f := range fields {
		t := arrow.DataType(arrow.PrimitiveTypes.Float64)
		if descriptionOf(f.Type) == texts {
			t = arrow.BinaryTypes.String
		}
		schema = append(schema, arrow.Field{Name: f.Name, Type: t, Nullable: true})
	}
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(schema, nil))
	defer b.Release()
	for _, s := range statistics {
		b.Field(0).(*array.StringBuilder).Append(s.name)
		for i := range fields {
			to, at := b.Field(i+1), values.Schema().FieldIndices(statisticName(i, s.name))
			if len(at) == 0 || values.Column(at[0]).IsNull(0) {
				to.AppendNull()
				continue
			}
			switch to := to.(type) {
			case *array.Float64Builder:
				to.Append(values.Column(at[0]).(*array.Float64).Value(0))
			case *array.StringBuilder:
				to.Append(values.Column(at[0]).ValueStr(0))
			}
		}
	}
	return b.NewRecord()
}
