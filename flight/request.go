package flight

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/sql"
)

// request is a query of a client, with the uploaded tables that it reads.
type request struct {
	query gpuframe.Query
	// rows is the number of rows if it is known without running, and otherwise -1.
	rows int64
	// shared reports that the query is a shared table, all of it.
	shared bool
	// table is the table that the query returns as it is, or nil.
	table *buffer.Buffer
	reads []*upload
}

// close ends the use of the tables.
func (r *request) close() error {
	var err error
	for _, table := range r.reads {
		err = errors.Join(err, table.done())
	}
	r.reads = nil
	return err
}

// table adds a table that the client sees, and returns a query on it.
func (s *Server) table(c *client, name string, r *request) (gpuframe.Query, error) {
	if err := checkTableName(name); err != nil {
		return gpuframe.Query{}, err
	}
	s.mu.Lock()
	own := c.tables[name]
	// It is retained under the lock: an upload of the name may replace and release it afterwards.
	isOwn := own != nil && own.retain()
	shared, isShared := s.shared[name]
	visible := s.visible(c)
	s.mu.Unlock()
	switch {
	case isOwn:
		r.reads = append(r.reads, own)
		r.rows, r.table = own.frame.NumRows(), own.frame.Table()
		return own.frame.Query(), nil
	case isShared:
		r.rows, r.shared = -1, true
		if shared.frame != nil {
			r.rows, r.table = shared.frame.NumRows(), shared.frame.Table()
			return c.engine.Table(r.table), nil
		}
		return shared.source(c.engine), nil
	}
	return gpuframe.Query{}, &unknownTable{names.Unknown("table", name, visible)}
}

// visible returns the sorted names of the tables that a client sees. The caller holds mu.
func (s *Server) visible(c *client) []string {
	list := make([]string, 0, len(s.shared)+len(c.tables))
	for name := range s.shared {
		if c.tables[name] == nil {
			list = append(list, name)
		}
	}
	for name := range c.tables {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// ticket is the JSON of a ticket for a table, or for a prepared statement: the server keeps none.
type ticket struct {
	Table     *string `json:"table,omitempty"`
	Statement *string `json:"statement,omitempty"`
	// Parameters is an Arrow stream with the rows of parameters that are bound to the statement.
	Parameters []byte `json:"parameters,omitempty"`
}

// ticketOf makes the ticket for a table.
func ticketOf(name string) ([]byte, error) { return json.Marshal(ticket{Table: &name}) }

// open returns the request of a ticket. The caller closes it.
func (s *Server) open(ctx context.Context, text []byte) (*request, error) {
	c, r := clientOf(ctx), &request{rows: -1}
	if len(text) > s.limits.DocumentBytes {
		return nil, refused(codes.ResourceExhausted, "a ticket or document of %d bytes, expected %d at most", len(text), s.limits.DocumentBytes)
	}
	var err error
	var named ticket
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	switch isTicket := strict.Decode(&named) == nil; {
	case isTicket && named.Table != nil:
		r.query, err = s.table(c, *named.Table, r)
	case isTicket && named.Statement != nil:
		r.query, err = s.prepared(ctx, c, named, r)
	default:
		r.query, err = s.document(ctx, c, text, r)
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// document returns the query of a document, or of a statement in SQL, which does not begin with a brace.
func (s *Server) document(ctx context.Context, c *client, text []byte, r *request) (query gpuframe.Query, err error) {
	if begins := bytes.TrimLeft(text, " \t\r\n"); len(begins) > 0 && begins[0] != '{' {
		return s.statement(ctx, c, string(text), r)
	}
	query, err = querydata.Decode(ctx, c.engine, text, querydata.Options{
		Files: s.files(ctx, c),
		Table: func(name string) (gpuframe.Query, error) { return s.table(c, name, r) },
	})
	r.rows, r.shared, r.table = -1, false, nil
	return query, err
}

// files are the files that the documents and statements of a client read.
func (s *Server) files(ctx context.Context, c *client) fs.FS {
	if s.options.Files == nil {
		return boundFiles{ctx, noFiles{}}
	}
	return boundFiles{ctx, s.options.Files(c.name)}
}

// described returns the request of a descriptor, and the ticket for it.
func (s *Server) described(ctx context.Context, descriptor *arrowflight.FlightDescriptor) (r *request, text []byte, err error) {
	switch descriptor.GetType() {
	case arrowflight.DescriptorPATH:
		name, err := tableName(descriptor)
		if err != nil {
			return nil, nil, err
		}
		if text, err = ticketOf(name); err != nil {
			return nil, nil, err
		}
	case arrowflight.DescriptorCMD:
		text = descriptor.GetCmd()
	default:
		return nil, nil, refused(codes.InvalidArgument, "the descriptor's type is %v, expected PATH with a table's name or CMD with a query document", descriptor.GetType())
	}
	r, err = s.open(sql.ForSchema(ctx), text)
	return r, text, err
}

// tableName returns the name of the table that a descriptor's path names.
func tableName(descriptor *arrowflight.FlightDescriptor) (string, error) {
	path := descriptor.GetPath()
	if descriptor.GetType() != arrowflight.DescriptorPATH || len(path) != 1 {
		return "", refused(codes.InvalidArgument, "expected a descriptor with a path of one element, the table's name, got one of type %v with %d", descriptor.GetType(), len(path))
	}
	return path[0], checkTableName(path[0])
}
