package flight

import (
	"bytes"
	"context"
	"encoding/json"

	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/parse"
)

// A prepared statement is its own handle: a ticket with the text and with the rows of parameters. The server keeps
// nothing that a client could forget to close.

// statement returns the query of a statement in SQL.
func (s *Server) statement(ctx context.Context, c *client, text string, r *request, arguments ...any) (gpuframe.Query, error) {
	session := sql.NewWith(c.engine, sql.Options{
		Files: s.files(ctx, c),
		Table: func(name string) (gpuframe.Query, error) { return s.table(c, name, r) },
	})
	query, err := session.Query(ctx, text, arguments...)
	r.rows, r.shared, r.table = -1, false, nil
	return query, err
}

// prepared returns the query of a prepared statement: the rows for each row of its parameters, one after the
// other.
func (s *Server) prepared(ctx context.Context, c *client, t ticket, r *request) (query gpuframe.Query, err error) {
	if len(t.Parameters) == 0 {
		return s.statement(ctx, c, *t.Statement, r)
	}
	defer malformed(&err, "parameters")
	reader, err := ipc.NewReader(bytes.NewReader(t.Parameters), ipc.WithAllocator(s.bounded()))
	if err != nil {
		return query, refused(codes.InvalidArgument, "malformed parameters: %v", err)
	}
	defer reader.Release()
	var list []gpuframe.Query
	for reader.Next() {
		for row := range int(reader.Record().NumRows()) {
			q, err := s.statement(ctx, c, *t.Statement, r, sql.Arguments(reader.Record(), row)...)
			if err != nil {
				return query, err
			}
			list = append(list, q)
		}
	}
	if err := reader.Err(); err != nil || len(list) == 0 {
		return query, refused(codes.InvalidArgument, "the parameters have no rows: %v", err)
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return list[0].Union(list[1:]...), nil
}

// bind returns the handle of a prepared statement with the parameters of a stream.
func (s *service) bind(stream arrowflight.FlightService_DoPutServer, first *arrowflight.FlightData) error {
	var message anypb.Any
	var command pb.CommandPreparedStatementQuery
	if proto.Unmarshal(first.GetFlightDescriptor().GetCmd(), &message) != nil || message.UnmarshalTo(&command) != nil {
		return refused(codes.Unimplemented, "statements that change tables: upload a table with a path")
	}
	var t ticket
	if err := json.Unmarshal(command.GetPreparedStatementHandle(), &t); err != nil || t.Statement == nil {
		return refused(codes.InvalidArgument, "the handle is not that of a prepared statement")
	}
	var err error
	if t.Parameters, err = s.parameters(&opened{FlightService_DoPutServer: stream, first: first}); err != nil {
		return err
	}
	handle, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if len(handle) > s.server.limits.DocumentBytes {
		return refused(codes.ResourceExhausted, "a statement with parameters of %d bytes, expected %d at most", len(handle), s.server.limits.DocumentBytes)
	}
	result, err := proto.Marshal(&pb.DoPutPreparedStatementResult{PreparedStatementHandle: handle})
	if err != nil {
		return err
	}
	return stream.Send(&arrowflight.PutResult{AppMetadata: result})
}

// parameters reads the rows of parameters, and returns them as an Arrow stream.
func (s *service) parameters(stream arrowflight.DataStreamReader) (text []byte, err error) {
	defer malformed(&err, "parameters")
	most := s.server.limits.DocumentBytes
	reader, err := arrowflight.NewRecordReader(&checked{from: stream, schemaBytes: most}, ipc.WithAllocator(s.server.bounded()))
	if err != nil {
		return nil, refused(codes.InvalidArgument, "the parameters do not begin with a schema: %v", err)
	}
	defer reader.Release()
	var to bytes.Buffer
	w := ipc.NewWriter(&to, ipc.WithSchema(reader.Schema()), ipc.WithAllocator(allocator))
	for reader.Next() && err == nil {
		if err = w.Write(reader.Record()); err == nil && to.Len() > most {
			err = refused(codes.ResourceExhausted, "parameters of %d bytes, expected %d at most", to.Len(), most)
		}
	}
	if err == nil {
		err = reader.Err()
	}
	if closing := w.Close(); err == nil {
		err = closing
	}
	return to.Bytes(), err
}

// CreatePreparedStatement implements flightsql.Server.
func (s *statements) CreatePreparedStatement(_ context.Context, request flightsql.ActionCreatePreparedStatementRequest) (result flightsql.ActionCreatePreparedStatementResult, err error) {
	text := request.GetQuery()
	if most := s.service.server.limits.DocumentBytes; len(text) > most/2 {
		return result, refused(codes.ResourceExhausted, "a statement of %d bytes, expected %d at most", len(text), most/2)
	}
	if _, err := parse.Statements(text); err != nil {
		return result, statusOf(err)
	}
	result.Handle, err = json.Marshal(ticket{Statement: &text})
	return result, err
}

// ClosePreparedStatement implements flightsql.Server.
func (s *statements) ClosePreparedStatement(context.Context, flightsql.ActionClosePreparedStatementRequest) error {
	return nil
}

// GetFlightInfoPreparedStatement implements flightsql.Server. The ticket is the handle.
func (s *statements) GetFlightInfoPreparedStatement(ctx context.Context, query flightsql.PreparedStatementQuery, descriptor *arrowflight.FlightDescriptor) (*arrowflight.FlightInfo, error) {
	return s.info(ctx, query.GetPreparedStatementHandle(), descriptor)
}

// GetSchemaPreparedStatement implements flightsql.Server.
func (s *statements) GetSchemaPreparedStatement(ctx context.Context, query flightsql.PreparedStatementQuery, _ *arrowflight.FlightDescriptor) (*arrowflight.SchemaResult, error) {
	return s.schema(ctx, query.GetPreparedStatementHandle())
}
