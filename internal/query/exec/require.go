package exec

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// requiring passes tables on. It waits for the number of rows that do not meet the condition of each.
func requiring(s *stage, n *plan.Require) func(context.Context, *buffer.Buffer) (*buffer.Buffer, error) {
	return func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
		broken, err := selection.FindMatches(ctx, table, n.Broken(), s.options())
		if err != nil {
			return nil, err
		}
		rows, failure := broken.Rows(), n.Failure()
		if rows > 0 {
			failure = ofFirst(ctx, s, broken, table, failure)
		}
		if err := broken.Release(); err != nil {
			return nil, err
		}
		if rows > 0 {
			return nil, fmt.Errorf("%d rows do not meet it: %w", rows, failure)
		}
		return columns(table, n.Schema())
	}
}

// ofFirst returns a failure with the value of the first row that does not meet the condition, if it takes one. An error on
// the way leaves the failure as it is: it is what the caller has to know.
func ofFirst(ctx context.Context, s *stage, broken *selection.Matches, table *buffer.Buffer, failure error) error {
	var named plan.RowFailure
	if !errors.As(failure, &named) || !table.Schema().HasField(named.Column()) {
		return failure
	}
	values, err := broken.Copy(ctx, []string{named.Column()}, s.options())
	if err != nil {
		return failure
	}
	record, err := values.Record(ctx)
	if err = errors.Join(err, values.Release()); err != nil {
		if record != nil {
			record.Release()
		}
		return failure
	}
	defer record.Release()
	if record.NumRows() == 0 || record.Column(0).IsNull(0) {
		return failure
	}
	return named.Of(shownValue(record.Column(0)))
}

// longestShown is the most bytes of a value in a message.
const longestShown = 100

// shownValue is the first value of an array in a message.
func shownValue(a arrow.Array) string {
	value := a.ValueStr(0)
	if len(value) > longestShown {
		value = strings.ToValidUTF8(value[:longestShown], "") + "…"
	}
	if arrow.IsBaseBinary(a.DataType().ID()) {
		return strconv.Quote(value)
	}
	return value
}
