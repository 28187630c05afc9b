package gpuframe_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/callcount"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// partsOn returns a table of a thousand rows with 100 keys on each device of an engine.
func partsOn(t testing.TB, e *gpuframe.Engine) (parts []*buffer.Buffer) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "key", Type: arrow.PrimitiveTypes.Int32}, {Name: "value", Type: arrow.PrimitiveTypes.Float64}}, nil)
	for n, m := range e.Managers() {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
		for i := range 1000 {
			b.Field(0).(*array.Int32Builder).Append(int32((i + n) * 7 % 100))
			b.Field(1).(*array.Float64Builder).Append(float64(i*n%1000) / 3)
		}
		record := b.NewRecord()
		table, err := buffer.FromRecord(m, record)
		require.NoError(t, err)
		record.Release()
		b.Release()
		t.Cleanup(func() { require.NoError(t, table.Release()) })
		parts = append(parts, table)
	}
	return parts
}

// TestCallsOfAnExchange limits the calls of the driver by which four devices group and sort rows in
// their memory: if the groups turn out to be few, so that the devices but the first only send them,
// and if they are divided by a hash.
func TestCallsOfAnExchange(t *testing.T) {
	names, counted, err := callcount.RegisterAll(devicetest.Emulators(t, 4))
	require.NoError(t, err)
	e, err := gpuframe.Open(gpuframe.Devices(names...))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	for _, c := range counted {
		require.Equal(t, 6, c.Take().Count[callcount.Access], "each device asks for access to three others, and enables it")
	}
	e.DivideAll()
	parts := partsOn(t, e)
	key, value := gpuframe.Col("key"), gpuframe.Col("value")
	groups := e.Table(parts[0], parts[1:]...).GroupBy(key).Agg(value.Sum())
	for _, c := range []struct {
		name  string
		query gpuframe.Query
		few   int64
		// first and others are the most calls of the first device and of each other one.
		first, others map[string]int
	}{
		{
			"few groups", groups, 1 << 16,
			map[string]int{callcount.Launch: 10, callcount.Copy: 12, callcount.Peer: 9, callcount.Download: 3},
			map[string]int{callcount.Launch: 4, callcount.Copy: 0, callcount.Peer: 0, callcount.Download: 1},
		},
		{
			"few groups in order", groups.Sort(key), 1 << 16,
			map[string]int{callcount.Launch: 12, callcount.Copy: 12, callcount.Peer: 9, callcount.Download: 3},
			map[string]int{callcount.Launch: 4, callcount.Copy: 0, callcount.Peer: 0, callcount.Download: 1},
		},
		{
			"groups by a hash", groups, 0,
			map[string]int{callcount.Launch: 24, callcount.Copy: 21, callcount.Peer: 18, callcount.Download: 4},
			map[string]int{callcount.Launch: 20, callcount.Copy: 13, callcount.Peer: 9, callcount.Download: 4},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			e.KeepFew(c.few)
			for range 2 {
				for _, d := range counted {
					d.Take()
				}
				made, err := c.query.Collect(t.Context())
				require.NoError(t, err)
				require.EqualValues(t, 100, made.NumRows())
				require.NoError(t, made.Release())
			}
			for i, d := range counted {
				calls := d.Take()
				t.Logf("device %d: %v", i, calls)
				most := c.others
				if i == 0 {
					most = c.first
				}
				for call, n := range most {
					require.LessOrEqual(t, calls.Count[call], n, "%s of device %d", call, i)
				}
				for _, none := range []string{callcount.Load, callcount.Compile, callcount.Allocate, callcount.Stream, callcount.Access} {
					require.Zero(t, calls.Count[none], "%s of device %d", none, i)
				}
			}
		})
	}
}
