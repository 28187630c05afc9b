package iceberg_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// isoInstant are times of JSON as arrow-go v18 writes them, those of UTC with a Z.
var isoInstant = regexp.MustCompile(`"(\d{4}-\d\d-\d\d)T([\d:.]+)Z?"`)

// The scan of iceberg-go reads the rows of tables that this package writes, after every snapshot. GPUFRAME_ICEBERG_GO is the
// program of internal/writer, which takes minutes to build.
func TestIcebergGoReadsTables(t *testing.T) {
	program := os.Getenv("GPUFRAME_ICEBERG_GO")
	if program == "" {
		t.Skip("GPUFRAME_ICEBERG_GO is not set: go -C iceberg/internal/writer build -o PROGRAM .")
	}
	engine, folder := openEngine(t), t.TempDir()
	path := filepath.Join(folder, "go", "written")
	w := createTable(t, path, everyType())
	first, second := queryOf(t, engine, everyType(), everyRow), queryOf(t, engine, everyType(), moreRows)
	for _, write := range []func() (iceberg.Snapshot, error){
		func() (iceberg.Snapshot, error) { return w.Append(t.Context(), first) },
		func() (iceberg.Snapshot, error) { return w.Append(t.Context(), second) },
		func() (iceberg.Snapshot, error) { return w.Overwrite(t.Context(), second) },
		func() (iceberg.Snapshot, error) {
			return w.Append(t.Context(), first.Filter(gpuframe.Col("id").Eq(2)))
		},
	} {
		_, err := write()
		require.NoError(t, err)
		require.Equal(t, tableRows(t, engine, path, iceberg.Options{}), rowsOfIcebergGo(t, program, folder, "written"))
	}
	w = createTable(t, filepath.Join(folder, "go", "bounded"), everyType())
	_, err := w.Append(t.Context(), first)
	require.NoError(t, err)
	bounds, err := exec.CommandContext(t.Context(), program, "bounds", folder, "bounded").CombinedOutput()
	require.NoError(t, err, string(bounds))
	require.Equal(t, writtenBounds, string(bounds))
}

// writtenBounds are the numbers of values and nulls, and the bounds, of everyRow as iceberg-go decodes them.
const writtenBounds = "id 3 0 [1 3]\nflag 3 1 [false true]\nn 3 1 [-7 2147483647]\nf 3 1 [none none]\nd 3 1 [none none]\nday 3 1 [1969-12-31 2024-02-29]\n" +
	"time 3 1 [00:00:00.000000 10:00:00.000001]\nat 3 1 [1969-12-31 23:59:59.999999 2100-01-01 00:00:00.000000]\n" +
	"zoned 3 1 [1960-01-01 00:00:00.000000 2024-02-29 10:00:00.000000]\ntext 3 1 [none none]\nbytes 3 1 [none none]\nfixed 3 1 [\x00\x00\x00 abc]\n" +
	"small 3 1 [-1.25 99999.99]\nwide 3 1 [-0.0001 12345678901234567890.1234]\nperson 0 0 [none none]\ntags 0 0 [none none]\nnotes 0 0 [none none]\n"

// rowsOfIcebergGo returns the rows of a table as iceberg-go reads them.
func rowsOfIcebergGo(t testing.TB, program, folder, name string) []string {
	command := exec.CommandContext(t.Context(), program, "read", folder, name)
	var failure strings.Builder
	command.Stderr = &failure
	lines, err := command.Output()
	require.NoError(t, err, failure.String())
	return sorted(strings.Split(strings.TrimSpace(isoInstant.ReplaceAllString(string(lines), `"$1 ${2}Z"`)), "\n"))
}
