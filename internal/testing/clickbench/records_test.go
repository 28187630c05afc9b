package clickbench

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
)

// TestRecords checks that rows do not depend on the records that have them, and that the skews are there.
func TestRecords(t *testing.T) {
	const rows = 2000
	all := Record(7, 0, rows)
	defer all.Release()
	require.EqualValues(t, 105, all.NumCols())
	part := Record(7, 500, 100)
	defer part.Release()
	slice := all.NewSlice(500, 600)
	defer slice.Release()
	require.True(t, array.RecordEqual(slice, part))

	counters := all.Column(all.Schema().FieldIndices("CounterID")[0]).(*array.Int32)
	phrases := all.Column(all.Schema().FieldIndices("SearchPhrase")[0]).(*array.String)
	first, empty := 0, 0
	for i := range rows {
		if counters.Value(i) == 62 {
			first++
		}
		if phrases.Value(i) == "" {
			empty++
		}
	}
	require.Greater(t, first, rows/100)
	require.Greater(t, empty, rows/2)
	require.Less(t, empty, rows)
	require.Len(t, Questions, 43)
}

func TestDatesAreThoseOfTimes(t *testing.T) {
	r := Record(1, 0, 300)
	defer r.Release()
	times, dates := r.Column(4).(*array.Timestamp), r.Column(5).(*array.Date32)
	for i := range 300 {
		require.EqualValues(t, int64(times.Value(i))/daySeconds, dates.Value(i))
	}
}
