package flight_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/flight"
	"github.com/gpuframe/gpuframe/internal/testing/await"
)

// TestSlowClient reads one message of a stream that is larger than gRPC's buffers. The server
// ends the stream when its patience is over.
func TestSlowClient(t *testing.T) {
	server, address := serve(t, flight.Options{Limits: flight.Limits{Idle: time.Hour, BatchBytes: 100_000}})
	expire := flight.HoldTimers(server)
	large := table(0, 400_000)
	require.NoError(t, server.Share("large", func(e *gpuframe.Engine) gpuframe.Query { return e.Records(schema, large) }))
	client, err := arrowflight.NewClientWithMiddleware(address, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer client.Close()
	stream, err := client.DoGet(t.Context(), &arrowflight.Ticket{Ticket: []byte(`{"table": "large"}`)})
	require.NoError(t, err)
	_, err = stream.Recv() // the call runs
	require.NoError(t, err)
	expire()
	flight.WaitIdle(server) // until the server has ended it
	for err == nil {
		_, err = stream.Recv()
	}
	requireCode(t, codes.DeadlineExceeded, err, "the client did not take a message for 1h0m0s")

	put, err := client.DoPut(t.Context())
	require.NoError(t, err)
	_, err = put.Recv()
	requireCode(t, codes.DeadlineExceeded, err, "the client did not send a message for 1h0m0s")
}

// TestManyClients has clients of four tenants at a time: each tenth asks for a table and does
// not read it, each tenth reads slowly, each tenth uploads a table, reads and drops it, and the
// others read. GPUFRAME_FLIGHT_CLIENTS is their number, 60 without it.
func TestManyClients(t *testing.T) {
	clients := 60
	if text := os.Getenv("GPUFRAME_FLIGHT_CLIENTS"); text != "" {
		var err error
		clients, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	const tenants, budget = 4, 48 << 20
	var access []flight.ClientAccess
	for i := range tenants {
		access = append(access, flight.ClientAccess{Name: fmt.Sprint("tenant ", i), Token: fmt.Sprint("token ", i), Budget: budget})
	}
	t.Run("clients", func(t *testing.T) {
		server, address := serve(t, flight.Options{Clients: access, Limits: flight.Limits{
			Streams: clients, AllStreams: clients, Uploads: clients, Tables: clients, BatchBytes: 50_000, Idle: time.Hour,
		}})
		want, small := table(0, 10_000), table(0, 100)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		waiting := make(chan struct{}, clients)
		var idle, busy sync.WaitGroup
		for i := range clients {
			client, err := flight.Dial(address, flight.DialOptions{Token: fmt.Sprint("token ", i%tenants)})
			require.NoError(t, err)
			report := func(err error) {
				if err != nil {
					t.Errorf("client %d: %v", i, err)
				}
			}
			switch i % 10 {
			case 0:
				idle.Go(func() {
					defer client.Close()
					reader, err := client.Read(ctx, "sales")
					waiting <- struct{}{}
					if report(err); err == nil {
						<-ctx.Done()
						reader.Release()
					}
				})
			case 1:
				busy.Go(func() {
					defer client.Close()
					reader, err := array.NewRecordReader(schema, []arrow.Record{small})
					report(err)
					name := fmt.Sprint("own ", i)
					report(client.Upload(ctx, name, reader))
					report(compareRows(ctx, client, name, small, 0))
					report(client.Drop(ctx, name))
				})
			default:
				busy.Go(func() {
					defer client.Close()
					report(compareRows(ctx, client, "sales", want, i%10/8*100))
				})
			}
		}
		for range (clients + 9) / 10 {
			<-waiting
		}
		goroutines := runtime.NumGoroutine()
		busy.Wait()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		for name, used := range flight.PeakBytes(server) {
			require.LessOrEqual(t, used, uint64(budget), name)
		}
		t.Logf("%d clients: %d goroutines while some wait, heap %d MiB, device memory at most %v", clients, goroutines, memory.HeapInuse>>20, flight.PeakBytes(server))
		cancel()
		idle.Wait()
		flight.WaitIdle(server)
	})
	// Goroutines of closed connections end soon after their calls.
	await.Ended(t, "github.com/gpuframe/gpuframe/flight.")
	await.Ended(t, "google.golang.org/grpc")
}

// compareRows reads a table and compares it with a record. The reader lets others run some
// times after each message.
func compareRows(ctx context.Context, client *flight.Client, name string, want arrow.Record, pauses int) error {
	reader, err := client.Read(ctx, name)
	if err != nil {
		return err
	}
	defer reader.Release()
	rows := int64(0)
	for reader.Next() {
		got := reader.Record()
		if rows+got.NumRows() > want.NumRows() || !array.RecordEqual(want.NewSlice(rows, rows+got.NumRows()), got) {
			return fmt.Errorf("the rows from %d on differ", rows)
		}
		rows += got.NumRows()
		for range pauses {
			runtime.Gosched()
		}
	}
	if err := reader.Err(); err != nil {
		return err
	}
	if rows != want.NumRows() {
		return fmt.Errorf("%d rows, expected %d", rows, want.NumRows())
	}
	return nil
}

func TestStreamLimits(t *testing.T) {
	_, address := serve(t, flight.Options{
		Limits: flight.Limits{Streams: 1, Idle: time.Hour},
	})
	client, err := arrowflight.NewClientWithMiddleware(address, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer client.Close()
	put, err := client.DoPut(t.Context())
	require.NoError(t, err)
	require.NoError(t, put.Send(&arrowflight.FlightData{FlightDescriptor: &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorCMD, Cmd: []byte("x")}}))
	_, err = put.Recv()
	requireCode(t, codes.InvalidArgument, err, "expected a descriptor with a path")

	list := dial(t, address, flight.DialOptions{})
	_, err = list.Tables(t.Context())
	require.NoError(t, err, "the first call has ended")
}

// TestStatements reads tables and results as Flight SQL.
func TestStatements(t *testing.T) {
	server, address := serve(t, flight.Options{})
	client, err := flightsql.NewClient(address, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer client.Close()
	get := func(info *arrowflight.FlightInfo, err error) (rows int64) {
		require.NoError(t, err)
		reader, err := client.DoGet(t.Context(), info.Endpoint[0].Ticket)
		require.NoError(t, err)
		defer reader.Release()
		for reader.Next() {
			rows += reader.Record().NumRows()
		}
		require.NoError(t, reader.Err())
		return rows
	}
	ctx := t.Context()
	require.EqualValues(t, 6, get(client.Execute(ctx, byCity)))
	require.Zero(t, get(client.GetCatalogs(ctx)))
	require.Zero(t, get(client.GetDBSchemas(ctx, &flightsql.GetDBSchemasOpts{})))
	require.EqualValues(t, 1, get(client.GetTableTypes(ctx)))
	require.EqualValues(t, 1, get(client.GetSqlInfo(ctx, []flightsql.SqlInfo{flightsql.SqlInfoFlightSqlServerName})))
	for pattern, rows := range map[string]int64{"sales": 1, "s%": 1, "_ales": 1, "sale": 0, "%.%": 0} {
		require.EqualValues(t, rows, get(client.GetTables(ctx, &flightsql.GetTablesOpts{TableNameFilterPattern: &pattern, IncludeSchema: true})), pattern)
	}
	// A table that is withdrawn meanwhile is left out.
	record := table(0, 1)
	source := func(e *gpuframe.Engine) gpuframe.Query { return e.Records(schema, record) }
	require.NoError(t, server.Share("last", source))
	require.NoError(t, server.Share("first", func(e *gpuframe.Engine) gpuframe.Query {
		server.Withdraw("last")
		return source(e)
	}))
	require.EqualValues(t, 2, get(client.GetTables(ctx, &flightsql.GetTablesOpts{IncludeSchema: true})))
	_, err = client.Execute(ctx, "SELECT")
	requireCode(t, codes.InvalidArgument, err, "line 1")
	_, err = client.Prepare(ctx, byCity)
	requireCode(t, codes.InvalidArgument, err, "line 1")
	_, err = client.ExecuteUpdate(ctx, "drop table last")
	requireCode(t, codes.Unimplemented, err, "")
}

func TestEncrypted(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	known := x509.NewCertPool()
	known.AddCert(certificate)

	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	server, err := flight.NewServer(engine, flight.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, NextProtos: []string{"h2"},
	})
	require.NoError(t, err)
	go server.Serve(listener)

	_, err = dial(t, listener.Addr().String(), flight.DialOptions{TLS: &tls.Config{RootCAs: known}}).Tables(t.Context())
	require.NoError(t, err)
	_, err = dial(t, listener.Addr().String(), flight.DialOptions{TLS: &tls.Config{}}).Tables(t.Context())
	requireCode(t, codes.Unavailable, err, "certificate")
}

func TestOptionsRefused(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	for _, c := range []struct {
		options flight.Options
		text    string
	}{
		{flight.Options{Clients: []flight.ClientAccess{{Name: "a"}}}, "Clients[0] has no name or no token"},
		{flight.Options{Clients: []flight.ClientAccess{{Name: "a", Token: "x"}, {Name: "a", Token: "y"}}}, `the name "a" is given twice`},
		{flight.Options{Clients: []flight.ClientAccess{{Name: "a", Token: "x"}, {Name: "b", Token: "x"}}}, "the token of another client"},
		{flight.Options{Limits: flight.Limits{Streams: -1}}, "Limits.Streams is -1"},
		{flight.Options{Limits: flight.Limits{Idle: -1}}, "Limits.Idle is -1ns"},
		{flight.Options{Limits: flight.Limits{Alive: -1}}, "Limits.Alive is -1ns"},
	} {
		_, err := flight.NewServer(engine, c.options)
		require.ErrorContains(t, err, c.text)
	}
	_, err = flight.NewServer(nil, flight.Options{})
	require.ErrorContains(t, err, "the engine is nil")
	server, err := flight.NewServer(engine, flight.Options{})
	require.NoError(t, err)
	require.ErrorContains(t, server.Share("", nil), "the name is empty")
	none := func(e *gpuframe.Engine) gpuframe.Query { return e.Records(schema) }
	require.NoError(t, server.Share("a", none))
	require.ErrorContains(t, server.Share("a", none), "the name is taken")
	require.True(t, server.Withdraw("a"))
	require.False(t, server.Withdraw("a"))
	require.NoError(t, server.Close())
	require.NoError(t, server.Close())
}
