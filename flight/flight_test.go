package flight_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/flight"
)

// schema is that of the tables of the tests.
var schema = arrow.NewSchema([]arrow.Field{
	{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "price", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "number", Type: arrow.PrimitiveTypes.Int64},
}, nil)

// table makes rows from a number on. Every seventh city is null.
func table(from, rows int) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := from; i < from+rows; i++ {
		if i%7 == 6 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("city %d", i%5))
		}
		b.Field(1).(*array.Float64Builder).Append(float64(i) / 4)
		b.Field(2).(*array.Int64Builder).Append(int64(i))
	}
	return b.NewRecord()
}

// serve starts a server with a shared table of 10,000 rows and returns it with its address.
// The engine's memory must be free after the test.
func serve(t *testing.T, options flight.Options) (*flight.Server, string) {
	t.Helper()
	for _, limit := range []*time.Duration{&options.Limits.Idle, &options.Limits.Handshake, &options.Limits.Alive} {
		if *limit == 0 {
			*limit = time.Hour // the machine may be slow
		}
	}
	engine, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(256<<20))
	require.NoError(t, err)
	server, err := flight.NewServer(engine, options)
	require.NoError(t, err)
	record := table(0, 10_000)
	require.NoError(t, server.Share("sales", func(e *gpuframe.Engine) gpuframe.Query { return e.Records(schema, record) }))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.NoError(t, <-served)
		require.Zero(t, engine.Manager().Stats().InUse)
		require.NoError(t, engine.Close()) // reports memory that was not released
	})
	return server, listener.Addr().String()
}

func dial(t *testing.T, address string, options flight.DialOptions) *flight.Client {
	t.Helper()
	client, err := flight.Dial(address, options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// all reads a stream into one record.
func all(t *testing.T, reader array.RecordReader, err error) arrow.Record {
	t.Helper()
	require.NoError(t, err)
	defer reader.Release()
	var records []arrow.Record
	for reader.Next() {
		record := reader.Record()
		record.Retain()
		records = append(records, record)
	}
	require.NoError(t, reader.Err())
	columns := make([]arrow.Array, reader.Schema().NumFields())
	rows := int64(0)
	for i := range columns {
		parts := make([]arrow.Array, len(records))
		for j, record := range records {
			parts[j] = record.Column(i)
		}
		if len(parts) == 0 {
			columns[i] = array.MakeArrayOfNull(memory.DefaultAllocator, reader.Schema().Field(i).Type, 0)
			continue
		}
		columns[i], err = array.Concatenate(parts, memory.DefaultAllocator)
		require.NoError(t, err)
		rows = int64(columns[i].Len())
	}
	return array.NewRecord(reader.Schema(), columns, rows)
}

func requireCode(t *testing.T, code codes.Code, err error, text string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, status.Code(unwrapped(err)), "%v", err)
	require.ErrorContains(t, err, text)
}

// unwrapped returns the status within the client's errors.
func unwrapped(err error) error {
	for {
		inner, is := err.(interface{ Unwrap() error })
		if !is {
			return err
		}
		err = inner.Unwrap()
	}
}

const byCity = `{"version": 1, "steps": [
	{"verb": "table", "name": "sales"},
	{"verb": "filter", "inputs": [0], "conditions": [{"function": "ge", "arguments": [{"function": "column", "name": "price"}, {"function": "literal", "value": 100}]}]},
	{"verb": "group", "inputs": [1], "keys": [{"function": "column", "name": "city"}],
	 "aggregates": [{"function": "as", "name": "n", "arguments": [{"function": "count_rows"}]}]},
	{"verb": "sort", "inputs": [2], "keys": [{"value": {"function": "column", "name": "city"}}]}]}`

func TestReadTable(t *testing.T) {
	_, address := serve(t, flight.Options{Limits: flight.Limits{BatchBytes: 10_000}})
	client := dial(t, address, flight.DialOptions{})
	tables, err := client.Tables(t.Context())
	require.NoError(t, err)
	require.Len(t, tables, 1)
	require.Equal(t, "sales", tables[0].Name)
	require.True(t, schema.Equal(tables[0].Schema), "%v", tables[0].Schema)

	reader, err := client.Read(t.Context(), "sales")
	got, want := all(t, reader, err), table(0, 10_000)
	require.True(t, array.RecordEqual(want, got))
}

func TestQueryDocument(t *testing.T) {
	_, address := serve(t, flight.Options{})
	client := dial(t, address, flight.DialOptions{})
	reader, err := client.Query(t.Context(), []byte(byCity))
	got := all(t, reader, err)

	counts := map[string]int64{} // by a loop that shares nothing with the engine
	for i := range 10_000 {
		if float64(i)/4 >= 100 {
			city := fmt.Sprintf("city %d", i%5)
			if i%7 == 6 {
				city = ""
			}
			counts[city]++
		}
	}
	require.EqualValues(t, len(counts), got.NumRows())
	for i := range int(got.NumRows()) {
		require.Equal(t, counts[got.Column(0).(*array.String).Value(i)], got.Column(1).(*array.Int64).Value(i))
	}
	text, err := client.Explain(t.Context(), []byte(byCity))
	require.NoError(t, err)
	require.Contains(t, text, "city")
}

func TestUpload(t *testing.T) {
	_, address := serve(t, flight.Options{Clients: []flight.ClientAccess{
		{Name: "one", Token: "1", Budget: 64 << 20}, {Name: "two", Token: "2", Budget: 64 << 20}}})
	one, two := dial(t, address, flight.DialOptions{Token: "1"}), dial(t, address, flight.DialOptions{Token: "2"})
	upload := func(name string, records ...arrow.Record) error {
		reader, err := array.NewRecordReader(schema, records)
		require.NoError(t, err)
		return one.Upload(t.Context(), name, reader)
	}
	require.NoError(t, upload("mine", table(0, 10), table(10, 90)))
	reader, err := one.Read(t.Context(), "mine")
	require.True(t, array.RecordEqual(table(0, 100), all(t, reader, err)))

	_, err = two.Read(t.Context(), "mine")
	requireCode(t, codes.NotFound, err, `no table is called "mine": there is only "sales"`)

	require.NoError(t, upload("mine", table(5, 3)), "replaces the table")
	reader, err = one.Read(t.Context(), "mine")
	require.True(t, array.RecordEqual(table(5, 3), all(t, reader, err)))
	require.NoError(t, upload("mine"), "a table without rows")
	reader, err = one.Read(t.Context(), "mine")
	require.Zero(t, all(t, reader, err).NumRows())

	requireCode(t, codes.AlreadyExists, upload("sales", table(0, 1)), "is shared by the server")
	require.NoError(t, one.Drop(t.Context(), "mine"))
	requireCode(t, codes.NotFound, one.Drop(t.Context(), "mine"), "has uploaded no table")
}

// put uploads a table of three rows of the client of a server without clients.
func put(t *testing.T, server *flight.Server, store func(*gpuframe.Frame, error) error) error {
	return store(flight.Engine(server, "anonymous").Records(schema, table(0, 3)).Collect(t.Context()))
}

// A table is found also while an upload replaces it.
func TestReadsDuringReplacements(t *testing.T) {
	server, _ := serve(t, flight.Options{})
	replace := func() error {
		store, err := flight.Reserve(server, "anonymous", "own")
		if err != nil {
			return err
		}
		return put(t, server, store)
	}
	require.NoError(t, replace())
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 1000 && err == nil; i++ {
			err = replace()
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			require.NoError(t, err)
			return
		default:
			if !assert.NoError(t, flight.Opened(server, "anonymous", "own")) {
				require.NoError(t, <-done)
				return
			}
		}
	}
}

// The upload of a new table that has room is stored, also while others replace tables. A
// replacement of a table that was dropped meanwhile needs room.
func TestRoomForTables(t *testing.T) {
	server, address := serve(t, flight.Options{Limits: flight.Limits{Tables: 2}})
	reserve := func(name string) func(*gpuframe.Frame, error) error {
		store, err := flight.Reserve(server, "anonymous", name)
		require.NoError(t, err)
		return store
	}
	require.NoError(t, put(t, server, reserve("a")))
	second, replacement := reserve("b"), reserve("a")
	require.NoError(t, put(t, server, second))
	require.NoError(t, put(t, server, replacement))
	late := reserve("a")
	require.NoError(t, dial(t, address, flight.DialOptions{}).Drop(t.Context(), "a"))
	require.NoError(t, put(t, server, reserve("c")))
	requireCode(t, codes.ResourceExhausted, put(t, server, late), "its limit")
}

func TestRefusals(t *testing.T) {
	server, address := serve(t, flight.Options{
		Clients: []flight.ClientAccess{{Name: "small", Token: "secret", Budget: 1 << 20}},
		Limits:  flight.Limits{DocumentBytes: 10_000, Tables: 2, MessageBytes: 64 << 20},
	})
	client := dial(t, address, flight.DialOptions{Token: "secret"})

	_, err := dial(t, address, flight.DialOptions{}).Tables(t.Context())
	requireCode(t, codes.Unauthenticated, err, "authorization: Bearer")
	_, err = dial(t, address, flight.DialOptions{Token: "Secret"}).Tables(t.Context())
	requireCode(t, codes.Unauthenticated, err, "not one of a client")

	for _, c := range []struct{ name, document, text string }{
		{"no document", `{"version"`, "the document is no JSON"},
		{"no statement", `SELECT FROM`, "line 1, column 8"},
		{"files", `{"version": 1, "steps": [{"verb": "csv", "paths": ["/etc/passwd"]}]}`, "reads no files"},
		{"a column", strings.Replace(byCity, "price", "prize", 1), `no column is called "prize"`},
		{"a table", strings.Replace(byCity, "sales", "sails", 1), `no table is called "sails"`},
		{"a verb", `{"version": 1, "steps": [{"verb": "format the disk"}]}`, "no verb is called"},
		{"deep", `{"version": 1, "steps": ` + strings.Repeat("[", 4000) + `]}`, "the document is no JSON"},
	} {
		_, err := client.Query(t.Context(), []byte(c.document))
		requireCode(t, codes.InvalidArgument, err, c.text)
		_, err = client.Explain(t.Context(), []byte(c.document))
		requireCode(t, codes.InvalidArgument, err, c.text)
	}
	_, err = client.Query(t.Context(), make([]byte, 10_001))
	requireCode(t, codes.ResourceExhausted, err, "10001 bytes, expected 10000 at most")

	large, err := array.NewRecordReader(schema, []arrow.Record{table(0, 100_000)})
	require.NoError(t, err)
	requireCode(t, codes.ResourceExhausted, client.Upload(t.Context(), "large", large), "small")
	for _, name := range []string{"a", "b", "c"} {
		reader, err := array.NewRecordReader(schema, []arrow.Record{table(0, 1)})
		require.NoError(t, err)
		err = client.Upload(t.Context(), name, reader)
		if name == "c" {
			requireCode(t, codes.ResourceExhausted, err, "has 2 tables, its limit")
			continue
		}
		require.NoError(t, err)
	}
	require.NoError(t, server.Close())
	_, err = client.Tables(t.Context())
	requireCode(t, codes.Unavailable, err, "")
}

// TestCancelled ends readers in the middle of their streams.
func TestCancelled(t *testing.T) {
	_, address := serve(t, flight.Options{Limits: flight.Limits{BatchBytes: 1000}})
	client := dial(t, address, flight.DialOptions{})
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		reader, err := client.Read(ctx, "sales")
		require.NoError(t, err)
		require.True(t, reader.Next())
		cancel()
		for reader.Next() {
		}
		require.Error(t, reader.Err())
		reader.Release()
	}
}
