package duckdb

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/bench/tpch/queries"
	gpusql "github.com/gpuframe/gpuframe/sql"
)

var timesScale = flag.Float64("times", 0.01, "the scale factor of BenchmarkTPCH")

// BenchmarkTPCH compares the times of the questions of TPC-H in SQL, with their translation, with those of queries in
// Go, on tables in memory of the device. Both take turns.
func BenchmarkTPCH(b *testing.B) {
	engine, err := gpuframe.Open(gpuframe.Device(*deviceName))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, engine.Close()) })
	session := gpusql.New(engine)
	b.Cleanup(func() { require.NoError(b, session.Close()) })
	generator, err := data.New(*timesScale, 1)
	require.NoError(b, err)
	table := func(table data.Table) gpuframe.Query {
		frame := loaded(b, engine, generator, table)
		b.Cleanup(func() { require.NoError(b, frame.Release()) })
		session.Register(table.String(), frame.Query())
		return frame.Query()
	}
	tables := queries.Tables{
		Region: table(data.Region), Nation: table(data.Nation), Supplier: table(data.Supplier), Customer: table(data.Customer),
		Part: table(data.Part), PartSupp: table(data.PartSupp), Orders: table(data.Orders), Lineitem: table(data.Lineitem), Scale: *timesScale,
	}
	var all [3]time.Duration
	for _, q := range queries.All {
		text, err := q.SQL(*timesScale)
		require.NoError(b, err)
		written := func() (gpuframe.Query, error) { return session.Query(b.Context(), text) }
		byHand := func() (gpuframe.Query, error) { return q.Of(tables), nil }
		b.Run(fmt.Sprint(q.Number), func(b *testing.B) {
			var least [3]time.Duration // of SQL, of its translation, of Go
			for b.Loop() {
				translation, run := taken(b, written)
				first, second := taken(b, byHand)
				for i, d := range []time.Duration{translation + run, translation, first + second} {
					if least[i] == 0 || d < least[i] {
						least[i] = d
					}
				}
			}
			report(b, least)
			for i, d := range least {
				all[i] += d
			}
		})
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
		}
		report(b, all)
	})
}

// report reports the times of SQL, of its translation and of Go.
func report(b *testing.B, times [3]time.Duration) {
	for i, unit := range []string{"sql-ms", "translation-ms", "go-ms"} {
		b.ReportMetric(times[i].Seconds()*1e3, unit)
	}
	b.ReportMetric(times[0].Seconds()/times[2].Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}

// loaded returns a table in memory of the device.
func loaded(t testing.TB, engine *gpuframe.Engine, generator *data.Generator, table data.Table) *gpuframe.Frame {
	var list []gpuframe.Query
	for record, err := range generator.Records(t.Context(), table, 1<<20) {
		require.NoError(t, err)
		list = append(list, engine.Records(record.Schema(), record))
	}
	frame, err := list[0].Union(list[1:]...).Collect(t.Context())
	require.NoError(t, err)
	return frame
}

// taken returns the times to make a query and to collect it.
func taken(b *testing.B, query func() (gpuframe.Query, error)) (translation, run time.Duration) {
	begun := time.Now()
	q, err := query()
	require.NoError(b, err)
	translation = time.Since(begun)
	frame, err := q.Collect(b.Context())
	require.NoError(b, err)
	run = time.Since(begun) - translation
	require.NoError(b, frame.Release())
	return translation, run
}
