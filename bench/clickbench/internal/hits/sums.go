package hits

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/testing/clickbench"
)

// Sums returns a statement that sums the answer to a question without its LIMIT: the number of its rows, and of each
// column a sum or, of times, the least and the greatest. Rows with equal keys may come in any order, and answers have
// up to as many rows as the table, so that two engines can be compared only by these.
func (t *Table) Sums(ctx context.Context, question int) (string, error) {
	text := clickbench.WithoutLimit(clickbench.Questions[question])
	query, err := t.session.Query(ctx, text)
	if err != nil {
		return "", err
	}
	schema, err := query.Schema(ctx)
	if err != nil {
		return "", err
	}
	names, sums := make([]string, schema.NumFields()), []string{"count(*)"}
	for i, field := range schema.Fields() {
		name := fmt.Sprintf("c%d", i)
		names[i] = name
		switch field.Type.ID() {
		case arrow.STRING, arrow.LARGE_STRING:
			sums = append(sums, "sum(length("+name+"))", "max("+name+")")
		case arrow.DATE32, arrow.TIMESTAMP:
			sums = append(sums, "min("+name+")", "max("+name+")")
		default:
			sums = append(sums, "sum("+name+"::double)")
		}
	}
	return "select " + strings.Join(sums, ", ") + " from (" + text + ") as answer(" + strings.Join(names, ", ") + ")", nil
}

// Answer returns the first row of a statement's answer, as texts.
func (t *Table) Answer(ctx context.Context, text string) ([]string, error) {
	frame, err := t.run(ctx, text)
	if err != nil {
		return nil, err
	}
	record, err := frame.Record(ctx)
	if err = errors.Join(err, frame.Release()); err != nil {
		return nil, err
	}
	defer record.Release()
	values := make([]string, record.NumCols())
	for i := range values {
		if values[i] = "null"; record.Column(i).IsValid(0) {
			values[i] = record.Column(i).ValueStr(0)
		}
	}
	return values, nil
}
