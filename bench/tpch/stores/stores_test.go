package stores

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/bench/tpch/internal/session"
	"github.com/gpuframe/gpuframe/bench/tpch/queries"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/objectstore"
	"github.com/gpuframe/gpuframe/objectstore/s3"
)

var (
	scale   = flag.Float64("sf", 0.01, "scale factor of TPC-H")
	latency = flag.Duration("latency", 0, "time before the first byte of each answer")
	rounds  = flag.Int("rounds", 1, "times that a query runs; the fastest is printed")
)

// tables are the tables of TPC-H in a folder or below a URL, opened again for each query.
func tables(scale float64, parquet func(paths ...string) gpuframe.Query, root string) queries.Tables {
	t := queries.Tables{Scale: scale}
	for table, query := range map[data.Table]*gpuframe.Query{
		data.Region: &t.Region, data.Nation: &t.Nation, data.Supplier: &t.Supplier, data.Customer: &t.Customer,
		data.Part: &t.Part, data.PartSupp: &t.PartSupp, data.Orders: &t.Orders, data.Lineitem: &t.Lineitem,
	} {
		*query = parquet(root + table.String() + "-*.parquet")
	}
	return t
}

// measurement is what a query took.
type measurement struct {
	time            time.Duration
	requests, bytes int64
	answer          string
}

// fastest runs a query, which is made again each time.
func fastest(ctx context.Context, make func() gpuframe.Query, proxy *objecttest.Proxy) (best measurement, err error) {
	for i := range *rounds {
		m := measurement{requests: -proxy.Requests.Load(), bytes: -proxy.Bytes.Load()}
		q := make()
		begin := time.Now()
		frame, err := q.Collect(ctx)
		if err != nil {
			return best, err
		}
		m.time = time.Since(begin)
		m.requests += proxy.Requests.Load()
		m.bytes += proxy.Bytes.Load()
		record, err := frame.Record(ctx)
		if err != nil {
			return best, errors.Join(err, frame.Release())
		}
		m.answer = fmt.Sprint(record)
		record.Release()
		if err := frame.Release(); err != nil {
			return best, err
		}
		if i == 0 || m.time < best.time {
			best = m
		}
	}
	return best, nil
}

// rate returns the bytes per second of ranges of an object, 64 at a time, as the readers of a query request them.
func rate(ctx context.Context, store objectstore.Store, name string) (float64, error) {
	about, err := store.Stat(ctx, name)
	if err != nil {
		return 0, err
	}
	const piece = 4 << 20
	group, begin := errgroup.Group{}, time.Now()
	group.SetLimit(64)
	for offset := int64(0); offset < about.Size; offset += piece {
		group.Go(func() error {
			return store.ReadRange(ctx, about, make([]byte, min(piece, about.Size-offset)), offset)
		})
	}
	err = group.Wait()
	return float64(about.Size) / time.Since(begin).Seconds(), err
}

// Queries on objects have the answers of those on files. It prints requests, bytes and times.
func TestQueries(t *testing.T) {
	gateway := objecttest.StartGateway(t)
	proxy := objecttest.NewProxy(t, gateway.URL)
	store, err := s3.New(t.Context(), s3.Options{Endpoint: proxy.URL, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider(objecttest.GatewayUser, objecttest.GatewaySecret, "")})
	require.NoError(t, err)
	g, err := data.New(*scale, session.DefaultSeed)
	require.NoError(t, err)
	require.NoError(t, g.WriteParquet(t.Context(), gateway.Bucket))
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, gpu.Close()) }()
	bytesPerSecond, err := rate(t.Context(), store, "s3://bucket/lineitem-000.parquet")
	require.NoError(t, err)
	fmt.Printf("# scale factor %v, %v until an answer begins, %.0f MB/s without it\n", *scale, *latency, bytesPerSecond/1e6)
	fmt.Println("| query | requests | MB | file, ms | object, ms | object / floor |")
	fmt.Println("| --- | --- | --- | --- | --- | --- |")
	for _, q := range queries.All {
		local, err := fastest(t.Context(), func() gpuframe.Query {
			return q.Of(tables(*scale, gpu.Parquet, gateway.Bucket+string(filepath.Separator)))
		}, proxy)
		require.NoError(t, err)
		remote, err := fastest(t.Context(), func() gpuframe.Query {
			proxy.Latency = 0 // of lists
			defer func() { proxy.Latency = *latency }()
			return q.Of(tables(*scale, gpu.Objects(store).Parquet, "s3://bucket/"))
		}, proxy)
		proxy.Latency = 0
		require.NoError(t, err)
		require.Equal(t, local.answer, remote.answer, "query %d", q.Number)
		floor := max(local.time.Seconds(), float64(remote.bytes)/bytesPerSecond)
		fmt.Printf("| %d | %d | %.2f | %d | %d | %.2f |\n", q.Number, remote.requests-int64(len(data.Tables)), float64(remote.bytes)/1e6,
			local.time.Milliseconds(), remote.time.Milliseconds(), remote.time.Seconds()/floor)
	}
}
