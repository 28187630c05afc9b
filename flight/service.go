package flight

import (
	"context"
	"encoding/json"
	"errors"

	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"
)

// service has the calls of the protocol.
type service struct {
	arrowflight.BaseFlightServer
	server *Server
}

// ListFlights lists the tables that the client sees.
func (s *service) ListFlights(_ *arrowflight.Criteria, stream arrowflight.FlightService_ListFlightsServer) error {
	ctx := stream.Context()
	c := clientOf(ctx)
	s.server.mu.Lock()
	visible := s.server.visible(c)
	s.server.mu.Unlock()
	for _, name := range visible {
		info, err := s.info(ctx, &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorPATH, Path: []string{name}})
		var gone *unknownTable
		if errors.As(err, &gone) {
			continue // it was withdrawn meanwhile
		}
		if err != nil {
			return err
		}
		if err := stream.Send(info); err != nil {
			return err
		}
	}
	return nil
}

// GetFlightInfo describes a table or the result of a query.
func (s *service) GetFlightInfo(ctx context.Context, descriptor *arrowflight.FlightDescriptor) (*arrowflight.FlightInfo, error) {
	if statement, err := s.isStatement(descriptor.GetCmd()); err != nil {
		return nil, err
	} else if statement {
		return s.server.sql.GetFlightInfo(ctx, descriptor)
	}
	return s.info(ctx, descriptor)
}

// info binds the query of a descriptor, so that its problems are reported before it is read.
func (s *service) info(ctx context.Context, descriptor *arrowflight.FlightDescriptor) (info *arrowflight.FlightInfo, err error) {
	r, text, err := s.server.described(ctx, descriptor)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	schema, err := r.query.Schema(ctx)
	if err != nil {
		return nil, err
	}
	return &arrowflight.FlightInfo{
		Schema:           arrowflight.SerializeSchema(schema, allocator),
		FlightDescriptor: descriptor,
		Endpoint:         []*arrowflight.FlightEndpoint{{Ticket: &arrowflight.Ticket{Ticket: text}}},
		TotalRecords:     r.rows,
		TotalBytes:       -1,
	}, nil
}

// GetSchema returns the schema of a table or of the result of a query.
func (s *service) GetSchema(ctx context.Context, descriptor *arrowflight.FlightDescriptor) (*arrowflight.SchemaResult, error) {
	if statement, err := s.isStatement(descriptor.GetCmd()); err != nil {
		return nil, err
	} else if statement {
		return s.server.sql.GetSchema(ctx, descriptor)
	}
	info, err := s.info(ctx, descriptor)
	if err != nil {
		return nil, err
	}
	return &arrowflight.SchemaResult{Schema: info.Schema}, nil
}

// DoGet streams a table or the result of a query.
func (s *service) DoGet(t *arrowflight.Ticket, stream arrowflight.FlightService_DoGetServer) error {
	if statement, err := s.isStatement(t.GetTicket()); err != nil {
		return err
	} else if statement {
		return s.server.sql.DoGet(t, stream)
	}
	r, err := s.server.open(stream.Context(), t.GetTicket())
	if err != nil {
		return err
	}
	return errors.Join(s.server.send(stream, r), r.close())
}

// actions are those that Flight SQL does not have.
var actions = map[string]struct {
	description string
	do          func(*service, context.Context, *client, []byte) ([]byte, error)
}{
	"drop":    {"releases a table that the client has uploaded; the body is its name", (*service).drop},
	"explain": {"returns the plan of a query as text; the body is its document", (*service).explain},
}

// ListActions lists the actions.
func (s *service) ListActions(_ *arrowflight.Empty, stream arrowflight.FlightService_ListActionsServer) error {
	for _, name := range []string{"drop", "explain"} {
		if err := stream.Send(&arrowflight.ActionType{Type: name, Description: actions[name].description}); err != nil {
			return err
		}
	}
	return nil
}

// DoAction does an action.
func (s *service) DoAction(action *arrowflight.Action, stream arrowflight.FlightService_DoActionServer) error {
	does, known := actions[action.GetType()]
	if !known {
		return s.server.sql.DoAction(action, stream)
	}
	ctx := stream.Context()
	body, err := does.do(s, ctx, clientOf(ctx), action.GetBody())
	if err != nil {
		return err
	}
	return stream.Send(&arrowflight.Result{Body: body})
}

func (s *service) drop(_ context.Context, c *client, body []byte) ([]byte, error) {
	name := string(body)
	s.server.mu.Lock()
	table := c.tables[name]
	delete(c.tables, name)
	s.server.mu.Unlock()
	if table == nil {
		return nil, refused(codes.NotFound, "client %q has uploaded no table %q", c.name, name)
	}
	reply, err := json.Marshal(map[string]string{"dropped": name})
	return reply, errors.Join(err, table.release())
}

func (s *service) explain(ctx context.Context, _ *client, body []byte) ([]byte, error) {
	r, err := s.server.open(ctx, body)
	if err != nil {
		return nil, err
	}
	text, err := r.query.Explain(ctx)
	return []byte(withoutFolders(text)), errors.Join(err, r.close())
}
