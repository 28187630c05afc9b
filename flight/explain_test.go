package flight_test

import (
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/flight"
)

// countedReader counts its records.
type countedReader struct {
	array.RecordReader
	read *atomic.Int64
}

func (r countedReader) Next() bool {
	r.read.Add(1)
	return r.RecordReader.Next()
}

// TestExplainAnalyze tests that the description of a result runs nothing, and that reading it runs the query.
func TestExplainAnalyze(t *testing.T) {
	server, address := serve(t, flight.Options{})
	var read atomic.Int64
	require.NoError(t, server.Share("counted", func(e *gpuframe.Engine) gpuframe.Query {
		reader, err := array.NewRecordReader(schema, []arrow.Record{table(0, 10)})
		require.NoError(t, err)
		return e.Reader(countedReader{reader, &read})
	}))
	client, err := arrowflight.NewClientWithMiddleware(address, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	text := []byte("explain analyze select count(*) from counted")
	info, err := client.GetFlightInfo(t.Context(), &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorCMD, Cmd: text})
	require.NoError(t, err)
	require.Zero(t, read.Load())
	stream, err := client.DoGet(t.Context(), info.Endpoint[0].Ticket)
	require.NoError(t, err)
	reader, err := arrowflight.NewRecordReader(stream)
	require.NoError(t, err)
	require.Contains(t, all(t, reader, nil).Column(0).ValueStr(0), "scan")
	require.NotZero(t, read.Load())
}
