package tableformat_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/tableformat"
)

// Formats are registered once, and opened by name with the options of the caller.
func TestRegister(t *testing.T) {
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, gpu.Close()) }()
	_, err = tableformat.Scan(t.Context(), gpu, "iceberg", "folder", tableformat.Options{})
	require.ErrorIs(t, err, tableformat.ErrFormat)
	require.ErrorContains(t, err, `import _ "github.com/gpuframe/gpuframe/lake/iceberg"`)
	_, err = tableformat.Scan(t.Context(), gpu, "hudi", "folder", tableformat.Options{})
	require.ErrorContains(t, err, "no package of a format is imported")

	type row struct{ N int64 }
	var opened tableformat.Options
	open := func(_ context.Context, engine *gpuframe.Engine, path string, options tableformat.Options) (gpuframe.Query, error) {
		opened = options
		return gpuframe.From(engine, []row{{int64(len(path))}}), options.Only("lines", "version", "timestamp")
	}
	require.Error(t, tableformat.Register("", open))
	require.Error(t, tableformat.Register("lines", nil))
	require.NoError(t, tableformat.Register("lines", open))
	require.ErrorContains(t, tableformat.Register("lines", open), "taken")
	require.Equal(t, []string{"lines"}, tableformat.Formats())
	_, err = tableformat.Scan(t.Context(), gpu, "hudi", "folder", tableformat.Options{})
	require.ErrorContains(t, err, "the imported packages read lines")

	session := sql.New(gpu)
	defer func() { require.NoError(t, session.Close()) }()
	q, err := session.Query(t.Context(), "select * from lines_scan('abc', version = 7, timestamp = timestamp '2026-01-31 12:30:00')")
	require.NoError(t, err)
	schema, err := q.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, "N", schema.Field(0).Name)
	require.Equal(t, int64(7), *opened.Version)
	require.Equal(t, time.Date(2026, 1, 31, 12, 30, 0, 0, time.UTC), opened.Timestamp)
	for statement, message := range map[string]string{
		"from lines_scan('a', ref = 'main')":                                                       `lines_scan has no option "ref": leave it out`,
		"from lines_scan('a', snapshot_from_id = 1)":                                               `lines_scan has no option "snapshot_from_id"`,
		"from lines_scan('a', allow_moved_paths = 1)":                                              "allow_moved_paths is 1, expected a literal boolean: write allow_moved_paths = true",
		"from lines_scan('a', allow_moved_paths = 'yes')":                                          `allow_moved_paths is "yes", expected`,
		"from lines_scan('a', allow_moved_paths = null)":                                           "allow_moved_paths is of type NULL, expected",
		"from lines_scan('a', version = 1, VERSION = 2)":                                           "option version is given twice",
		"from iceberg_scan('a', timestamp = '2020-01-01', snapshot_from_timestamp = '2020-01-01')": "options timestamp and snapshot_from_timestamp are the same",
		"from delta_scan('a', 7)":                                                                  "delta_scan has one argument without a name, the path: write the others as options, such as version = value",
		"from delta_scan('a', ref = 'main')":                                                       `no option of delta_scan is called "ref": there are "version", "timestamp"`,
		"from iceberg_scan('a', version = 1)":                                                      `no option of iceberg_scan is called "version"`,
		"from lines_scan('a', version = 'x')":                                                      "the version is not a literal integer",
		"from lines_scan('a', timestamp = 7)":                                                      "the time is not a literal timestamp",
		"from lines_scan('a', timestamp = 'tomorrow')":                                             `"tomorrow" is no timestamp`,
		"from lines_scan('a', verison = 7)":                                                        `no option of lines_scan is called "verison"`,
		"from lines_scan(['a', 'b'])":                                                              "has 2 paths, expected 1",
		"from lines_scan()":                                                                        "needs a path",
		"from delta_scan('a')":                                                                     "lake/delta",
		"from hudi_scan('a')":                                                                      "no table function is called",
	} {
		_, err := session.Query(t.Context(), statement)
		require.ErrorContains(t, err, message, statement)
	}
}
