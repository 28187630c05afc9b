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
		command := exec.CommandContext(t.Context(), program, "read", folder, "written")
		var failure strings.Builder
		command.Stderr = &failure
		lines, err := command.Output()
		require.NoError(t, err, failure.String())
		got := strings.Split(strings.TrimSpace(isoInstant.ReplaceAllString(string(lines), `"$1 ${2}Z"`)), "\n")
		require.ElementsMatch(t, tableRows(t, engine, path, iceberg.Options{}), got)
	}
	bounds, err := exec.CommandContext(t.Context(), program, "bounds", folder, "written").CombinedOutput()
	require.NoError(t, err, string(bounds))
	require.Equal(t, writtenBounds, string(bounds))
}

// writtenBounds are those of the file of moreRows, and of the file with nulls but for the id.
const writtenBounds = ``
