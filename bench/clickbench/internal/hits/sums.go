package hits

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/bench/internal/answer"
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

// Answer returns the answer to a statement.
func (t *Table) Answer(ctx context.Context, text string) (a answer.Answer, err error) {
	frame, err := t.run(ctx, text)
	if err != nil {
		return a, err
	}
	record, err := frame.Record(ctx)
	if err = errors.Join(err, frame.Release()); err != nil {
		return a, err
	}
	defer record.Release()
	return answer.Of(record), nil
}
