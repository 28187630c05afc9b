package gpuframe_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

func floatRecord(t *testing.T, name string, values ...float64) arrow.Record {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil))
	defer b.Release()
	b.Field(0).(*array.Float64Builder).AppendValues(values, nil)
	record := b.NewRecord()
	t.Cleanup(record.Release)
	return record
}

// TestKeysAndConditionsAgreeOnNaN joins by a key and by a condition after a cross join, and filters.
func TestKeysAndConditionsAgreeOnNaN(t *testing.T) {
	left, right := floatRecord(t, "f", math.NaN(), 1, math.Copysign(0, -1), 2), floatRecord(t, "g", 0, math.NaN(), 3, 1)
	f, g := gpuframe.Col("f"), gpuframe.Col("g")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		byKey := e.Records(nil, left).Join(e.Records(nil, right), gpuframe.Inner, gpuframe.On(f, g)).Sort(f, g).Select(f.As("f"), g.As("g"))
		byCondition := e.Records(nil, left).Join(e.Records(nil, right), gpuframe.Cross).Filter(f.Eq(g)).Sort(f, g).Select(f.As("f"), g.As("g"))
		require.Equal(t, []string{"-0 0", "1 1", "NaN NaN"}, collect(t, byCondition))
		require.Equal(t, collect(t, byCondition), collect(t, byKey))
		require.Equal(t, []string{"NaN", "2"}, collect(t, e.Records(nil, left).Filter(f.Gt(1)).Select(f)))
		require.Equal(t, []string{"2"}, collect(t, e.Records(nil, left).Filter(f.GtIEEE(1)).Select(f)))
		require.Equal(t, []string{"NaN"}, collect(t, e.Records(nil, left).Filter(f.Eq(math.NaN())).Select(f)))
		require.Equal(t, []string{"NaN", "1"}, collect(t, e.Records(nil, left).Filter(f.In(1, math.NaN())).Select(f)))
	})
}

// TestRowGroupsWithNaN have statistics without NaN, which is greater than the greatest value.
func TestRowGroupsWithNaN(t *testing.T) {
	var file bytes.Buffer
	record := floatRecord(t, "f", 1, math.NaN(), 2, 5, 6, 7)
	writer, err := pqarrow.NewFileWriter(record.Schema(), &file, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(3)), pqarrow.NewArrowWriterProperties())
	require.NoError(t, err)
	require.NoError(t, writer.Write(record))
	require.NoError(t, writer.Close())
	f := gpuframe.Col("f")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.ParquetReaderAt("f.parquet", bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.Equal(t, []string{"NaN", "6", "7"}, collect(t, q.Filter(f.Gt(5))))
		require.Equal(t, []string{"NaN"}, collect(t, q.Filter(f.Eq(math.NaN()))))
		require.Equal(t, []string{"1", "NaN", "2", "6", "7"}, collect(t, q.Filter(f.Ne(5))))
		require.Equal(t, []string{"6", "7"}, collect(t, q.Filter(f.GtIEEE(5))))
		require.Equal(t, []string{"1", "2"}, collect(t, q.Filter(f.Lt(5))))
	})
}
