package sql

import (
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// summary are the columns of SUMMARIZE behind the name and the type of a column. Those without an aggregate are of the
// number of rows.
var summary = []struct {
	name      string
	dataType  arrow.DataType
	numbers   bool
	aggregate func(e gpuframe.Expr) gpuframe.Expr
}{
	{"min", textType, false, gpuframe.Expr.Min},
	{"max", textType, false, gpuframe.Expr.Max},
	{"approx_unique", int64Type, false, func(e gpuframe.Expr) gpuframe.Expr { return e.CountDistinct() }},
	{"avg", textType, true, func(e gpuframe.Expr) gpuframe.Expr { return e.Cast(floatType).Mean() }},
	{"std", textType, true, func(e gpuframe.Expr) gpuframe.Expr { return e.Cast(floatType).StdDev() }},
	{"q25", textType, true, func(e gpuframe.Expr) gpuframe.Expr { return e.Quantile(0.25) }},
	{"q50", textType, true, gpuframe.Expr.Median},
	{"q75", textType, true, func(e gpuframe.Expr) gpuframe.Expr { return e.Quantile(0.75) }},
	{"count", int64Type, false, nil},
	{"null_percentage", &arrow.Decimal128Type{Precision: 9, Scale: 2}, false, nil},
}

// summarize returns a row for each column of a query, which runs now unless only the schema is wanted.
func (t *translation) summarize(d *tree.Describe, q gpuframe.Query) gpuframe.Query {
	fields := []arrow.Field{{Name: "column_name", Type: textType}, {Name: "column_type", Type: textType}}
	for _, s := range summary {
		fields = append(fields, arrow.Field{Name: s.name, Type: s.dataType, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	if !isForSchema(t.ctx) {
		t.addSummaries(d, q, builder)
	}
	return t.engine.Records(schema, builder.NewRecord())
}

// addSummaries appends a row for each column.
func (t *translation) addSummaries(d *tree.Describe, q gpuframe.Query, builder *array.RecordBuilder) {
	columns := t.schema(d, q).Fields()
	list := []gpuframe.Expression{gpuframe.Count().As("rows")}
	name := func(column, statistic int) string { return strconv.Itoa(column) + " " + strconv.Itoa(statistic) }
	for i, f := range columns {
		list = append(list, gpuframe.Col(f.Name).Count().As(strconv.Itoa(i)))
		for j, s := range summary {
			if s.aggregate != nil && (isNumber(f.Type) || !s.numbers && isScalar(f.Type)) {
				list = append(list, s.aggregate(gpuframe.Col(f.Name)).As(name(i, j)))
			}
		}
	}
	frame, err := q.Select(list).Collect(t.ctx)
	if err != nil {
		t.failAs(d, err)
	}
	record, err := releasedRecord(t.ctx, frame)
	if err != nil {
		panic(abort{err})
	}
	defer record.Release()
	column := func(name string) arrow.Array { return record.Column(record.Schema().FieldIndices(name)[0]) }
	rows := column("rows").(*array.Int64).Value(0)
	for i, f := range columns {
		builder.Field(0).(*array.StringBuilder).Append(f.Name)
		builder.Field(1).(*array.StringBuilder).Append(typeName(f.Type))
		values := column(strconv.Itoa(i)).(*array.Int64).Value(0)
		for j, s := range summary {
			field := builder.Field(j + 2)
			at := record.Schema().FieldIndices(name(i, j))
			switch {
			case s.name == "count":
				field.(*array.Int64Builder).Append(rows)
			case s.name == "null_percentage" && rows > 0:
				share := math.Round(1e4 * float64(rows-values) / float64(rows))
				field.(*array.Decimal128Builder).Append(decimal128.FromI64(int64(share)))
			case len(at) == 0 || record.Column(at[0]).IsNull(0):
				field.AppendNull()
			case s.dataType == int64Type:
				field.(*array.Int64Builder).Append(record.Column(at[0]).(*array.Int64).Value(0))
			default:
				field.(*array.StringBuilder).Append(written(record.Column(at[0])))
			}
		}
	}
}

// isScalar reports whether a type is neither a list nor a struct.
func isScalar(dataType arrow.DataType) bool {
	_, isNested := dataType.(arrow.NestedType)
	return !isNested
}

// written returns the first value of an array as text.
func written(a arrow.Array) string {
	switch a := a.(type) {
	case *array.Float64:
		x := a.Value(0)
		text := strconv.FormatFloat(x, 'g', -1, 64)
		if size := math.Abs(x); x == 0 || size >= 1e-4 && size < 1e16 {
			text = strconv.FormatFloat(x, 'f', -1, 64)
		}
		if strings.Trim(text, "-0123456789") == "" {
			text += ".0"
		}
		return text
	case *array.Decimal128:
		return a.Value(0).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return a.Value(0).ToTime(unit).Format("2006-01-02 15:04:05.999999999")
	}
	return a.ValueStr(0)
}
