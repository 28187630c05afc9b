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
	numbers   bool
}{
	{"count", Expr.Count, false},
	{"null_count", Expr.NullCount, false},
	{"mean", Expr.Mean, true},
	{"std", Expr.StdDev, true},
	{"min", Expr.Min, true},
	{"25%", func(e Expr) Expr { return e.Quantile(0.25) }, true},
	{"50%", Expr.Median, true},
	{"75%", func(e Expr) Expr { return e.Quantile(0.75) }, true},
	{"max", Expr.Max, true},
}

// Describe runs the query and summarizes its columns: a row for each statistic, and a column
// of float64 for each column. Columns that are not numbers only have the count of values and
// of nulls. The caller releases the frame.
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
			if !s.numbers || isNumber(f.Type) {
				list = append(list, s.aggregate(Col(f.Name)).Cast(arrow.PrimitiveTypes.Float64).As(statisticName(i, s.name)))
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("gpuframe: describe: the query has no columns")
	}
	all, err := q.Select(list...).Collect(ctx, options...)
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
		schema = append(schema, arrow.Field{Name: f.Name, Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	}
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(schema, nil))
	defer b.Release()
	for _, s := range statistics {
		b.Field(0).(*array.StringBuilder).Append(s.name)
		for i := range fields {
			to := b.Field(i + 1).(*array.Float64Builder)
			at := values.Schema().FieldIndices(statisticName(i, s.name))
			if len(at) == 0 {
				to.AppendNull()
				continue
			}
			from := values.Column(at[0]).(*array.Float64)
			if from.IsNull(0) {
				to.AppendNull()
			} else {
				to.Append(from.Value(0))
			}
		}
	}
	return b.NewRecord()
}
