package adbc

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// ingestMode is what ingest does with a table that is there, and with one that is not.
type ingestMode struct{ replaces, appends, creates bool }

var ingestModes = map[string]ingestMode{
	adbc.OptionValueIngestModeCreate:       {creates: true},
	adbc.OptionValueIngestModeAppend:       {appends: true},
	adbc.OptionValueIngestModeReplace:      {creates: true, replaces: true},
	adbc.OptionValueIngestModeCreateAppend: {creates: true, appends: true},
}

// ingest adds the bound rows to a table. They stay in host memory.
func (s *statement) ingest(ctx context.Context) (rows int64, err error) {
	const operation = "ingest rows"
	name, mode := s.options[adbc.OptionKeyIngestTargetTable], ingestModes[s.options[adbc.OptionKeyIngestMode]]
	if s.closed || s.schema == nil {
		return -1, failure(operation, adbc.StatusInvalidState, errors.New("no rows are bound: call Bind or BindStream"))
	}
	for _, r := range s.bound {
		rows += r.NumRows()
	}
	q := s.session.Engine().Records(s.schema, s.bound...)
	before, exists := s.session.Table(name)
	switch {
	case exists && mode.appends:
		if err := sameColumns(ctx, before, s.schema); err != nil {
			return -1, failure(operation, adbc.StatusAlreadyExists, err)
		}
		q = before.Union(q)
	case exists && !mode.replaces:
		return -1, failure(operation, adbc.StatusAlreadyExists, fmt.Errorf("there is a table %q: use another mode than create", name))
	case !exists && !mode.creates:
		e := &statusError{adbc.Error{Msg: fmt.Sprintf("gpuframe: %s: there is no table %q", operation, name), Code: adbc.StatusNotFound, SqlState: undefinedTable}, nil}
		return -1, e
	}
	s.session.Register(name, q)
	s.schema, s.bound = nil, nil // the table has the records now
	return rows, nil
}

// sameColumns refuses rows that a table has other columns than.
func sameColumns(ctx context.Context, table gpuframe.Query, rows *arrow.Schema) error {
	schema, err := table.Schema(ctx)
	if err != nil {
		return err
	}
	if schema.NumFields() != rows.NumFields() {
		return fmt.Errorf("the rows have %d columns, the table %d", rows.NumFields(), schema.NumFields())
	}
	for i, f := range schema.Fields() {
		if other := rows.Field(i); other.Name != f.Name || !arrow.TypeEqual(other.Type, f.Type) {
			return fmt.Errorf("column %d is %s %v, in the table %s %v", i+1, other.Name, other.Type, f.Name, f.Type)
		}
	}
	return nil
}
