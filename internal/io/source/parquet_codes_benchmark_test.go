package source_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// benchmarkedFile has 1,000 texts in no order, in runs of 500 rows, and 1,000 numbers, beside other columns.
func benchmarkedFile(b *testing.B) []byte {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "random", Type: arrow.BinaryTypes.String}, {Name: "runs", Type: arrow.BinaryTypes.String}, {Name: "number", Type: arrow.PrimitiveTypes.Int64},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "d", Type: arrow.BinaryTypes.String}, {Name: "p", Type: arrow.BinaryTypes.String},
	}, nil)
	builder, random := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema), rand.New(rand.NewPCG(1, 2))
	defer builder.Release()
	text := func(column int, format string, n int) {
		builder.Field(column).(*array.StringBuilder).Append(fmt.Sprintf(format, n))
	}
	for i := range 2_000_000 {
		text(0, "value %03d", random.IntN(1000))
		text(1, "value %03d", i/500%1000)
		builder.Field(2).(*array.Int64Builder).Append(int64(random.IntN(1000)))
		builder.Field(3).(*array.Int64Builder).Append(random.Int64())
		text(4, "another text of a dictionary %d", random.IntN(500))
		text(5, "text %d", random.IntN(math.MaxInt32))
	}
	record := builder.NewRecord()
	defer record.Release()
	return wordsFile(b, []arrow.Record{record}, parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryFor("n", false), parquet.WithDictionaryFor("p", false), parquet.WithStats(false))
}

// BenchmarkCodes reads and filters a file by conditions that keep one to 800 of 1,000 rows, with and without a selection by codes.
func BenchmarkCodes(b *testing.B) {
	m := devicetest.Manager(b, devicetest.Open(b, "host"), memory.Options{})
	data := benchmarkedFile(b)
	s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
	require.NoError(b, err)
	for _, column := range []string{"random", "runs", "number"} {
		for _, part := range []int{1, 10, 50, 200, 800} {
			where := expr.Col(column).Lt(expr.Lit(fmt.Sprintf("value %03d", part)))
			if column == "number" {
				where = expr.Col(column).Lt(expr.Lit(part))
			}
			for name, least := range map[string]int64{"values": math.MaxInt64, "codes": 1 << 10} {
				b.Run(fmt.Sprintf("%s/%d/%s", column, part, name), func(b *testing.B) {
					defer source.SetCodes(least, 16)()
					begin := processor.Time()
					for range b.N {
						readFiltered(b, s, m, where)
					}
					b.ReportMetric((processor.Time()-begin).Seconds()*1000/float64(b.N), "processor-ms/op")
				})
			}
		}
	}
}

// readFiltered reads all tables of a source and filters them.
func readFiltered(b *testing.B, s source.Source, m *memory.Manager, where expr.Expr) {
	reader, err := s.Open(b.Context(), m, source.Request{Where: []expr.Expr{where}})
	require.NoError(b, err)
	defer func() { require.NoError(b, reader.Close()) }()
	for {
		table, err := reader.Next(b.Context())
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(b, err)
		filtered, err := selection.Filter(b.Context(), table, where)
		require.NoError(b, err)
		require.NoError(b, errors.Join(filtered.Release(), table.Release()))
	}
}
