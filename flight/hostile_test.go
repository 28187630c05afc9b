package flight_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/flight"
)

// raw dials without this package's client, which sends no odd messages.
func raw(t *testing.T, address string) arrowflight.Client {
	t.Helper()
	client, err := arrowflight.NewClientWithMiddleware(address, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// last reads a stream to its end and returns its error.
func last[M any](receive func() (M, error)) error {
	for {
		if _, err := receive(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestOddDescriptors sends descriptors and tickets that name nothing.
func TestOddDescriptors(t *testing.T) {
	_, address := serve(t, flight.Options{})
	client := raw(t, address)
	path := func(names ...string) *arrowflight.FlightDescriptor {
		return &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorPATH, Path: names}
	}
	long := strings.Repeat("a", 1<<20)
	for _, c := range []struct {
		descriptor *arrowflight.FlightDescriptor
		code       codes.Code
		text       string
	}{
		{&arrowflight.FlightDescriptor{}, codes.InvalidArgument, "expected PATH with a table's name"},
		{&arrowflight.FlightDescriptor{Type: 7}, codes.InvalidArgument, "type is 7"},
		{path(), codes.InvalidArgument, "one element"},
		{path("a", "b"), codes.InvalidArgument, "one element"},
		{path(""), codes.InvalidArgument, "0 bytes, expected 1 to 255"},
		{path(long), codes.InvalidArgument, "1048576 bytes, expected 1 to 255"},
		{path("a\nb"), codes.InvalidArgument, "the character U+000A"},
		{path("sails"), codes.NotFound, `"sales"`},
		{&arrowflight.FlightDescriptor{Type: arrowflight.DescriptorCMD}, codes.InvalidArgument, "no JSON"},
		{&arrowflight.FlightDescriptor{Type: arrowflight.DescriptorCMD, Cmd: []byte(long)}, codes.InvalidArgument, ""},
		{&arrowflight.FlightDescriptor{Type: arrowflight.DescriptorCMD, Cmd: []byte(long + "a")}, codes.ResourceExhausted, "1048577 bytes"},
	} {
		_, err := client.GetFlightInfo(t.Context(), c.descriptor)
		requireCode(t, c.code, err, c.text)
		require.Less(t, len(err.Error()), 3000)
		_, err = client.GetSchema(t.Context(), c.descriptor)
		requireCode(t, c.code, err, c.text)
		if text := c.descriptor.GetCmd(); text != nil {
			stream, err := client.DoGet(t.Context(), &arrowflight.Ticket{Ticket: text})
			require.NoError(t, err)
			requireCode(t, c.code, last(stream.Recv), c.text)
		}
	}
	stream, err := client.DoAction(t.Context(), &arrowflight.Action{Type: "drop", Body: []byte(long)})
	require.NoError(t, err)
	err = last(stream.Recv)
	requireCode(t, codes.NotFound, err, "has uploaded no table")
	require.Less(t, len(err.Error()), 3000, "the error quotes a part of the name")

	// Calls that the server does not have.
	stream, err = client.DoAction(t.Context(), &arrowflight.Action{Type: "format"})
	require.NoError(t, err)
	require.Error(t, last(stream.Recv))
	exchange, err := client.DoExchange(t.Context())
	require.NoError(t, err)
	requireCode(t, codes.Unimplemented, last(exchange.Recv), "")
	_, err = client.PollFlightInfo(t.Context(), path("sales"))
	requireCode(t, codes.Unimplemented, err, "")

	// A pattern of many wildcards takes no longer than its length.
	sql := &flightsql.Client{Client: client, Alloc: memory.DefaultAllocator}
	pattern := strings.Repeat("%", 500_000) + "x"
	info, err := sql.GetTables(t.Context(), &flightsql.GetTablesOpts{TableNameFilterPattern: &pattern})
	require.NoError(t, err)
	reader, err := sql.DoGet(t.Context(), info.Endpoint[0].Ticket)
	require.Zero(t, all(t, reader, err).NumRows())
}

// TestErrorsNameNoFolders reads a table on a file that is gone, and one on a damaged file.
func TestErrorsNameNoFolders(t *testing.T) {
	server, address := serve(t, flight.Options{})
	folder := filepath.Join(t.TempDir(), "hidden")
	require.NoError(t, os.Mkdir(folder, 0o700))
	damaged := filepath.Join(folder, "damaged.parquet")
	require.NoError(t, os.WriteFile(damaged, []byte("PAR1 this is no Parquet file PAR1"), 0o600))
	good := filepath.Join(folder, "good.csv")
	require.NoError(t, os.WriteFile(good, []byte("n\n1\n"), 0o600))
	for name, path := range map[string]string{"gone": filepath.Join(folder, "gone.parquet"), "damaged": damaged} {
		require.NoError(t, server.Share(name, func(e *gpuframe.Engine) gpuframe.Query { return e.Parquet(path) }))
		_, err := dial(t, address, flight.DialOptions{}).Read(t.Context(), name)
		require.ErrorContains(t, err, filepath.Base(path))
		require.NotContains(t, err.Error(), "hidden")
	}
	require.NoError(t, server.Share("good", func(e *gpuframe.Engine) gpuframe.Query { return e.CSV(good) }))
	text, err := dial(t, address, flight.DialOptions{}).Explain(t.Context(), []byte(`{"table": "good"}`))
	require.NoError(t, err)
	require.Contains(t, text, "good.csv")
	require.NotContains(t, text, "hidden")
}

// TestPanickingSource has a source that panics: the call fails, the server goes on.
func TestPanickingSource(t *testing.T) {
	server, address := serve(t, flight.Options{})
	require.NoError(t, server.Share("broken", func(*gpuframe.Engine) gpuframe.Query { panic("broken") }))
	client := dial(t, address, flight.DialOptions{})
	_, err := client.Read(t.Context(), "broken")
	requireCode(t, codes.Internal, err, "the call panicked")
	reader, err := client.Read(t.Context(), "sales")
	require.EqualValues(t, 10_000, all(t, reader, err).NumRows())
}

// TestStreamsOfOneClient holds as many calls open as are allowed.
func TestStreamsOfOneClient(t *testing.T) {
	server, address := serve(t, flight.Options{
		Clients: []flight.ClientAccess{{Name: "greedy", Token: "1"}, {Name: "other", Token: "2"}},
		Limits:  flight.Limits{Streams: 5, Uploads: 3, Idle: time.Hour},
	})
	client := raw(t, address)
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(t.Context(), "authorization", "bearer 1"))
	defer cancel()
	open := func() arrowflight.FlightService_DoPutClient {
		stream, err := client.DoPut(ctx)
		require.NoError(t, err)
		return stream
	}
	for range 3 {
		open()
	}
	flight.WaitRunning(server, 3)
	for range 20 {
		_, err := open().Recv()
		requireCode(t, codes.ResourceExhausted, err, `client "greedy" has 3 running uploads`)
	}
	exchanges := 0
	for range 2 { // other calls have room for two more, which wait for their requests
		stream, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		require.NoError(t, err)
		defer stream.Close()
		_, err = stream.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/arrow.flight.protocol.FlightService/DoGet")
		require.NoError(t, err)
		exchanges++
	}
	flight.WaitRunning(server, 3+exchanges)
	_, err := client.GetFlightInfo(ctx, &arrowflight.FlightDescriptor{})
	requireCode(t, codes.ResourceExhausted, err, `client "greedy" has 5 running calls`)

	reader, err := dial(t, address, flight.DialOptions{Token: "2"}).Read(t.Context(), "sales")
	require.EqualValues(t, 10_000, all(t, reader, err).NumRows(), "the other client has its own streams")

	cancel() // also ends calls that wait for their requests
	flight.WaitIdle(server)
	_, err = dial(t, address, flight.DialOptions{Token: "1"}).Tables(t.Context())
	require.NoError(t, err)
}

// TestMessagesWithoutToken sends large requests without a token. gRPC would receive them whole
// before it calls a handler.
func TestMessagesWithoutToken(t *testing.T) {
	_, address := serve(t, flight.Options{Clients: []flight.ClientAccess{{Name: "one", Token: "1"}}})
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	for _, method := range []string{"GetFlightInfo", "DoGet", "DoPut", "Nothing"} {
		stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/arrow.flight.protocol.FlightService/"+method)
		require.NoError(t, err)
		// No request is sent, and the answer comes all the same.
		requireCode(t, codes.Unauthenticated, stream.RecvMsg(&arrowflight.FlightInfo{}), "authorization: Bearer")
	}
}

// TestConnections opens more connections than are allowed.
func TestConnections(t *testing.T) {
	_, address := serve(t, flight.Options{Limits: flight.Limits{Connections: 2}})
	one := dial(t, address, flight.DialOptions{})
	_, err := one.Tables(t.Context())
	require.NoError(t, err)
	silent, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer silent.Close()
	_, err = silent.Read(make([]byte, 1)) // the server's settings: it has accepted the connection
	require.NoError(t, err)
	third, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer third.Close()
	_, err = third.Read(make([]byte, 1))
	require.Error(t, err, "the server closes it")
	_, err = one.Tables(t.Context())
	require.NoError(t, err)
}

// TestCloseWhileStreamsRun closes the server from two goroutines during reads and uploads.
func TestCloseWhileStreamsRun(t *testing.T) {
	server, address := serve(t, flight.Options{Limits: flight.Limits{BatchBytes: 1000}})
	var calls sync.WaitGroup
	for i := range 8 {
		client := dial(t, address, flight.DialOptions{})
		calls.Go(func() {
			for {
				var err error
				if i%2 == 0 {
					var reader array.RecordReader
					if reader, err = client.Read(t.Context(), "sales"); err == nil {
						for reader.Next() {
						}
						err = reader.Err()
						reader.Release()
					}
				} else {
					var reader array.RecordReader
					if reader, err = array.NewRecordReader(schema, []arrow.Record{table(0, 100), table(100, 100)}); err == nil {
						err = client.Upload(t.Context(), fmt.Sprint("table ", i), reader)
					}
				}
				if err != nil {
					return // the server is closed
				}
			}
		})
	}
	_, err := dial(t, address, flight.DialOptions{}).Tables(t.Context())
	require.NoError(t, err)
	var closing sync.WaitGroup
	for range 2 {
		closing.Go(func() {
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	closing.Wait()
	calls.Wait()
}

// TestLargeTable reads a table that is much larger than the host memory of a stream, with one
// value that is as large as many rows, through a client with gRPC's limit of 4 MiB.
func TestLargeTable(t *testing.T) {
	_, address := serve(t, flight.Options{})
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	const rows = 200_000
	for i := range rows {
		city := "city"
		if i == rows/2 {
			city = strings.Repeat("long ", 500_000)
		}
		b.Field(0).(*array.StringBuilder).Append(city)
		b.Field(1).(*array.Float64Builder).Append(float64(i))
		b.Field(2).(*array.Int64Builder).Append(int64(i))
	}
	record := b.NewRecord()
	whole, err := array.NewRecordReader(schema, []arrow.Record{record})
	require.NoError(t, err)
	require.NoError(t, dial(t, address, flight.DialOptions{}).Upload(t.Context(), "large", whole))
	stream, err := raw(t, address).DoGet(t.Context(), &arrowflight.Ticket{Ticket: []byte(`{"table": "large"}`)})
	require.NoError(t, err)
	reader, err := arrowflight.NewRecordReader(stream)
	require.NoError(t, err)
	require.True(t, array.RecordEqual(record, all(t, reader, err)))
}

// TestChangingDictionaries uploads batches with dictionaries that are replaced, and reads them.
func TestChangingDictionaries(t *testing.T) {
	_, address := serve(t, flight.Options{})
	kind := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	s := arrow.NewSchema([]arrow.Field{{Name: "d", Type: kind, Nullable: true}}, nil)
	var records []arrow.Record
	var want []string
	for i := range 5 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		for j := range 10 {
			text := fmt.Sprintf("word %d of %d", j%3, i)
			require.NoError(t, b.Field(0).(*array.BinaryDictionaryBuilder).AppendString(text))
			want = append(want, text)
		}
		records = append(records, b.NewRecord())
		b.Release()
	}
	client := dial(t, address, flight.DialOptions{})
	reader, err := array.NewRecordReader(s, records)
	require.NoError(t, err)
	require.NoError(t, client.Upload(t.Context(), "words", reader))
	read, err := client.Read(t.Context(), "words")
	require.NoError(t, err)
	defer read.Release()
	var got []string
	for read.Next() {
		column := read.Record().Column(0).(*array.Dictionary)
		for i := range column.Len() {
			got = append(got, column.Dictionary().(*array.String).Value(column.GetValueIndex(i)))
		}
	}
	require.NoError(t, read.Err())
	require.Equal(t, want, got)
}

// TestBrokenUploads sends uploads that end early, change their schema in the middle or are
// damaged. The table of the same name stays.
func TestBrokenUploads(t *testing.T) {
	server, address := serve(t, flight.Options{Limits: flight.Limits{MessageBytes: 1 << 20}})
	client := dial(t, address, flight.DialOptions{})
	reader, err := array.NewRecordReader(schema, []arrow.Record{table(0, 10)})
	require.NoError(t, err)
	require.NoError(t, client.Upload(t.Context(), "kept", reader))

	sent := func(s *arrow.Schema, records ...arrow.Record) []*arrowflight.FlightData {
		var list flight.Recorded
		writer := arrowflight.NewRecordWriter(&list, ipc.WithSchema(s))
		for _, record := range records {
			require.NoError(t, writer.Write(record))
		}
		require.NoError(t, writer.Close())
		return list.Messages()
	}
	other := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)
	good := sent(schema, table(0, 10), table(10, 10))
	nothing := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.Null}}, nil)
	endless := array.NewRecord(nothing, []arrow.Array{array.NewNull(1 << 40)}, 1<<40)
	short := &arrowflight.FlightData{DataHeader: good[2].DataHeader, DataBody: good[2].DataBody[:40]}
	for name, messages := range map[string][]*arrowflight.FlightData{
		"a second schema":          {good[0], good[1], sent(other)[0], good[2]},
		"no schema":                {good[1], good[2]},
		"a body that is cut off":   {good[0], good[1], short},
		"no header":                {good[0], {DataBody: []byte("abc")}},
		"a header of zeros":        {good[0], {DataHeader: make([]byte, 100)}},
		"a header without a table": {{DataHeader: []byte{0xff, 0xff, 0xff, 0xff}}},
		"a schema in itself":       {{DataHeader: flight.CyclicSchema()}},
		"a schema of 2^40 fields":  {{DataHeader: flight.WideSchema(40)}},
		"rows without bytes":       sent(nothing, endless),
	} {
		t.Run(name, func(t *testing.T) {
			stream, err := raw(t, address).DoPut(t.Context())
			require.NoError(t, err)
			for i, message := range messages {
				descriptor := &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorPATH, Path: []string{"kept"}}
				if i > 0 {
					descriptor = nil
				}
				if stream.Send(&arrowflight.FlightData{FlightDescriptor: descriptor, DataHeader: message.DataHeader, DataBody: message.DataBody}) != nil {
					break // the reason follows
				}
			}
			require.NoError(t, stream.CloseSend())
			_, err = stream.Recv()
			requireCode(t, codes.InvalidArgument, err, "")
		})
	}
	// A client that goes in the middle.
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := raw(t, address).DoPut(ctx)
	require.NoError(t, err)
	require.NoError(t, stream.Send(&arrowflight.FlightData{
		FlightDescriptor: &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorPATH, Path: []string{"kept"}},
		DataHeader:       good[0].DataHeader,
	}))
	cancel()
	require.Error(t, last(stream.Recv))
	flight.WaitIdle(server)

	read, err := client.Read(t.Context(), "kept")
	require.True(t, array.RecordEqual(table(0, 10), all(t, read, err)))
}

// TestSharedTableAboveBudget reads a shared table that is larger than the client's budget.
func TestSharedTableAboveBudget(t *testing.T) {
	server, address := serve(t, flight.Options{Clients: []flight.ClientAccess{{Name: "small", Token: "1", Budget: 1 << 20}}})
	want := table(0, 60_000)
	require.NoError(t, server.Share("large", func(e *gpuframe.Engine) gpuframe.Query { return e.Records(schema, want) }))
	reader, err := dial(t, address, flight.DialOptions{Token: "1"}).Read(t.Context(), "large")
	require.True(t, array.RecordEqual(want, all(t, reader, err)))
	require.LessOrEqual(t, flight.PeakBytes(server)["small"], uint64(1<<20))
}

// TestShareFrame reads a frame that is withdrawn and released in the middle of a stream.
func TestShareFrame(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	server, err := flight.NewServer(engine, flight.Options{Clients: []flight.ClientAccess{{Name: "small", Token: "1", Budget: 1 << 20}}, Limits: flight.Limits{BatchBytes: 20_000}})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go server.Serve(listener)
	want := table(0, 100_000)
	frame, err := engine.Records(schema, want).Collect(t.Context())
	require.NoError(t, err)
	require.NoError(t, server.ShareFrame("frame", frame))
	require.ErrorContains(t, server.ShareFrame("none", nil), "the table is nil")
	client := dial(t, listener.Addr().String(), flight.DialOptions{Token: "1"})
	tables, err := client.Tables(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 100_000, tables[0].Rows)
	head, err := client.Query(t.Context(), []byte(`{"version": 1, "steps": [{"verb": "table", "name": "frame"}, {"verb": "head", "inputs": [0], "n": 10}]}`))
	require.True(t, array.RecordEqual(want.NewSlice(0, 10), all(t, head, err)))
	reader, err := client.Read(t.Context(), "frame")
	require.NoError(t, err)
	require.True(t, server.Withdraw("frame"))
	require.NoError(t, frame.Release())
	require.True(t, array.RecordEqual(want, all(t, reader, nil)))
	_, err = client.Read(t.Context(), "frame")
	requireCode(t, codes.NotFound, err, "no table is called")
}
