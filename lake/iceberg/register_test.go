package iceberg_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/lake/iceberg"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/tableformat"
)

const people = "testdata/duckdb/data/persistent/equality_deletes/warehouse/mydb/mytable"

// Statements and documents open tables by their paths, with the options of DuckDB.
func TestScans(t *testing.T) {
	require.NoError(t, iceberg.Registered())
	engine := openEngine(t)
	session := sql.New(engine)
	defer func() { require.NoError(t, session.Close()) }()
	table, err := iceberg.Open(t.Context(), people, iceberg.Options{Moved: true})
	require.NoError(t, err)
	first := table.Snapshots()[0]
	total := first.Summary["total-records"] // by the writer
	early := `{"n":` + total + `}`
	at := first.Time.Format("2006-01-02 15:04:05.999")
	for statement, want := range map[string]string{
		"allow_moved_paths = true": `{"n":2}`,
		fmt.Sprintf("allow_moved_paths = true, snapshot_from_id = %d", first.ID):     early,
		fmt.Sprintf("allow_moved_paths = true, snapshot_from_timestamp = '%s'", at):  early,
		fmt.Sprintf("snapshot_from_timestamp = timestamp '%s', ref = 'main'", at):    "error",
		"allow_moved_paths = true, ref = 'main'":                                     `{"n":2}`,
		"allow_moved_paths = true, ref = 'absent'":                                   "error",
		"allow_moved_paths = true, version = 1":                                      "error",
		"allow_moved_paths = true, snapshot_from_timestamp = timestamp '1999-01-01'": "error",
	} {
		q, err := session.Query(t.Context(), fmt.Sprintf("select count(*) as n from iceberg_scan('%s', %s)", people, statement))
		if want == "error" {
			require.Error(t, err, statement)
			continue
		}
		require.NoError(t, err, statement)
		require.Equal(t, []string{want}, rowsOf(t, q), statement)
	}
	_, err = session.Query(t.Context(), "from iceberg_scan('absent')")
	require.ErrorIs(t, err, fs.ErrNotExist)

	number, err := strconv.Atoi(total)
	require.NoError(t, err)
	document := func(step map[string]any, options querydata.Options) (int, error) {
		text, err := json.Marshal(map[string]any{"version": 1, "steps": []any{step}})
		require.NoError(t, err)
		q, err := querydata.Decode(t.Context(), engine, text, options)
		if err != nil {
			return 0, err
		}
		return len(rowsOf(t, q)), nil
	}
	for _, test := range []struct {
		step  map[string]any
		files fs.FS
		rows  int
	}{
		{map[string]any{"verb": "iceberg", "path": people, "moved": true}, nil, 2},
		{map[string]any{"verb": "iceberg", "path": people, "moved": true, "snapshot_id": first.ID}, nil, number},
		{map[string]any{"verb": "iceberg", "path": people, "moved": true, "timestamp": first.Time.Format("2006-01-02T15:04:05.999Z")}, os.DirFS("."), number},
	} {
		rows, err := document(test.step, querydata.Options{Files: test.files})
		require.NoError(t, err)
		require.Equal(t, test.rows, rows)
	}
	_, err = document(map[string]any{"verb": "iceberg", "path": people, "moved": true, "version": 1}, querydata.Options{})
	require.ErrorIs(t, err, querydata.ErrDocument)
	_, err = document(map[string]any{"verb": "iceberg", "path": "../" + people}, querydata.Options{Files: os.DirFS("testdata")})
	require.Error(t, err, "it is outside of the file system")
	_, err = document(map[string]any{"verb": "iceberg", "path": "absent"}, querydata.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = document(map[string]any{"verb": "delta", "path": "absent"}, querydata.Options{})
	require.ErrorIs(t, err, tableformat.ErrFormat)
}
