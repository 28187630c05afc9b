package adbc

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/substrait"
)

// statement is a text with the rows of its parameters, or a table that ingests rows.
type statement struct {
	noOptions
	session *sql.Session
	text    string
	options options
	// schema and bound are the bound rows. The statement owns them.
	schema *arrow.Schema
	bound  []arrow.Record
	closed bool
}

var (
	_ adbc.Statement              = (*statement)(nil)
	_ adbc.StatementExecuteSchema = (*statement)(nil)
	_ adbc.GetSetOptions          = (*statement)(nil)
)

// Close implements adbc.Statement.
func (s *statement) Close() error {
	if s.closed {
		return failure("close a statement", adbc.StatusInvalidState, errors.New("it is closed already"))
	}
	s.closed = true
	s.unbind()
	return nil
}

func (s *statement) unbind() {
	release.Arrow(s.bound)
	s.schema, s.bound = nil, nil
}

// GetOption implements adbc.GetSetOptions.
func (s *statement) GetOption(key string) (string, error) { return s.options.get(key) }

// SetOption implements adbc.Statement. The options are those of bulk ingest.
func (s *statement) SetOption(key, value string) error {
	switch key {
	case adbc.OptionKeyIngestTargetTable:
		s.text = ""
	case adbc.OptionKeyIngestMode:
		if _, ok := ingestModes[value]; !ok {
			return failure("set an option of a statement", adbc.StatusInvalidArgument, fmt.Errorf("%s=%q is no mode", key, value))
		}
	case adbc.OptionValueIngestTemporary: // all tables are
	case adbc.OptionValueIngestTargetCatalog, adbc.OptionValueIngestTargetDBSchema:
		if value != "" && value != catalog && value != dbSchema {
			return failure("set an option of a statement", adbc.StatusNotFound, fmt.Errorf("%s=%q: tables are in %s.%s", key, value, catalog, dbSchema))
		}
	default:
		return failure("set an option of a statement", adbc.StatusNotImplemented, fmt.Errorf("there is no option %q", key))
	}
	s.options[key] = value
	return nil
}

// SetSqlQuery implements adbc.Statement.
func (s *statement) SetSqlQuery(text string) error {
	s.text = text
	delete(s.options, adbc.OptionKeyIngestTargetTable)
	return nil
}

// SetSubstraitPlan implements adbc.Statement: the text of the statement is that of the plan.
func (s *statement) SetSubstraitPlan(plan []byte) error {
	text, err := substrait.Statement(plan)
	if err != nil {
		return failure("set a plan", adbc.StatusInvalidArgument, err)
	}
	return s.SetSqlQuery(text)
}

// Prepare implements adbc.Statement. It parses the text.
func (s *statement) Prepare(context.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	_, err := parse.Statements(s.text)
	return failed("prepare a statement", err)
}

func (s *statement) check() error {
	switch {
	case s.closed:
		return failure("use a statement", adbc.StatusInvalidState, errors.New("it is closed"))
	case s.text == "":
		return failure("use a statement", adbc.StatusInvalidState, errors.New("it has no text: call SetSqlQuery"))
	}
	return nil
}

// GetParameterSchema implements adbc.Statement.
func (s *statement) GetParameterSchema() (*arrow.Schema, error) {
	return nil, failure("get the schema of parameters", adbc.StatusNotImplemented, errors.New("parameters have the types of the values that are bound"))
}

// ExecutePartitions implements adbc.Statement.
func (s *statement) ExecutePartitions(context.Context) (*arrow.Schema, adbc.Partitions, int64, error) {
	return nil, adbc.Partitions{}, -1, failure("execute partitions", adbc.StatusNotImplemented, errors.New("results have no partitions: use ExecuteQuery"))
}

// Bind implements adbc.Statement.
func (s *statement) Bind(_ context.Context, values arrow.Record) error {
	s.unbind()
	values.Retain()
	s.schema, s.bound = values.Schema(), []arrow.Record{values}
	return nil
}

// BindStream implements adbc.Statement. It reads the whole stream, which stays with the caller.
func (s *statement) BindStream(_ context.Context, stream array.RecordReader) error {
	s.unbind()
	s.schema = stream.Schema()
	for stream.Next() {
		record := stream.Record()
		record.Retain()
		s.bound = append(s.bound, record)
	}
	if err := stream.Err(); err != nil {
		s.unbind()
		return failure("bind a stream", adbc.StatusIO, err)
	}
	return nil
}

// ExecuteQuery implements adbc.Statement.
func (s *statement) ExecuteQuery(ctx context.Context) (array.RecordReader, int64, error) {
	if _, ingests := s.options[adbc.OptionKeyIngestTargetTable]; ingests {
		rows, err := s.ingest(ctx)
		if err != nil {
			return nil, -1, err
		}
		none, err := array.NewRecordReader(arrow.NewSchema(nil, nil), nil)
		return none, rows, err
	}
	q, err := s.query(ctx)
	if err != nil {
		return nil, -1, err
	}
	r, err := newReader(ctx, q)
	if err != nil {
		return nil, -1, failed("execute a query", err)
	}
	return r, -1, nil
}

// ExecuteSchema implements adbc.StatementExecuteSchema.
func (s *statement) ExecuteSchema(ctx context.Context) (*arrow.Schema, error) {
	q, err := s.query(sql.ForSchema(ctx))
	if err != nil {
		return nil, err
	}
	schema, err := q.Schema(ctx)
	return schema, failed("get the schema of a query", err)
}

// query returns the query of the text, for all rows of parameters.
func (s *statement) query(ctx context.Context) (q gpuframe.Query, err error) {
	if err := s.check(); err != nil {
		return q, err
	}
	var list []gpuframe.Query
	err = s.each(func(arguments []any) error {
		q, err := s.session.Query(ctx, s.text, arguments...)
		list = append(list, q)
		return err
	})
	switch {
	case err != nil:
		return q, failed("translate a query", err)
	case len(list) == 0:
		return q, failure("translate a query", adbc.StatusInvalidState, errors.New("the bound parameters have no rows"))
	case len(list) == 1:
		return list[0], nil
	}
	return list[0].Union(list[1:]...), nil
}

// each calls do for each row of parameters, or once if none are bound.
func (s *statement) each(do func(arguments []any) error) error {
	if s.schema == nil {
		return do(nil)
	}
	for _, record := range s.bound {
		for row := range int(record.NumRows()) {
			if err := do(sql.Arguments(record, row)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ExecuteUpdate implements adbc.Statement.
func (s *statement) ExecuteUpdate(ctx context.Context) (int64, error) {
	if _, ingests := s.options[adbc.OptionKeyIngestTargetTable]; ingests {
		return s.ingest(ctx)
	}
	if err := s.check(); err != nil {
		return -1, err
	}
	total := int64(0)
	err := s.each(func(arguments []any) error {
		rows, err := s.session.Exec(ctx, s.text, arguments...)
		total += rows
		return err
	})
	return total, failed("execute a statement", err)
}
