package gpuframe_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// A reader that a query uses several times is read once: the results are those of records,
// which can be read again.
func TestReaderWithSeveralUsers(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		for name, verbs := range map[string]func(q gpuframe.Query) gpuframe.Query{
			"the same columns": func(q gpuframe.Query) gpuframe.Query { return q.Union(q) },
			"other columns": func(q gpuframe.Query) gpuframe.Query {
				return q.Select(city).Union(q.Filter(price.Gt(50)).Select(city))
			},
			"a limit": func(q gpuframe.Query) gpuframe.Query { return q.Head(3).Union(q.Tail(2), q.Slice(1, 4)) },
			"no columns at all": func(q gpuframe.Query) gpuframe.Query {
				return q.Select(gpuframe.Count().As("n")).Join(q.Select(qty), gpuframe.Cross)
			},
			"groups of its rows": func(q gpuframe.Query) gpuframe.Query {
				means := q.GroupBy(city).Agg(price.Mean().As("mean"))
				return q.Join(means, gpuframe.Left, city).Select(city, price, gpuframe.Col("mean")).Sort(city, price)
			},
		} {
			t.Run(name, func(t *testing.T) {
				want := collect(t, verbs(e.Records(record.Schema(), record, record, record)))
				reader, err := array.NewRecordReader(record.Schema(), []arrow.Record{record, record, record})
				require.NoError(t, err)
				defer reader.Release()
				q := verbs(e.Reader(reader))
				require.Equal(t, want, collect(t, q))
				_, err = q.Collect(t.Context())
				require.ErrorIs(t, err, gpuframe.ErrUsed, "a second run")
			})
		}
	})
}
