package joins

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
)

// check is a number of an answer, in gpuframe and in SQL.
type check struct {
	aggregate reduce.Aggregate
	sql       string
}

var f64 = arrow.PrimitiveTypes.Float64

// checks are the numbers of [Checks] after the first one.
func checks(schema *arrow.Schema) (all []check) {
	// The key of the row: a value that is in another row makes another sum of products.
	position, positionText := expr.Coalesce(expr.Col("id3").Cast(f64), expr.Lit(0.5)), "coalesce(id3::double, 0.5)"
	for _, f := range schema.Fields() {
		number, text := expr.Col(f.Name).Cast(f64), f.Name+"::double"
		if f.Type.ID() == arrow.STRING { // "id123" is 123
			number, text = expr.Col(f.Name).Substring(3, 20).Cast(arrow.PrimitiveTypes.Int64).Cast(f64), fmt.Sprintf("substr(%s, 3)::double", f.Name)
		}
		all = append(all,
			check{reduce.Count(expr.Col(f.Name)), fmt.Sprintf("count(%s)::double", f.Name)},
			check{reduce.Sum(number), fmt.Sprintf("sum(%s)", text)},
			check{reduce.Sum(number.Mul(position)), fmt.Sprintf("sum(%s * %s)", text, positionText)})
	}
	return all
}

// Checks returns numbers that are equal for equal answers: the rows, and for each column
// its values, their sum, and the sum of their products with the key of the row. They do not
// depend on the order of the rows.
func Checks(ctx context.Context, answer *buffer.Buffer) (numbers []float64, err error) {
	aggregates := []reduce.Aggregate{reduce.CountAll().As("rows")}
	for i, c := range checks(answer.Schema()) {
		aggregates = append(aggregates, c.aggregate.As(fmt.Sprint("c", i)))
	}
	table, err := reduce.Table(ctx, answer, aggregates)
	if err != nil {
		return nil, err
	}
	record, err := table.Record(ctx)
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, err
	}
	defer record.Release()
	for _, c := range record.Columns() {
		switch c := c.(type) {
		case *array.Int64:
			numbers = append(numbers, float64(c.Value(0)))
		case *array.Float64:
			numbers = append(numbers, c.Value(0))
		default:
			return nil, fmt.Errorf("a check has type %v, expected int64 or float64", c.DataType())
		}
	}
	return numbers, nil
}

// ChecksSQL is the question for these numbers of a table.
func ChecksSQL(schema *arrow.Schema, table string) string {
	texts := []string{"count(*)::double"}
	for _, c := range checks(schema) {
		texts = append(texts, fmt.Sprintf("coalesce(%s, 0)", c.sql))
	}
	return fmt.Sprintf("select %s from %s", strings.Join(texts, ", "), table)
}
