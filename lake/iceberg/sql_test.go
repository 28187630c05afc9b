package iceberg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/iceberg"
	"github.com/gpuframe/gpuframe/sql"
)

// Statements of SQL read a table under a name, with its deletes.
func TestSQL(t *testing.T) {
	engine := openEngine(t)
	table, err := iceberg.Open(t.Context(), "testdata/duckdb/data/persistent/equality_deletes/warehouse/mydb/mytable", iceberg.Options{Moved: true})
	require.NoError(t, err)
	session := sql.New(engine)
	defer func() { require.NoError(t, session.Close()) }()
	session.Register("people", table.Query(engine))
	q, err := session.Query(t.Context(), "select count(*) as n, max(name) as last from people where bir > date '2025-01-01'")
	require.NoError(t, err)
	require.Equal(t, []string{`{"last":"e","n":2}`}, rowsOf(t, q))
}
