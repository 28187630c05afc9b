package flight_test

import (
	"net"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/flight"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
)

// plain is arrow-go's Flight server with records in host memory.
type plain struct {
	arrowflight.BaseFlightServer
	records []arrow.Record
}

func (p *plain) DoGet(_ *arrowflight.Ticket, stream arrowflight.FlightService_DoGetServer) error {
	writer := arrowflight.NewRecordWriter(stream, ipc.WithSchema(p.records[0].Schema()))
	defer writer.Close()
	for _, record := range p.records {
		if err := writer.Write(record); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkRead reads 1 GiB of float64 and int64 from arrow-go's server, which has the data
// in host memory, and from a table on the first device, in messages of 2 MiB. Reads of both
// alternate, so that other load on the machine meets both. It reports the time of arrow-go's
// server divided by that of gpuframe's, and the same of the processor time of server and
// client: the aim is 0.7 or more.
func BenchmarkRead(b *testing.B) {
	const rows, messages = 128 << 10, 512
	numbers := array.NewFloat64Builder(memory.DefaultAllocator)
	numbers.Reserve(rows * messages)
	for i := range rows * messages {
		numbers.UnsafeAppend(float64(i))
	}
	values := numbers.NewArray()
	longs := array.NewInt64Data(array.NewData(arrow.PrimitiveTypes.Int64, values.Len(), values.Data().Buffers(), nil, 0, 0))
	s := arrow.NewSchema([]arrow.Field{{Name: "f", Type: arrow.PrimitiveTypes.Float64}, {Name: "i", Type: arrow.PrimitiveTypes.Int64}}, nil)
	whole := array.NewRecord(s, []arrow.Array{values, longs}, rows*messages)

	theirs := arrowflight.NewServerWithMiddleware(nil)
	require.NoError(b, theirs.Init("127.0.0.1:0"))
	p := &plain{}
	for i := range int64(messages) {
		p.records = append(p.records, whole.NewSlice(i*rows, (i+1)*rows))
	}
	theirs.RegisterFlightService(p)
	go theirs.Serve()
	defer theirs.Shutdown()

	engine, err := gpuframe.Open()
	require.NoError(b, err)
	defer func() { require.NoError(b, engine.Close()) }()
	frame, err := engine.Records(s, whole).Collect(b.Context())
	require.NoError(b, err)
	defer func() { require.NoError(b, frame.Release()) }()
	ours, err := flight.NewServer(engine, flight.Options{})
	require.NoError(b, err)
	defer func() { require.NoError(b, ours.Close()) }()
	require.NoError(b, ours.ShareFrame("t", frame))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	go ours.Serve(listener)

	var wall, busy [2]time.Duration
	var clients [2]*flight.Client
	for i, address := range []string{theirs.Addr().String(), listener.Addr().String()} {
		clients[i], err = flight.Dial(address, flight.DialOptions{})
		require.NoError(b, err)
		defer clients[i].Close()
	}
	read := func(side int) {
		begin, used := time.Now(), processor.Time()
		reader, err := clients[side].Read(b.Context(), "t")
		require.NoError(b, err)
		got := int64(0)
		for reader.Next() {
			got += reader.Record().NumRows()
		}
		require.NoError(b, reader.Err())
		require.EqualValues(b, rows*messages, got)
		reader.Release()
		wall[side] += time.Since(begin)
		busy[side] += processor.Time() - used
	}
	read(0)
	read(1)
	wall, busy = [2]time.Duration{}, [2]time.Duration{}
	for b.Loop() {
		read(0)
		read(1)
	}
	b.Log(engine.Device())
	gigabytes := float64(rows*messages*16) * float64(b.N) / 1e9
	b.ReportMetric(gigabytes/wall[0].Seconds(), "arrow-go-GB/s")
	b.ReportMetric(gigabytes/wall[1].Seconds(), "gpuframe-GB/s")
	b.ReportMetric(wall[0].Seconds()/wall[1].Seconds(), "ratio")
	b.ReportMetric(busy[0].Seconds()/busy[1].Seconds(), "processor-ratio")
}
