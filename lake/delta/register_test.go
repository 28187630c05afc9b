package delta_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/lake/delta"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/tableformat"
)

// Statements and documents open tables by their paths.
func TestScans(t *testing.T) {
	require.NoError(t, delta.Registered())
	engine := openEngine(t)
	session := sql.New(engine)
	defer func() { require.NoError(t, session.Close()) }()
	const table = "testdata/tables/table-with-dv-small/delta"
	for options, want := range map[string]string{"": `{"n":8}`, ", version = 0": `{"n":10}`, ", version := 1": `{"n":8}`} {
		q, err := session.Query(t.Context(), "select count(*) as n from delta_scan('"+table+"'"+options+")")
		require.NoError(t, err)
		require.Equal(t, []string{want}, rowsOf(t, q), options)
	}
	_, err := session.Query(t.Context(), "from delta_scan('absent')")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = session.Query(t.Context(), "from delta_scan('"+table+"', version = 7)")
	require.ErrorIs(t, err, delta.ErrVersion)
	_, err = session.Query(t.Context(), "from delta_scan('"+table+"', ref = 'main')")
	require.ErrorIs(t, err, tableformat.ErrOption)
	q, err := querydata.Decode(t.Context(), engine, []byte(`{"version": 1, "steps": [{"verb": "delta", "path": "`+table+`", "version": 0}]}`), querydata.Options{})
	require.NoError(t, err)
	require.Len(t, rowsOf(t, q), 10)
}
