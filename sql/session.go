package sql

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// Session has the names of tables and views that statements use. Its methods may be called from any
// goroutine. A query keeps the tables that it was made of. Later changes of the names do not matter to it.
type Session struct {
	engine *gpuframe.Engine
	files  files
	system fs.FS
	find   func(name string) (gpuframe.Query, error)
	mu     sync.RWMutex
	tables map[string]table
	closed bool
	owned  ownedTables
	types  types
	kept   keptStatements
}

// table is a named query.
type table struct {
	name  string
	query gpuframe.Query
	view  bool
	// owned is set for a table of CREATE TABLE.
	owned *ownedTable
}

// Options configure [NewWith]. The zero Options are those of [New].
type Options struct {
	// Files, if it is set, is the file system that statements read, with the paths of [io/fs]. COPY still writes
	// files of the process.
	Files fs.FS
	// Table, if it is set, finds tables that the session does not have. The error of a name that is not there is
	// that of the statement.
	Table func(name string) (gpuframe.Query, error)
}

// New returns a session without tables on an engine.
//
// # Ownership
//
// The caller closes the session before the engine.
func New(engine *gpuframe.Engine) *Session { return NewWith(engine, Options{}) }

// NewWith is [New] with options.
func NewWith(engine *gpuframe.Engine, options Options) *Session {
	s := &Session{engine: engine, files: processFiles{engine}, system: options.Files, find: options.Table, tables: map[string]table{}}
	if options.Files != nil {
		s.files = engine.Files(options.Files)
	}
	return s
}

// Register gives a query of the session's engine a name. It replaces a table or view of this name.
func (s *Session) Register(name string, q gpuframe.Query) {
	_, _ = s.put(table{name: name, query: q}, true) // only a table of CREATE TABLE has an error
}

// put adds a table. It replaces the one of this name, or reports that there is one and adds nothing. A table of CREATE
// TABLE is an error after Close, which has released it.
func (s *Session) put(t table, replaces bool) (exists bool, err error) {
	s.mu.Lock()
	if s.closed && t.owned != nil {
		s.mu.Unlock()
		return false, errClosed
	}
	before, exists := s.tables[strings.ToLower(t.name)]
	if exists && !replaces {
		s.mu.Unlock()
		return true, nil
	}
	s.tables[strings.ToLower(t.name)] = t
	s.mu.Unlock()
	s.kept.forget()
	s.owned.drop(before.owned)
	return exists, nil
}

// forget removes a name.
func (s *Session) forget(name string) {
	s.mu.Lock()
	before := s.tables[strings.ToLower(name)].owned
	delete(s.tables, strings.ToLower(name))
	s.mu.Unlock()
	s.kept.forget()
	s.owned.drop(before)
}

// lookup returns the table of a name.
func (s *Session) lookup(name string) (table, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, ok := s.tables[strings.ToLower(name)]
	return t, ok
}

// names returns the names of all tables in their order.
func (s *Session) names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]string, 0, len(s.tables))
	for _, key := range slices.Sorted(maps.Keys(s.tables)) {
		list = append(list, s.tables[key].name)
	}
	return list
}

// Close releases the tables that CREATE TABLE has made. Queries on them must have ended. A CREATE TABLE that ends later
// fails.
//
// # Errors
//
// The error is that of releases, also of tables that statements have dropped before.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables, s.closed = map[string]table{}, true
	s.kept.forget()
	return s.owned.close()
}

// forSchema is the key of [ForSchema].
type forSchema struct{}

// ForSchema returns a context for calls of [Session.Query] that only ask for the schema of the query: with it EXPLAIN
// ANALYZE and SUMMARIZE run nothing, EXPLAIN has an empty plan, and limits that are not literals are left out.
func ForSchema(ctx context.Context) context.Context { return context.WithValue(ctx, forSchema{}, true) }

func isForSchema(ctx context.Context) bool { return ctx.Value(forSchema{}) != nil }

// Query returns the query of a statement that yields rows: SELECT, VALUES, FROM, DESCRIBE, EXPLAIN or SHOW
// TABLES. Arguments are the values of its parameters: $1 or the first ? is the first. They may be of the
// types of [gpuframe.Lit] without []byte, nil for null, a [Null], or a json.Number, which is an integer or a decimal. A time.Time is a timestamp in UTC, as SQL has
// them: in microseconds, without the rest.
//
// Schemas of sources are read, and the footers of files for EXPLAIN. EXPLAIN ANALYZE and SUMMARIZE run their queries, and
// recursive tables and limits that are not literals are computed.
//
// The session keeps the queries of the latest statements on tables in memory until a name changes.
//
// # Errors
//
// The error is a [*parse.Error] with the place in the text, or that of the context.
func (s *Session) Query(ctx context.Context, text string, arguments ...any) (q gpuframe.Query, err error) {
	key, keeps := keyOf(ctx, text, arguments)
	var changes uint64
	if keeps {
		known, before, ok := s.kept.find(key)
		if ok {
			return known, cancel.Error(ctx)
		}
		changes = before
	}
	statement, err := single(text)
	if err != nil {
		return q, err
	}
	defer catch(&err)
	t := s.begin(ctx, text, arguments)
	t.checkArguments(statement)
	q = t.rows(statement)
	if keeps && !t.isVolatile && q.InMemory() {
		s.kept.keep(key, q, changes)
	}
	return q, nil
}

// Exec runs a statement: CREATE TABLE … AS, CREATE VIEW, DROP, or COPY … TO. It returns the number of rows
// that were written, or zero. A statement that yields rows is run, and its rows are counted.
//
// # Ownership
//
// The session owns the table that CREATE TABLE collects. [Session.Close] releases it, or DROP and CREATE OR REPLACE do if
// no query is on it: no view and no Query that the program still has, as the garbage collector finds. Large tables start it,
// small ones are released when it has run, or when the budget is short.
//
// # Errors
//
// The error is a [*parse.Error] with the place in the text, or that of [gpuframe.Query.Collect]. CREATE TABLE after
// [Session.Close] wraps [gpuframe.ErrClosed].
func (s *Session) Exec(ctx context.Context, text string, arguments ...any) (rows int64, err error) {
	statement, err := single(text)
	if err != nil {
		return 0, err
	}
	defer catch(&err)
	t := s.begin(ctx, text, arguments)
	t.checkArguments(statement)
	return t.execute(statement), nil
}

// single returns the only statement of a text.
func single(text string) (tree.Statement, error) {
	statements, err := parse.Statements(text)
	if err != nil {
		return nil, err
	}
	if len(statements) != 1 {
		return nil, fmt.Errorf("sql: the text has %d statements, expected 1: pass each statement separately", len(statements))
	}
	return statements[0], nil
}

// begin returns the translation of a statement.
func (s *Session) begin(ctx context.Context, text string, arguments []any) *translation {
	return &translation{ctx: ctx, session: s, engine: s.engine, text: text, arguments: arguments, taken: map[string]int{}}
}
