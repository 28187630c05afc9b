package gpuframe_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// counting is a record of the numbers from 0 to n, n excluded.
func counting(t testing.TB, n int64) arrow.Record {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	for i := range n {
		b.Field(0).(*array.Int64Builder).Append(i)
	}
	record := b.NewRecord()
	t.Cleanup(record.Release)
	return record
}

// samples are queries with random rows.
func samples(q gpuframe.Query) map[string]gpuframe.Query {
	with := gpuframe.SampleOptions{Seed: 7}
	replaced := gpuframe.SampleOptions{Seed: 7, Replace: true}
	return map[string]gpuframe.Query{
		"fraction":                  q.Sample(0.25, with),
		"rows":                      q.SampleRows(40, with),
		"shuffle":                   q.Shuffle(7),
		"draw":                      q.SampleRows(500, replaced),
		"fraction with replacement": q.Sample(1.5, replaced),
		"random":                    q.WithRandom("random", 9).WithRowNumber("row"),
		"filtered":                  q.WithRandom("random", 9).WithRowNumber("row").Filter(gpuframe.Col("id").Gt(100)).Select(gpuframe.Col("row")),
	}
}

// The rows do not depend on the device, the sizes of batches, the budget or the optimizer.
func TestSamplesAreTheSame(t *testing.T) {
	record := counting(t, 300)
	want := map[string][]string{}
	host := engineOn(t, devicetest.Open(t, "host"))
	for name, q := range samples(host.Records(nil, record)) {
		want[name] = lines(t, q)
		require.NotEmpty(t, want[name], name)
		plain, err := q.Without(t.Context(), plan.Passes()...)
		require.NoError(t, err)
		require.Equal(t, want[name], lines(t, plain), name)
	}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		cut := e.Records(nil, record.NewSlice(0, 1), record.NewSlice(1, 1), record.NewSlice(1, 200), record.NewSlice(200, 300))
		for name, q := range samples(cut) {
			require.Equal(t, want[name], lines(t, q), name)
		}
	})

	large := counting(t, 20_000)
	for name, q := range samples(host.Records(nil, large)) {
		want[name] = lines(t, q)
	}
	small, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<20))
	require.NoError(t, err)
	defer func() { require.NoError(t, small.Close()) }()
	var parts []arrow.Record
	for at := int64(0); at < 20_000; at += 1000 {
		parts = append(parts, large.NewSlice(at, at+1000))
	}
	for name, q := range samples(small.Records(nil, parts...)) {
		require.Equal(t, want[name], lines(t, q), name)
	}
}

func TestSample(t *testing.T) {
	const n = 10_000
	e := engineOn(t, devicetest.Open(t, "host"))
	q := e.Records(nil, counting(t, n))
	numbers := func(q gpuframe.Query) []int64 {
		f, err := q.Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, f.Release()) }()
		list, err := gpuframe.Column[int64](t.Context(), f, "id")
		require.NoError(t, err)
		return list
	}
	distinct := func(list []int64) int {
		sorted := slices.Sorted(slices.Values(list))
		return len(slices.Compact(sorted))
	}
	some := numbers(q.Sample(0.25, gpuframe.SampleOptions{Seed: 1}))
	require.InDelta(t, n/4, len(some), 5*43) // five standard deviations
	require.True(t, slices.IsSorted(some))
	require.NotEqual(t, some, numbers(q.Sample(0.25, gpuframe.SampleOptions{Seed: 2})))
	require.Empty(t, numbers(q.Sample(0, gpuframe.SampleOptions{})))
	require.Len(t, numbers(q.Sample(1, gpuframe.SampleOptions{})), n)

	rows := numbers(q.SampleRows(1234, gpuframe.SampleOptions{Seed: 1}))
	require.Len(t, rows, 1234)
	require.True(t, slices.IsSorted(rows))
	require.Equal(t, 1234, distinct(rows))
	require.Len(t, numbers(q.SampleRows(n+1, gpuframe.SampleOptions{})), n)

	shuffled := numbers(q.Shuffle(1))
	require.False(t, slices.IsSorted(shuffled))
	require.Equal(t, n, distinct(shuffled))
	require.Len(t, shuffled, n)

	drawn := numbers(q.SampleRows(n, gpuframe.SampleOptions{Replace: true}))
	require.Len(t, drawn, n)
	require.InDelta(t, 0.632*n, distinct(drawn), 250) // 1 − 1/e of the rows
	require.Len(t, numbers(q.Sample(2.5, gpuframe.SampleOptions{Replace: true})), 2.5*n)
	require.Empty(t, numbers(q.Filter(gpuframe.Col("id").Lt(0)).SampleRows(5, gpuframe.SampleOptions{Replace: true})))

	for i, line := range lines(t, q.WithRowNumber("row").Select(gpuframe.Col("row"))) {
		require.Equal(t, strconv.Itoa(i)+"|", line)
	}
	mean := lines(t, q.WithRandom("r", 5).Select(gpuframe.Col("r").Mean().Sub(0.5).Abs().Lt(0.015), gpuframe.Col("r").Min().Ge(0).As("low"), gpuframe.Col("r").Max().Lt(1).As("high")))
	require.Equal(t, []string{"true|true|true|"}, mean)
}

func TestSampleProblems(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	q := e.Records(nil, counting(t, 3))
	for want, query := range map[string]gpuframe.Query{
		"the fraction is 1.5, expected 0 to 1":    q.Sample(1.5, gpuframe.SampleOptions{}),
		"the fraction is -1":                      q.Sample(-1, gpuframe.SampleOptions{Replace: true}),
		"the number of rows is -1":                q.SampleRows(-1, gpuframe.SampleOptions{}),
		`are both named "id": give one`:           q.WithRandom("id", 1),
		`columns 0 and 1 are both named "id": gi`: q.WithRowNumber("id"),
	} {
		_, err := query.Collect(t.Context())
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "sample_test.go")
	}
	_, err := q.SampleRows(-1, gpuframe.SampleOptions{}).Collect(t.Context())
	require.ErrorIs(t, err, device.ErrInvalidValue)
}
