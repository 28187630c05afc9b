package source_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// withFooter changes the footer of a file.
func withFooter(t require.TestingT, data []byte, change func(m *metadata.FileMetaData)) []byte {
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	change(reader.MetaData())
	const tail = 8
	length := int(binary.LittleEndian.Uint32(data[len(data)-tail:]))
	changed := bytes.NewBuffer(bytes.Clone(data[:len(data)-tail-length]))
	before := changed.Len()
	_, err = reader.MetaData().WriteTo(changed, nil)
	require.NoError(t, err)
	return append(binary.LittleEndian.AppendUint32(changed.Bytes(), uint32(changed.Len()-before)), "PAR1"...)
}

// TestOldStatisticsOfDecimals: parquet-mr before 1.10 compared the bytes of decimals as signed ones.
// Such statistics leave out no row group; those of integers do.
func TestOldStatisticsOfDecimals(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	decimals := &arrow.Decimal128Type{Precision: 38}
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "d", Type: decimals}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil))
	for _, v := range []int64{1, 127, 128, 200} {
		builder.Field(0).(*array.Decimal128Builder).Append(decimal128.FromI64(v))
		builder.Field(1).(*array.Int64Builder).Append(v)
	}
	data := withFooter(t, parquetOf(t, 100, builder.NewRecord()), func(m *metadata.FileMetaData) {
		by := "parquet-mr version 1.8.1 (build 4aba4dae7bb0d4edbcf7923ae1339f28fd3f7fcf)"
		m.CreatedBy, m.ColumnOrders = &by, nil
		for _, chunk := range m.RowGroups[0].Columns {
			s := chunk.MetaData.Statistics
			require.NotNil(t, s)
			s.Min, s.Max, s.MinValue, s.MaxValue = s.MinValue, s.MaxValue, nil, nil
		}
		s := m.RowGroups[0].Columns[0].MetaData.Statistics
		s.Min, s.Max = append(make([]byte, 15), 0x80), append(make([]byte, 15), 0x7f) // 128 and 127
	})
	s, err := source.ParquetReaderAt("old", bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	for column, groups := range map[string]int64{"d": 1, "n": 0} {
		var counters source.Counters
		read(t, s, m, source.Request{Where: []expr.Expr{expr.Col(column).Gt(expr.Lit(300))}, Counters: &counters})
		assert.Equal(t, groups, counters.RowGroups.Load(), column)
		read(t, s, m, source.Request{Where: []expr.Expr{expr.Col(column).Eq(expr.Lit(1))}, Counters: &counters})
		assert.Equal(t, groups+1, counters.RowGroups.Load(), column)
	}
}

// int96File has timestamps of 96 bits, as Hive and Spark write them.
func int96File(t *testing.T, values []time.Time, options ...file.WriteOption) []byte {
	t.Helper()
	node, err := schema.NewPrimitiveNode("t", parquet.Repetitions.Required, parquet.Types.Int96, -1, -1)
	require.NoError(t, err)
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{node}, -1)
	require.NoError(t, err)
	var to bytes.Buffer
	w := file.NewParquetWriter(&to, root, options...)
	group := w.AppendRowGroup()
	column, err := group.NextColumn()
	require.NoError(t, err)
	stored := make([]parquet.Int96, len(values))
	for i, value := range values {
		stored[i] = stored96(value)
	}
	_, err = column.(*file.Int96ColumnChunkWriter).WriteBatch(stored, nil, nil)
	require.NoError(t, err)
	require.NoError(t, column.Close())
	require.NoError(t, group.Close())
	require.NoError(t, w.Close())
	return to.Bytes()
}

// stored96 is a timestamp of 96 bits.
func stored96(value time.Time) (stored parquet.Int96) {
	const epoch, secondsOfDay = 2440588, 86400
	ofDay := (value.Unix()%secondsOfDay + secondsOfDay) % secondsOfDay
	binary.LittleEndian.PutUint64(stored[:8], uint64(ofDay)*1e9+uint64(value.Nanosecond()))
	binary.LittleEndian.PutUint32(stored[8:], uint32((value.Unix()-ofDay)/secondsOfDay+epoch))
	return stored
}

// TestFarTimestampsOf96Bits: what nanoseconds do not hold is null, and microseconds of Spark's files
// hold all.
func TestFarTimestampsOf96Bits(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	values := []time.Time{time.Date(2024, 5, 1, 12, 0, 0, 1000, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC)}
	by := metadata.NewKeyValueMetadata()
	require.NoError(t, by.Append("org.apache.spark.version", "3.5.0"))
	for unit, data := range map[arrow.TimeUnit][]byte{arrow.Nanosecond: int96File(t, values), arrow.Microsecond: int96File(t, values, file.WithWriteMetadata(by))} {
		s, err := source.ParquetReaderAt("far", bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		schema, err := s.Schema(t.Context())
		require.NoError(t, err)
		require.True(t, schema.Field(0).Nullable)
		require.Equal(t, unit, schema.Field(0).Type.(*arrow.TimestampType).Unit)
		got := read(t, s, m, source.Request{})[0].Column(0).(*array.Timestamp)
		for i, want := range values {
			holds := unit == arrow.Microsecond || want.Year() > 1677 && want.Year() < 2262
			require.Equal(t, holds, got.IsValid(i), "%v in %v", want, unit)
			if holds {
				assert.Equal(t, want, got.Value(i).ToTime(unit))
			}
		}
	}
}
