package gpuframe_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// numberedBatches makes batches of one row each, with their numbers in the column id.
func numberedBatches(t *testing.T, batches int) (list []arrow.Record) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil)
	for i := range batches {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		list = append(list, b.NewRecord())
		b.Release()
	}
	t.Cleanup(func() {
		for _, r := range list {
			r.Release()
		}
	})
	return list
}

// TestNumbersWhileOthersWait numbers rows of which one device has many, before another one has its
// first: what the others yield is read while it waits. Between two frames other queries run.
func TestNumbersWhileOthersWait(t *testing.T) {
	const devices, batches = 3, 90
	e := openDevices(t, devicetest.Hosts(t, devices))
	id := gpuframe.Col("id")
	records := numberedBatches(t, batches)
	for first := range devices {
		// Only one device has rows of the first 60 batches.
		q := e.Records(nil, records...).Filter(id.Mod(devices).Eq(first).Or(id.Ge(60))).WithRowNumber("n").WithRandom("r", 1).Filter(id.Ge(0)).WithRowNumber("m")
		rows := int64(0)
		for f, err := range q.Batches(t.Context(), gpuframe.BatchRows(1)) {
			require.NoError(t, err)
			for _, name := range []string{"n", "m"} {
				values, err := gpuframe.Column[int64](t.Context(), f, name)
				require.NoError(t, err)
				for i, v := range values {
					require.Equal(t, rows+int64(i), v)
				}
			}
			rows += f.NumRows()
			require.NoError(t, f.Release())
			if rows%16 == 1 {
				require.Len(t, lines(t, e.Records(nil, records...).Filter(id.Lt(10)).WithRowNumber("n")), 10)
			}
		}
		require.EqualValues(t, 50, rows)
	}
	for f, err := range e.Records(nil, records...).Filter(id.Ge(30)).WithRowNumber("n").Batches(t.Context(), gpuframe.BatchRows(1)) {
		require.NoError(t, err)
		require.NoError(t, f.Release())
		break // the others wait for a device that is not read any more
	}
	requireNothing(t, e, "an iteration that ends early")
}

// TestUnionOfManyInputs sorts a union of many inputs on several devices.
func TestUnionOfManyInputs(t *testing.T) {
	e := openDevices(t, devicetest.Hosts(t, 2))
	id := gpuframe.Col("id")
	var inputs []gpuframe.Query
	for range 70 {
		inputs = append(inputs, e.Records(nil, numberedBatches(t, 3)...))
	}
	got := lines(t, inputs[0].Union(inputs[1:]...).WithRowNumber("n").Top(3, id.Desc()))
	require.Equal(t, []string{"2|2|", "2|5|", "2|8|"}, got)
}

// TestLastRowsOfMore takes the last rows of a table that is many times larger than the budget.
func TestLastRowsOfMore(t *testing.T) {
	records := drawn(t, 1, 20, 2000)
	for _, devices := range []int{1, 3} {
		from := func(e *gpuframe.Engine) gpuframe.Query { return e.Records(nil, records...).Tail(100) }
		want := lines(t, from(engineOn(t, devicetest.Open(t, "host"))))
		require.Len(t, want, 100)
		needs, err := from(openDevices(t, devicetest.Hosts(t, devices))).Needs(t.Context())
		require.NoError(t, err)
		require.Less(t, needs.Smallest, uint64(200<<10))
		e := openDevices(t, devicetest.Hosts(t, devices), gpuframe.Budget(uint64(devices)*needs.Smallest))
		require.Equal(t, want, lines(t, from(e)), fmt.Sprint(devices, " devices"))
	}
}
