//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import "C"

import (
	"context"
	"errors"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/parse"
)

// statementText is a statement of SQL, and the place of the call in the Python program.
type statementText struct {
	Text  string `json:"text"`
	Place struct {
		Verb string `json:"verb"`
		File string `json:"file"`
		Line int    `json:"line"`
	} `json:"place"`
}

// gpuframe_statement answers with the names of the tables in a statement of SQL that yields rows. The error is that of
// its text.
//
//export gpuframe_statement
func gpuframe_statement(statement *C.char, out **C.char) *C.char {
	return guarded(func() error {
		var s statementText
		if err := decode(statement, &s); err != nil {
			return err
		}
		names, err := sql.References(s.Text)
		if err == nil {
			err = yieldsRows(s.Text)
		}
		if err != nil {
			problem := gpuframe.Problem{Verb: s.Place.Verb, File: s.Place.File, Line: s.Place.Line, Err: statementProblem(err)}
			return &gpuframe.QueryError{Problems: []gpuframe.Problem{problem}}
		}
		*out = encoded(append([]string{}, names...))
		return nil
	})
}

// yieldsRows refuses statements without rows.
func yieldsRows(text string) error {
	if hasRows, err := sql.HasRows(text); err != nil || hasRows {
		return err
	}
	return errors.New("the statement yields no rows: give a query a name with SQLContext.register, write one with sink_parquet")
}

// statementProblem returns an error of a statement without the name of the package.
func statementProblem(err error) error {
	var malformed *parse.Error
	if errors.As(err, &malformed) {
		return errors.New(strings.TrimPrefix(malformed.Error(), "sql: "))
	}
	return err
}

// statementsOf returns the function that makes queries of statements for documents.
func statementsOf(engine *gpuframe.Engine) func(ctx context.Context, text string, tables map[string]gpuframe.Query, arguments []any) (gpuframe.Query, error) {
	return func(ctx context.Context, text string, tables map[string]gpuframe.Query, arguments []any) (q gpuframe.Query, err error) {
		session := sql.New(engine)
		for name, table := range tables {
			session.Register(name, table)
		}
		if q, err = session.Query(ctx, text, arguments...); err != nil {
			err = statementProblem(err)
		}
		return q, errors.Join(err, session.Close())
	}
}
