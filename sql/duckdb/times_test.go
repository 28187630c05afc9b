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

var timesScale = flag.Float64("times", 0, "the scale factor at which TestTimes compares SQL with queries in Go")

// TestTimes prints the times of the questions of TPC-H in SQL and in Go, on tables in memory of the host.
func TestTimes(t *testing.T) {
	if *timesScale == 0 {
		t.Skip("-args -times 0.1 runs it")
	}
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	session := gpusql.New(engine)
	t.Cleanup(func() { require.NoError(t, session.Close()) })
	generator, err := data.New(*timesScale, 1)
	require.NoError(t, err)
	table := func(table data.Table) gpuframe.Query {
		frame := loaded(t, engine, generator, table)
		t.Cleanup(func() { require.NoError(t, frame.Release()) })
		session.Register(table.String(), frame.Query())
		return frame.Query()
	}
	tables := queries.Tables{
		Region: table(data.Region), Nation: table(data.Nation), Supplier: table(data.Supplier), Customer: table(data.Customer),
		Part: table(data.Part), PartSupp: table(data.PartSupp), Orders: table(data.Orders), Lineitem: table(data.Lineitem), Scale: *timesScale,
	}
	var sums [2]time.Duration
	for _, q := range queries.All {
		text, err := q.SQL(*timesScale)
		require.NoError(t, err)
		written := func() (gpuframe.Query, error) { return session.Query(t.Context(), text) }
		byHand := func() (gpuframe.Query, error) { return q.Of(tables), nil }
		times := [2]time.Duration{fastest(t, written), fastest(t, byHand)}
		fmt.Printf("| %d | %.1f | %.1f | %.2f |\n", q.Number, times[0].Seconds()*1e3, times[1].Seconds()*1e3, times[0].Seconds()/times[1].Seconds())
		sums[0], sums[1] = sums[0]+times[0], sums[1]+times[1]
	}
	fmt.Printf("| all | %.1f | %.1f | %.2f |\n", sums[0].Seconds()*1e3, sums[1].Seconds()*1e3, sums[0].Seconds()/sums[1].Seconds())
}

// loaded returns a table in memory of the device.
func loaded(t *testing.T, engine *gpuframe.Engine, generator *data.Generator, table data.Table) *gpuframe.Frame {
	var list []gpuframe.Query
	for record, err := range generator.Records(t.Context(), table, 1<<20) {
		require.NoError(t, err)
		list = append(list, engine.Records(record.Schema(), record))
	}
	frame, err := list[0].Union(list[1:]...).Collect(t.Context())
	require.NoError(t, err)
	return frame
}

// fastest returns the fastest of five times to make a query and collect it.
func fastest(t *testing.T, query func() (gpuframe.Query, error)) (least time.Duration) {
	for range 5 {
		begun := time.Now()
		q, err := query()
		require.NoError(t, err)
		frame, err := q.Collect(t.Context())
		require.NoError(t, err)
		if took := time.Since(begun); least == 0 || took < least {
			least = took
		}
		require.NoError(t, frame.Release())
	}
	return least
}
