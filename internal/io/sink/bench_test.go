package sink_test

import (
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func BenchmarkLineitem(b *testing.B) {
	m := devicetest.Manager(b, devicetest.Open(b, "host"), memory.Options{})
	g, err := data.New(0.25, 1)
	require.NoError(b, err)
	var records []arrow.Record
	for record, err := range g.Records(b.Context(), data.Lineitem, 1<<20) {
		require.NoError(b, err)
		records = append(records, record)
	}
	for b.Loop() {
		reader := readerOf(b, m, records[0].Schema(), records, 1<<20)
		w, err := sink.ToWriter(b.Context(), io.Discard, sink.Parquet(sink.ParquetOptions{Compression: "zstd"}), reader)
		require.NoError(b, err)
		require.NoError(b, reader.Close())
		b.SetBytes(w.Bytes)
	}
}
