package driver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/parse"
)

// errTransaction is the error of Begin.
var errTransaction = errors.New("gpuframe: there are no transactions: each statement is done or fails alone")

// conn is a connection: the session of its connector.
type conn struct{ session *sql.Session }

var (
	_ driver.QueryerContext     = (*conn)(nil)
	_ driver.ExecerContext      = (*conn)(nil)
	_ driver.ConnPrepareContext = (*conn)(nil)
	_ driver.ConnBeginTx        = (*conn)(nil)
	_ driver.NamedValueChecker  = (*conn)(nil)
)

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	values, err := valuesOf(args)
	if err != nil {
		return nil, err
	}
	q, err := c.session.Query(ctx, text, values...)
	if err != nil {
		return nil, err
	}
	return newRows(ctx, q)
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	values, err := valuesOf(args)
	if err != nil {
		return nil, err
	}
	affected, err := c.session.Exec(ctx, text, values...)
	if err != nil {
		return nil, err
	}
	return driver.RowsAffected(affected), nil
}

// valuesOf returns the values of arguments.
func valuesOf(args []driver.NamedValue) ([]any, error) {
	var values []any
	for _, a := range args {
		if a.Name != "" {
			return nil, fmt.Errorf("gpuframe: the argument %q has a name, expected arguments in the order of the parameters", a.Name)
		}
		values = append(values, a.Value)
	}
	return values, nil
}

// CheckNamedValue implements driver.NamedValueChecker. The session checks the types of arguments.
func (c *conn) CheckNamedValue(value *driver.NamedValue) (err error) {
	if valuer, ok := value.Value.(driver.Valuer); ok {
		value.Value, err = valuer.Value()
	}
	return err
}

// Prepare implements driver.Conn.
func (c *conn) Prepare(text string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), text)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *conn) PrepareContext(_ context.Context, text string) (driver.Stmt, error) {
	if _, err := parse.Statements(text); err != nil {
		return nil, err
	}
	return &stmt{c, text}, nil
}

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) { return nil, errTransaction }

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return nil, errTransaction
}

// Close implements driver.Conn.
func (c *conn) Close() error { return nil }

// stmt is a statement that was parsed once.
type stmt struct {
	conn *conn
	text string
}

var (
	_ driver.StmtQueryContext = (*stmt)(nil)
	_ driver.StmtExecContext  = (*stmt)(nil)
)

// NumInput implements driver.Stmt. The session checks the number of arguments.
func (*stmt) NumInput() int { return -1 }

// Close implements driver.Stmt.
func (*stmt) Close() error { return nil }

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.QueryContext(ctx, s.text, args)
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.ExecContext(ctx, s.text, args)
}

// Query implements driver.Stmt.
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

// Exec implements driver.Stmt.
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

func named(args []driver.Value) (values []driver.NamedValue) {
	for i, a := range args {
		values = append(values, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return values
}
