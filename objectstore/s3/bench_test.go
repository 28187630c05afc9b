package s3_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
)

// measuredRows is the number of rows of the measured file, in eight row groups.
const measuredRows = 2 << 20

// measuredFile writes a file of a sorted column and seven columns of random numbers.
func measuredFile(b *testing.B, gpu *gpuframe.Engine) (path string) {
	fields := []arrow.Field{{Name: "day", Type: arrow.PrimitiveTypes.Int64}}
	for i := range 7 {
		fields = append(fields, arrow.Field{Name: "c" + strconv.Itoa(i), Type: arrow.PrimitiveTypes.Int64})
	}
	schema := arrow.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	random := rand.New(rand.NewPCG(1, 2))
	for row := range measuredRows {
		builder.Field(0).(*array.Int64Builder).Append(int64(row / 1000))
		for i := range 7 {
			builder.Field(1 + i).(*array.Int64Builder).Append(random.Int64N(1 << 40))
		}
	}
	path = filepath.Join(b.TempDir(), "a.parquet")
	_, err := gpu.Records(schema, builder.NewRecord()).WriteFile(b.Context(), path, gpuframe.ParquetWith(gpuframe.ParquetOptions{GroupRows: measuredRows / 8, PageRows: 16 << 10}))
	require.NoError(b, err)
	return path
}

// Requests and bytes of queries on a file of S3, with 50 ms before each answer, and their time and that of a local file:
//
//	GPUFRAME_VERSITYGW=build/tools/versitygw go test -run ^$ -bench Queries .
func BenchmarkQueries(b *testing.B) {
	proxy := objecttest.NewProxy(b, gateway(b))
	store := storeAt(b, proxy.URL, "secret")
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(b, err)
	defer func() { require.NoError(b, gpu.Close()) }()
	path := measuredFile(b, gpu)
	data, err := os.ReadFile(path)
	require.NoError(b, err)
	require.NoError(b, store.Put(b.Context(), bucket+"a.parquet", bytes.Clone(data)))
	proxy.Latency = 50 * time.Millisecond
	c0, day := gpuframe.Col("c0"), gpuframe.Col("day")
	for _, test := range []struct {
		name  string
		query func(q gpuframe.Query) gpuframe.Query
	}{
		{"count", func(q gpuframe.Query) gpuframe.Query { return q.GroupBy().Agg(gpuframe.Count().As("n")) }},
		{"sum of a column", func(q gpuframe.Query) gpuframe.Query { return q.GroupBy().Agg(c0.Sum()) }},
		{"a day", func(q gpuframe.Query) gpuframe.Query { return q.Filter(day.Eq(1000)).GroupBy().Agg(c0.Sum()) }},
		{"all columns", func(q gpuframe.Query) gpuframe.Query {
			var sums []gpuframe.Expression
			for i := range 7 {
				sums = append(sums, gpuframe.Col("c"+strconv.Itoa(i)).Sum())
			}
			return q.GroupBy().Agg(sums...)
		}},
	} {
		collect := func(q gpuframe.Query) {
			result, err := test.query(q).Collect(b.Context())
			require.NoError(b, err)
			require.NoError(b, result.Release())
		}
		b.Run(test.name, func(b *testing.B) {
			requests, received := proxy.Requests.Load(), proxy.Bytes.Load()
			for b.Loop() {
				collect(gpu.Objects(store).Parquet(bucket + "a.parquet"))
			}
			b.ReportMetric(float64(proxy.Requests.Load()-requests)/float64(b.N), "requests/op")
			b.ReportMetric(float64(proxy.Bytes.Load()-received)/float64(b.N)/1e6, "MB/op")
			b.ReportMetric(float64(len(data))/1e6, "MB/file")
		})
		b.Run(test.name+", local", func(b *testing.B) {
			for b.Loop() {
				collect(gpu.Parquet(path))
			}
		})
	}
}
