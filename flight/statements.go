package flight

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql/schema_ref"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/gpuframe/gpuframe/internal/base/names"
)

// statements has the calls of Flight SQL. A statement is a query in SQL, or a query document.
type statements struct {
	flightsql.BaseServer
	service *service
}

// newStatements makes the part of a server that answers Flight SQL.
func newStatements(s *service) arrowflight.FlightServer {
	sql := &statements{service: s}
	sql.Alloc = allocator
	for id, value := range map[flightsql.SqlInfo]any{
		flightsql.SqlInfoFlightSqlServerName:        "gpuframe",
		flightsql.SqlInfoFlightSqlServerReadOnly:    true,
		flightsql.SqlInfoFlightSqlServerSql:         true,
		flightsql.SqlInfoFlightSqlServerSubstrait:   true,
		flightsql.SqlInfoFlightSqlServerTransaction: int32(flightsql.SqlTransactionNone),
	} {
		_ = sql.RegisterSqlInfo(id, value) // these types are valid
	}
	return flightsql.NewFlightServer(sql)
}

// isStatement reports whether a command or ticket is one of Flight SQL. The error is that of
// one that is too large.
func (s *service) isStatement(text []byte) (bool, error) {
	var message anypb.Any
	if len(text) == 0 || text[0] == '{' {
		return false, nil
	}
	if most := s.server.limits.DocumentBytes; len(text) > most {
		return false, refused(codes.ResourceExhausted, "a ticket or document of %d bytes, expected %d at most", len(text), most)
	}
	return proto.Unmarshal(text, &message) == nil &&
		strings.HasPrefix(message.GetTypeUrl(), "type.googleapis.com/arrow.flight.protocol.sql."), nil
}

// GetFlightInfoStatement implements flightsql.Server. The ticket is the statement itself.
func (s *statements) GetFlightInfoStatement(ctx context.Context, query flightsql.StatementQuery, descriptor *arrowflight.FlightDescriptor) (*arrowflight.FlightInfo, error) {
	return s.info(ctx, []byte(query.GetQuery()), descriptor)
}

// GetSchemaStatement implements flightsql.Server.
func (s *statements) GetSchemaStatement(ctx context.Context, query flightsql.StatementQuery, _ *arrowflight.FlightDescriptor) (*arrowflight.SchemaResult, error) {
	return s.schema(ctx, []byte(query.GetQuery()))
}

// info describes the result of a ticket for a client that has sent a descriptor.
func (s *statements) info(ctx context.Context, ticket []byte, descriptor *arrowflight.FlightDescriptor) (*arrowflight.FlightInfo, error) {
	info, err := s.service.info(ctx, &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorCMD, Cmd: ticket})
	if err != nil {
		return nil, err
	}
	info.FlightDescriptor = descriptor
	return info, nil
}

// schema returns the schema of the result of a ticket.
func (s *statements) schema(ctx context.Context, ticket []byte) (*arrowflight.SchemaResult, error) {
	info, err := s.info(ctx, ticket, nil)
	if err != nil {
		return nil, err
	}
	return &arrowflight.SchemaResult{Schema: info.Schema}, nil
}

// itself describes a result that the descriptor's command is the ticket of.
func itself(descriptor *arrowflight.FlightDescriptor, schema *arrow.Schema) (*arrowflight.FlightInfo, error) {
	return &arrowflight.FlightInfo{
		Schema:           arrowflight.SerializeSchema(schema, allocator),
		FlightDescriptor: descriptor,
		Endpoint:         []*arrowflight.FlightEndpoint{{Ticket: &arrowflight.Ticket{Ticket: descriptor.GetCmd()}}},
		TotalRecords:     -1,
		TotalBytes:       -1,
	}, nil
}

// GetFlightInfoCatalogs implements flightsql.Server. There are no catalogs.
func (s *statements) GetFlightInfoCatalogs(_ context.Context, d *arrowflight.FlightDescriptor) (*arrowflight.FlightInfo, error) {
	return itself(d, schema_ref.Catalogs)
}

// DoGetCatalogs implements flightsql.Server.
func (s *statements) DoGetCatalogs(context.Context) (*arrow.Schema, <-chan arrowflight.StreamChunk, error) {
	return rows(schema_ref.Catalogs, nil)
}

// GetFlightInfoSchemas implements flightsql.Server. There are no schemas of databases.
func (s *statements) GetFlightInfoSchemas(_ context.Context, _ flightsql.GetDBSchemas, d *arrowflight.FlightDescriptor) (*arrowflight.FlightInfo, error) {
	return itself(d, schema_ref.DBSchemas)
}

// DoGetDBSchemas implements flightsql.Server.
func (s *statements) DoGetDBSchemas(context.Context, flightsql.GetDBSchemas) (*arrow.Schema, <-chan arrowflight.StreamChunk, error) {
	return rows(schema_ref.DBSchemas, nil)
}

// GetFlightInfoTableTypes implements flightsql.Server.
func (s *statements) GetFlightInfoTableTypes(_ context.Context, d *arrowflight.FlightDescriptor) (*arrowflight.FlightInfo, error) {
	return itself(d, schema_ref.TableTypes)
}

// tableType is the type of every table.
const tableType = "TABLE"

// DoGetTableTypes implements flightsql.Server.
func (s *statements) DoGetTableTypes(context.Context) (*arrow.Schema, <-chan arrowflight.StreamChunk, error) {
	return rows(schema_ref.TableTypes, [][]any{{tableType}})
}

// GetFlightInfoTables implements flightsql.Server.
func (s *statements) GetFlightInfoTables(_ context.Context, wanted flightsql.GetTables, d *arrowflight.FlightDescriptor) (*arrowflight.FlightInfo, error) {
	return itself(d, tablesSchema(wanted))
}

func tablesSchema(wanted flightsql.GetTables) *arrow.Schema {
	if wanted.GetIncludeSchema() {
		return schema_ref.TablesWithIncludedSchema
	}
	return schema_ref.Tables
}

// DoGetTables implements flightsql.Server.
func (s *statements) DoGetTables(ctx context.Context, wanted flightsql.GetTables) (*arrow.Schema, <-chan arrowflight.StreamChunk, error) {
	schema := tablesSchema(wanted)
	if types := wanted.GetTableTypes(); len(types) > 0 && !slices.Contains(types, tableType) {
		return rows(schema, nil)
	}
	pattern := wanted.GetTableNameFilterPattern()
	c := clientOf(ctx)
	s.service.server.mu.Lock()
	visible := s.service.server.visible(c)
	s.service.server.mu.Unlock()
	var list [][]any
	for _, name := range visible {
		if pattern != nil && !names.Like(*pattern, name) {
			continue
		}
		row := []any{nil, nil, name, tableType}
		if wanted.GetIncludeSchema() {
			info, err := s.service.info(ctx, &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorPATH, Path: []string{name}})
			var gone *unknownTable
			if errors.As(err, &gone) {
				continue // it was withdrawn or dropped meanwhile
			}
			if err != nil {
				return nil, nil, err
			}
			row = append(row, info.Schema)
		}
		list = append(list, row)
	}
	return rows(schema, list)
}

// rows makes a result of columns of texts and bytes.
func rows(schema *arrow.Schema, list [][]any) (*arrow.Schema, <-chan arrowflight.StreamChunk, error) {
	b := array.NewRecordBuilder(allocator, schema)
	defer b.Release()
	for _, row := range list {
		for i, value := range row {
			switch to := b.Field(i).(type) {
			case *array.StringBuilder:
				if text, ok := value.(string); ok {
					to.Append(text)
					continue
				}
				to.AppendNull()
			case *array.BinaryBuilder:
				to.Append(value.([]byte))
			}
		}
	}
	chunks := make(chan arrowflight.StreamChunk, 1)
	chunks <- arrowflight.StreamChunk{Data: b.NewRecord()}
	close(chunks)
	return schema, chunks, nil
}
