package flight

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/status"

	"github.com/gpuframe/gpuframe"
)

// fuzzed starts a server that does not listen, with a table of one column.
func fuzzed(f *testing.F) (*Server, context.Context) {
	f.Helper()
	engine, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(16<<20))
	require.NoError(f, err)
	server, err := NewServer(engine, Options{Limits: Limits{MessageBytes: 1 << 20}})
	require.NoError(f, err)
	f.Cleanup(func() {
		require.NoError(f, server.Close())
		require.NoError(f, engine.Close())
	})
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	require.NoError(f, server.Share("t", func(e *gpuframe.Engine) gpuframe.Query { return e.Records(schema) }))
	return server, context.WithValue(context.Background(), callKey{}, &call{client: server.clients[anonymous]})
}

// FuzzTicket describes arbitrary tickets and commands. The server answers with a
// status, reads no file, and holds nothing afterwards.
func FuzzTicket(f *testing.F) {
	server, ctx := fuzzed(f)
	for _, seed := range []string{
		`{"table": "t"}`, `{"version": 1, "steps": [{"verb": "table", "name": "t"}, {"verb": "head", "inputs": [0], "n": 1}]}`,
		`{"version": 1, "steps": [{"verb": "csv", "paths": ["/etc/passwd"]}]}`, `{"table": "x"}`, `[]`, "\n\x05abc", "",
	} {
		f.Add([]byte(seed))
	}
	s := &service{server: server}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, descriptor := range []*arrowflight.FlightDescriptor{
			{Type: arrowflight.DescriptorCMD, Cmd: text}, {Type: arrowflight.DescriptorPATH, Path: []string{string(text)}},
		} {
			info, err := s.GetFlightInfo(ctx, descriptor)
			if err == nil && info == nil {
				t.Fatal("neither a description nor an error")
			}
			if status.Code(statusOf(err)).String() == "Internal" {
				t.Fatalf("an internal error: %v", err)
			}
		}
		require.Zero(t, server.clients[anonymous].engine.Manager().Stats().InUse)
	})
}

// messages is a stream of messages with arbitrary contents.
type messages struct {
	list []*arrowflight.FlightData
}

func (m *messages) Recv() (*arrowflight.FlightData, error) {
	if len(m.list) == 0 {
		return nil, io.EOF
	}
	first := m.list[0]
	m.list = m.list[1:]
	return first, nil
}

// recorded has the messages that a writer sent.
type recorded struct{ messages }

func (r *recorded) Send(d *arrowflight.FlightData) error {
	r.list = append(r.list, &arrowflight.FlightData{DataHeader: bytes.Clone(d.DataHeader), DataBody: bytes.Clone(d.DataBody)})
	return nil
}

// FuzzUpload uploads batches with changed headers and bodies: an error or a table, no panic,
// and no memory afterwards.
func FuzzUpload(f *testing.F) {
	server, ctx := fuzzed(f)
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)}}, nil)
	b := array.NewRecordBuilder(allocator, schema)
	b.Field(0).(*array.StringBuilder).AppendValues([]string{"a", "bc", ""}, []bool{true, true, false})
	list := b.Field(1).(*array.ListBuilder)
	for range 3 {
		list.Append(true)
		list.ValueBuilder().(*array.Int32Builder).Append(7)
	}
	record := b.NewRecord()
	for _, options := range [][]ipc.Option{{ipc.WithSchema(schema)}, {ipc.WithSchema(schema), ipc.WithZstd()}, {ipc.WithSchema(schema), ipc.WithLZ4()}} {
		var sent recorded
		writer := arrowflight.NewRecordWriter(&sent, options...)
		require.NoError(f, writer.Write(record))
		require.NoError(f, writer.Close())
		require.Len(f, sent.list, 2)
		f.Add(sent.list[0].DataHeader, sent.list[1].DataHeader, sent.list[1].DataBody)
	}
	f.Add(CyclicSchema(), []byte{}, []byte{})
	f.Add(WideSchema(40), []byte{}, []byte{})
	s := &service{server: server}
	f.Fuzz(func(t *testing.T, first, header, body []byte) {
		c := clientOf(ctx)
		frame, err := s.collect(ctx, c, &messages{[]*arrowflight.FlightData{{DataHeader: first}, {DataHeader: header, DataBody: body}}})
		if err == nil {
			require.NoError(t, frame.Release())
		}
		require.Zero(t, c.engine.Manager().Stats().InUse)
	})
}
