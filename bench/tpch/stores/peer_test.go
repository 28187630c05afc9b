package stores

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/bench/tpch/internal/session"
	"github.com/gpuframe/gpuframe/bench/tpch/queries"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/objectstore/s3"
)

var peer = flag.Bool("peer", false, "compare with Polars: nodejs-polars of npm, which NODE_PATH finds")

// peerQueries are those of polars.js.
var peerQueries = []int{1, 3, 6, 12, 14}

// byGpuframe runs a query several times, each time with lists of its objects. The time is that of the fastest one, requests and
// bytes are those of one on average.
func byGpuframe(ctx context.Context, proxy *objecttest.Proxy, query func() gpuframe.Query) (m measurement, err error) {
	requests, bytes := proxy.Requests.Load(), proxy.Bytes.Load()
	for i := range *rounds {
		begin := time.Now()
		frame, err := query().Collect(ctx)
		if err != nil {
			return m, err
		}
		if taken := time.Since(begin); i == 0 || taken < m.time {
			m.time = taken
		}
		record, err := frame.Record(ctx)
		if err = errors.Join(err, frame.Release()); err != nil {
			return m, err
		}
		m.answer = fmt.Sprint(record)
		record.Release()
	}
	m.requests = (proxy.Requests.Load() - requests) / int64(*rounds)
	m.bytes = (proxy.Bytes.Load() - bytes) / int64(*rounds)
	return m, nil
}

// byPolars runs a query in another process, several times there, so that its connections are open. The time is that of the
// fastest one, without the start of the process; requests and bytes are those of one on average.
func byPolars(ctx context.Context, number int, endpoint string, proxy *objecttest.Proxy) (m measurement, err error) {
	requests, bytes := proxy.Requests.Load(), proxy.Bytes.Load()
	output, err := exec.CommandContext(ctx, "node", "polars.js", strconv.Itoa(number), strconv.Itoa(*rounds), endpoint,
		objecttest.GatewayUser, objecttest.GatewaySecret, "s3://bucket/").Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w: %s", err, failed.Stderr)
		}
		return m, err
	}
	m.requests = (proxy.Requests.Load() - requests) / int64(*rounds)
	m.bytes = (proxy.Bytes.Load() - bytes) / int64(*rounds)
	first, rest, _ := strings.Cut(string(output), "\n")
	milliseconds, err := strconv.ParseFloat(first, 64)
	m.time, m.answer = time.Duration(milliseconds*1e6), strings.TrimSpace(rest)
	return m, err
}

// Some queries on objects by gpuframe and by Polars, alternately, over the same server and proxy. Answers are printed with -v.
func TestPeer(t *testing.T) {
	if !*peer {
		t.Skip("-peer is not given")
	}
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
	fmt.Printf("# scale factor %v, %v until an answer begins\n", *scale, *latency)
	fmt.Println("| query | gpuframe: requests | MB | ms | Polars: requests | MB | ms | Polars / gpuframe |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, q := range queries.All {
		if !slices.Contains(peerQueries, q.Number) {
			continue
		}
		proxy.Latency = *latency
		own, err := byGpuframe(t.Context(), proxy, func() gpuframe.Query {
			return q.Of(tables(*scale, gpu.Objects(store).Parquet, "s3://bucket/"))
		})
		require.NoError(t, err)
		other, err := byPolars(t.Context(), q.Number, proxy.URL, proxy)
		proxy.Latency = 0
		require.NoError(t, err)
		t.Logf("query %d\n%s\n%s", q.Number, own.answer, other.answer)
		fmt.Printf("| %d | %d | %.2f | %d | %d | %.2f | %d | %.2f |\n", q.Number, own.requests, float64(own.bytes)/1e6, own.time.Milliseconds(),
			other.requests, float64(other.bytes)/1e6, other.time.Milliseconds(), other.time.Seconds()/own.time.Seconds())
	}
}
