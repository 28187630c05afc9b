package source_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// memberColumn is a type with its i-th value, and literals that may equal some.
type memberColumn struct {
	t       arrow.DataType
	append  func(b array.Builder, i int)
	literal func(i int) any
}

func memberColumns() []memberColumn {
	noon := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	float := func(i int) float64 {
		return [...]float64{math.NaN(), math.Copysign(0, -1), 0, 0.1, 1e300, math.Inf(1), 7, 8.5}[i%8]
	}
	return []memberColumn{
		{arrow.PrimitiveTypes.Int64, func(b array.Builder, i int) { b.(*array.Int64Builder).Append(int64(i) * 7) }, func(i int) any { return []any{i * 7, uint8(i), float64(i) * 3.5}[i%3] }},
		{arrow.PrimitiveTypes.Int8, func(b array.Builder, i int) { b.(*array.Int8Builder).Append(int8(i - 50)) }, func(i int) any { return []any{int64(i - 50), i * 10}[i%2] }},
		{arrow.PrimitiveTypes.Uint32, func(b array.Builder, i int) { b.(*array.Uint32Builder).Append(math.MaxUint32 - uint32(i)) }, func(i int) any { return int64(math.MaxUint32) - int64(i) }},
		{arrow.PrimitiveTypes.Uint64, func(b array.Builder, i int) { b.(*array.Uint64Builder).Append(math.MaxUint64 - uint64(i)) }, func(i int) any { return uint64(math.MaxUint64) - uint64(i) }},
		{arrow.PrimitiveTypes.Float64, func(b array.Builder, i int) { b.(*array.Float64Builder).Append(float(i)) }, func(i int) any { return []any{float(i), i % 9, float32(0.1)}[i%3] }},
		{arrow.PrimitiveTypes.Float32, func(b array.Builder, i int) { b.(*array.Float32Builder).Append(float32(float(i))) }, func(i int) any { return []any{float(i), float32(float(i))}[i%2] }},
		{arrow.BinaryTypes.String, func(b array.Builder, i int) { b.(*array.StringBuilder).Append(fmt.Sprint(i)[min(i, 1):]) }, func(i int) any { return fmt.Sprint(i)[min(i, 1):] }},
		{arrow.BinaryTypes.LargeString, func(b array.Builder, i int) { b.(*array.LargeStringBuilder).Append(fmt.Sprint("é", i)) }, func(i int) any { return fmt.Sprint("é", i) }},
		{arrow.FixedWidthTypes.Date32, func(b array.Builder, i int) { b.(*array.Date32Builder).Append(arrow.Date32(i)) }, func(i int) any { return arrow.Date32(i) }},
		{&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, func(b array.Builder, i int) {
			b.(*array.TimestampBuilder).Append(arrow.Timestamp(noon.UnixMilli() + int64(i)))
		}, func(i int) any { return noon.Add(time.Duration(i) * time.Millisecond) }},
		{&arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}, func(b array.Builder, i int) {
			b.(*array.TimestampBuilder).Append(arrow.Timestamp(noon.Unix() + int64(i)))
		}, func(i int) any { return noon.Add(time.Duration(i) * time.Second) }},
		{&arrow.Decimal128Type{Precision: 9, Scale: 2}, func(b array.Builder, i int) {
			b.(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i-50) * 50))
		}, func(i int) any { return []any{i - 50, float64(i-50) / 2}[i%2] }},
	}
}

// memberFile is a file of row groups of few values each, from an interval of all: statistics
// exclude few of them.
func memberFile(t *testing.T, random *rand.Rand, columns []memberColumn, groups int, properties ...parquet.WriterProperty) ([]byte, arrow.Record) {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: c.t, Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer builder.Release()
	const rows = 30
	for range groups {
		for i, c := range columns {
			some := []int{random.IntN(100), random.IntN(100), random.IntN(100), 0, 99}
			for range rows {
				if random.IntN(6) == 0 {
					builder.Field(i).AppendNull()
				} else {
					c.append(builder.Field(i), some[random.IntN(len(some))])
				}
			}
		}
	}
	record := builder.NewRecord()
	var to bytes.Buffer
	writer, err := pqarrow.NewFileWriter(schema, &to, parquet.NewWriterProperties(properties...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	require.NoError(t, err)
	table := array.NewTableFromRecords(schema, []arrow.Record{record})
	defer table.Release()
	require.NoError(t, writer.WriteTable(table, rows))
	require.NoError(t, writer.Close())
	return to.Bytes(), record
}

// matching counts the rows that meet a condition.
func matching(t *testing.T, record arrow.Record, condition expr.Expr) (n int) {
	t.Helper()
	results, err := expr.EvaluateRecord(t.Context(), record, []expr.Expr{condition})
	require.NoError(t, err)
	defer results[0].Release()
	matches := results[0].(*array.Boolean)
	for i := range matches.Len() {
		if matches.IsValid(i) && matches.Value(i) {
			n++
		}
	}
	return n
}

// No row that meets a condition is left out by a dictionary, with nulls, NaN, both zeros, empty
// text, types that the file stores as others, and dictionaries that were given up; and
// most row groups without one are left out.
func TestDictionariesExcludeRowGroups(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	columns := memberColumns()
	random := rand.New(rand.NewPCG(1, 3))
	for name, properties := range property.InOrder(map[string][]parquet.WriterProperty{
		"plain":    {},
		"zstd, v2": {parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDataPageVersion(parquet.DataPageV2)},
		"snappy":   {parquet.WithCompression(compress.Codecs.Snappy), parquet.WithVersion(parquet.V1_0)},
		"given up": {parquet.WithDictionaryPageSizeLimit(9), parquet.WithDataPageSize(40), parquet.WithBatchSize(5)},
		"none":     {parquet.WithDictionaryDefault(false)},
	}) {
		data, record := memberFile(t, random, columns, 8, properties...)
		s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		skipped := int64(0)
		for i, c := range columns {
			for range 6 {
				column := expr.Col(fmt.Sprint("c", i))
				condition := column.Eq(expr.Lit(c.literal(random.IntN(100))))
				switch random.IntN(4) {
				case 0:
					condition = expr.Lit(c.literal(random.IntN(100))).Eq(column)
				case 1:
					condition = condition.And(expr.Col("c0").IsValid())
				case 2:
					first := c.literal(random.IntN(100))
					condition = column.In(first, first, c.literal(random.IntN(100)))
				}
				results, err := expr.EvaluateRecord(t.Context(), record, []expr.Expr{condition})
				if err != nil {
					continue // literals of two types
				}
				results[0].Release()
				var counters source.Counters
				got := 0
				for _, part := range read(t, s, m, source.Request{Where: []expr.Expr{condition}, Counters: &counters}) {
					got += matching(t, part, condition)
				}
				require.Equal(t, matching(t, record, condition), got, "%s: %v", name, condition)
				skipped += counters.SkippedByDictionary.Load()
			}
		}
		if name == "none" {
			assert.Zero(t, skipped)
		} else if name != "given up" {
			assert.Greater(t, skipped, int64(100), name)
		}
	}
}

// DuckDB wrote the file: two row groups of the numbers 0, 5, … 195 as bigint, unsigned 8 bits,
// text and 32 bits, and of halves of these as double, with Bloom filters.
func TestBloomFilters(t *testing.T) {
	data, err := os.ReadFile("testdata/bloom-duckdb-1.4.4.parquet")
	require.NoError(t, err)
	s, err := source.ParquetReaderAt("bloom", bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	excluded := 0
	for n := range 200 {
		for column, literal := range map[string]any{"i": n, "u": uint64(n), "s": fmt.Sprint("city ", n), "d": float64(n) / 2, "j": int16(n)} {
			present := n%5 == 0
			for rowGroup := range 2 {
				dictionary, known, filter := source.Lacks(t.Context(), s, rowGroup, expr.Col(column).Eq(expr.Lit(literal)))
				assert.Equal(t, []bool{!present, true}, []bool{dictionary, known}, "%s = %v", column, literal)
				if present {
					require.False(t, filter, "%s = %v", column, literal)
				} else if filter {
					excluded++
				}
			}
		}
	}
	assert.Greater(t, excluded, 1500, "of 1,600")
	for _, condition := range []expr.Expr{
		expr.Col("d").Eq(expr.Lit(0.0)), expr.Col("d").Eq(expr.Lit(math.Copysign(0, -1))), expr.Col("d").Eq(expr.Lit(0)), // -0 is there
		expr.Col("i").In(1, 5), expr.Col("i").Eq(expr.Lit(1.5)), expr.Col("u").Eq(expr.Lit(300)), expr.Col("d").Eq(expr.Lit(math.NaN())),
	} {
		_, _, filter := source.Lacks(t.Context(), s, 0, condition)
		assert.False(t, filter, "%v", condition)
	}
}

// arrow-go writes wrong statistics of unsigned integers: they exclude nothing, and are no
// bounds.
func TestUnsignedStatistics(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for _, column := range memberColumns()[2:4] {
		data, record := memberFile(t, rand.New(rand.NewPCG(1, 3)), []memberColumn{column}, 2)
		s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		_, _, ok := s.Bounds(t.Context(), "c0")
		assert.False(t, ok)
		condition := expr.Col("c0").Ge(expr.Lit(column.literal(0)))
		got := 0
		for _, part := range read(t, s, m, source.Request{Where: []expr.Expr{condition}}) {
			got += matching(t, part, condition)
		}
		assert.Positive(t, got)
		assert.Equal(t, matching(t, record, condition), got)
	}
}
