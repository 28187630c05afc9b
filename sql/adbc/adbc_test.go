package adbc

import (
	"strings"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-adbc/go/adbc/sqldriver"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	stdsql "database/sql"
)

// connect opens a database of its own engine.
func connect(t *testing.T) adbc.Connection {
	t.Helper()
	db, err := NewDriver().NewDatabase(map[string]string{adbc.OptionKeyURI: "device=host&budget=64MiB"})
	require.NoError(t, err)
	c, err := db.Open(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		require.NoError(t, db.Close()) // the engine reports memory that is in use
	})
	return c
}

func statementOf(t *testing.T, c adbc.Connection, text string) adbc.Statement {
	t.Helper()
	s, err := c.NewStatement()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.SetSqlQuery(text))
	return s
}

func record(t *testing.T, text string, names ...string) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	for _, name := range names {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	}
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(text))
	require.NoError(t, err)
	t.Cleanup(r.Release)
	return r
}

func TestIngestErrors(t *testing.T) {
	c := connect(t)
	rows, wider := record(t, `[{"a": 1}, {"a": null}]`, "a"), record(t, `[{"a": 1, "b": 2}]`, "a", "b")
	for _, each := range []struct {
		mode   string
		rows   arrow.Record
		status adbc.Status
	}{
		{adbc.OptionValueIngestModeAppend, rows, adbc.StatusNotFound},
		{adbc.OptionValueIngestModeCreate, rows, adbc.StatusOK},
		{adbc.OptionValueIngestModeCreate, rows, adbc.StatusAlreadyExists},
		{adbc.OptionValueIngestModeAppend, wider, adbc.StatusAlreadyExists},
		{adbc.OptionValueIngestModeCreateAppend, rows, adbc.StatusOK},
	} {
		s := statementOf(t, c, "")
		require.NoError(t, s.SetOption(adbc.OptionKeyIngestTargetTable, "t"))
		require.NoError(t, s.SetOption(adbc.OptionKeyIngestMode, each.mode))
		require.NoError(t, s.Bind(t.Context(), each.rows))
		_, err := s.ExecuteUpdate(t.Context())
		var failure adbc.Error
		if each.status == adbc.StatusOK {
			require.NoError(t, err, each.mode)
			continue
		}
		require.ErrorAs(t, err, &failure, each.mode)
		require.Equal(t, each.status, failure.Code, each.mode)
	}
	r, _, err := statementOf(t, c, "select count(*) as n, count(a) as a from t").ExecuteQuery(t.Context())
	require.NoError(t, err)
	defer r.Release()
	require.True(t, r.Next())
	require.Equal(t, "[4]", r.Record().Column(0).String())
	require.Equal(t, "[2]", r.Record().Column(1).String())
}

func TestStatusOfErrors(t *testing.T) {
	c := connect(t)
	_, _, err := statementOf(t, c, "select a form t").ExecuteQuery(t.Context())
	var failure adbc.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, adbc.StatusInvalidArgument, failure.Code)
	require.ErrorContains(t, err, "line 1, column 10")
	_, err = NewDriver().NewDatabase(map[string]string{"uri": "device=abacus"})
	require.Error(t, err)
	_, err = NewDriver().NewDatabase(map[string]string{"url": "device=host"})
	require.ErrorContains(t, err, `no option "url"`)
}

// TestThroughSQLDriver reads rows by ADBC's driver for database/sql: a client that nobody here wrote.
func TestThroughSQLDriver(t *testing.T) {
	stdsql.Register("adbc of gpuframe", sqldriver.Driver{Driver: NewDriver()})
	db, err := stdsql.Open("adbc of gpuframe", "uri=device=host")
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	rows, err := db.Query("select i, i * i as square from range(10000) as r(i) order by i desc")
	require.NoError(t, err)
	defer rows.Close()
	n := int64(10000)
	for rows.Next() {
		var i, square int64
		require.NoError(t, rows.Scan(&i, &square))
		n--
		require.Equal(t, []int64{n, n * n}, []int64{i, square})
	}
	require.NoError(t, rows.Err())
	require.Zero(t, n)
}

// TestPlan runs a plan of Substrait with a parameter.
func TestPlan(t *testing.T) {
	c := connect(t)
	s := statementOf(t, c, "")
	plan := `{"extensions": [{"extensionFunction": {"functionAnchor": 1, "name": "gt:i64_i64"}}], "relations": [{"root": {"names": ["n"], "input": {"filter": {
		"input": {"read": {"baseSchema": {"names": ["n"]}, "virtualTable": {"values": [{"fields": [{"i64": "1"}]}, {"fields": [{"i64": "5"}]}]}}},
		"condition": {"scalarFunction": {"functionReference": 1, "arguments": [{"value": {"selection": {"directReference": {"structField": {"field": 0}}}}}, {"value": {"dynamicParameter": {"parameterReference": 0}}}]}}
	}}}}]}`
	require.NoError(t, s.SetSubstraitPlan([]byte(plan)))
	require.NoError(t, s.Bind(t.Context(), record(t, `[{"x": 3}]`, "x")))
	r, _, err := s.ExecuteQuery(t.Context())
	require.NoError(t, err)
	defer r.Release()
	require.True(t, r.Next())
	require.Equal(t, "[5]", r.Record().Column(0).String())

	var failure adbc.Error
	require.ErrorAs(t, s.SetSubstraitPlan([]byte(`{}`)), &failure)
	require.Equal(t, adbc.StatusInvalidArgument, failure.Code)
	require.Contains(t, failure.Msg, "no root relation")
}
