package gpuframe_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// drawn returns records of random rows: a unique id, a key with some nulls, one of few
// values, a string.
func drawn(t *testing.T, seed uint64, batches, rows int) []arrow.Record {
	random := rand.New(rand.NewPCG(seed, 1))
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "key", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "few", Type: arrow.PrimitiveTypes.Int8}, {Name: "text", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	var list []arrow.Record
	for i := range batches * rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if key := b.Field(1).(*array.Int32Builder); random.IntN(20) == 0 {
			key.AppendNull()
		} else {
			key.Append(random.Int32N(int32(batches * rows / 2)))
		}
		b.Field(2).(*array.Int8Builder).Append(int8(random.IntN(3)))
		b.Field(3).(*array.StringBuilder).Append(fmt.Sprintf("text %08d", random.IntN(1_000_000)))
		if (i+1)%rows == 0 {
			list = append(list, b.NewRecord())
			t.Cleanup(list[len(list)-1].Release)
		}
	}
	return list
}

// lines returns the rows of a query as text, without having all of them in device memory.
func lines(t *testing.T, q gpuframe.Query) (list []string) {
	t.Helper()
	for f, err := range q.Batches(t.Context()) {
		require.NoError(t, err)
		record, err := f.Record(t.Context())
		require.NoError(t, err)
		require.NoError(t, f.Release())
		for i := range int(record.NumRows()) {
			line := ""
			for _, c := range record.Columns() {
				line += c.ValueStr(i) + "|"
			}
			list = append(list, line)
		}
		record.Release()
	}
	return list
}

// Queries of data of several times the budget have the results that they have without one.
func TestMoreThanTheBudget(t *testing.T) {
	batches, rows := 24, 4000
	if testing.Short() {
		batches, rows = 12, 3000
	}
	records := drawn(t, 1, batches, rows)
	others := drawn(t, 2, batches, rows)
	dev := devicetest.Open(t, "host")
	budget := uint64(batches * rows * 29 / 3)
	small, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(budget))
	require.NoError(t, err)
	large := engineOn(t, dev)
	key, id, text := gpuframe.Col("key"), gpuframe.Col("id"), gpuframe.Col("text")
	for name, c := range map[string]struct {
		query   func(e *gpuframe.Engine) gpuframe.Query
		ordered bool
	}{
		"sort": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Sort(key.Desc().NullsFirst(), text)
		}, true},
		"sort of few values": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Sort(gpuframe.Col("few"), text)
		}, true},
		"groups": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).GroupBy(key).Agg(id.Sum(), text.Min(), gpuframe.Count())
		}, false},
		"inner": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Join(e.Records(nil, others...), gpuframe.Inner, key)
		}, false},
		"full": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Join(e.Records(nil, others...), gpuframe.Full, key).Drop("text")
		}, false},
		"anti": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Join(e.Records(nil, others...), gpuframe.Anti, key)
		}, false},
		"top": {func(e *gpuframe.Engine) gpuframe.Query { return e.Records(nil, records...).Top(50, text, id) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			want, got := lines(t, c.query(large)), lines(t, c.query(small))
			if !c.ordered {
				slices.Sort(want)
				slices.Sort(got)
			}
			require.Equal(t, len(want), len(got))
			require.True(t, slices.Equal(want, got))
			stats := small.Manager().Stats()
			require.LessOrEqual(t, stats.Peak, budget)
			require.Zero(t, stats.InUse)
		})
	}
	require.NoError(t, small.Close())
}
