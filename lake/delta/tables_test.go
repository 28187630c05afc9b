package delta_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/delta"
)

var deviceName = flag.String("device", "host", "the device that tables are read on")

func openEngine(t testing.TB) *gpuframe.Engine {
	engine, err := gpuframe.Open(gpuframe.Device(*deviceName))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	return engine
}

// linesOf returns the rows of a query as lines of JSON, in order of the lines.
func linesOf(ctx context.Context, q gpuframe.Query) ([]string, error) {
	var lines []string
	for frame, err := range q.Batches(ctx) {
		if err != nil {
			return nil, err
		}
		record, err := frame.Record(ctx)
		if err = errors.Join(err, frame.Release()); err != nil {
			return nil, err
		}
		var text bytes.Buffer
		err = array.RecordToJSON(record, &text)
		record.Release()
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text.String()) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return lines, nil
}

func rowsOf(t *testing.T, q gpuframe.Query) []string {
	t.Helper()
	lines, err := linesOf(t.Context(), q)
	require.NoError(t, err)
	return lines
}

// versionOf returns the version and the files of the expected rows of a table, or nothing.
func expectedOf(root string) map[string][]string {
	expected := map[string][]string{}
	folder := filepath.Join(filepath.Dir(root), "expected")
	_ = filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(name) == ".parquet" && !strings.HasPrefix(entry.Name(), ".") {
			version := strings.Split(strings.TrimPrefix(name, folder+"/"), "/")[0]
			if version != "latest" && !strings.HasPrefix(version, "v") {
				version = "latest"
			}
			expected[version] = append(expected[version], name)
		}
		return nil
	})
	return expected
}

// The tables of testdata, and those below the folder that GPUFRAME_DELTA_TABLES names: the golden tables of delta-io/delta,
// those of delta-io/delta-kernel-rs and of delta-incubator/dat. The rows of those with expected rows are compared; others are
// read, or refused by an error of this package.
func TestTablesOfOthers(t *testing.T) {
	testTables(t, "testdata/tables")
	if folder := os.Getenv("GPUFRAME_DELTA_TABLES"); folder != "" {
		testTables(t, folder)
	}
}

func testTables(t *testing.T, folder string) {
	engine := openEngine(t)
	var compared, read, failed []string
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || entry.Name() != "_delta_log" {
			return err
		}
		root := filepath.Dir(name)
		label := strings.TrimPrefix(root, folder+"/")
		table, err := delta.Open(t.Context(), root, delta.Options{})
		if err != nil {
			var known *delta.Error
			require.ErrorAs(t, err, &known)
			failed = append(failed, label+": "+err.Error())
			return nil
		}
		for version, files := range expectedOf(root) {
			t.Run(label+"/"+version, func(t *testing.T) { compareTable(t, engine, root, version, files) })
			compared = append(compared, label+"/"+version)
		}
		if _, err := linesOf(t.Context(), table.Query(engine)); err != nil {
			failed = append(failed, label+": "+err.Error())
		} else {
			read = append(read, label)
		}
		return nil
	})
	require.NoError(t, err)
	t.Logf("%d versions compared, %d tables read, %d refused:\n%s", len(compared), len(read), len(failed), strings.Join(failed, "\n"))
}

func compareTable(t *testing.T, engine *gpuframe.Engine, root, version string, files []string) {
	options := delta.Options{}
	if strings.Contains(root, "data-reader-partition-values") {
		zone, err := time.LoadLocation("America/Los_Angeles")
		require.NoError(t, err)
		options.Zone = zone
	}
	if version != "latest" {
		var number int64
		require.NoError(t, json.Unmarshal([]byte(version[1:]), &number))
		options.Version = &number
	}
	table, err := delta.Open(t.Context(), root, options)
	require.NoError(t, err)
	expected := gpuframe.TableFiles{Name: "expected", Schema: table.Schema()}
	for _, file := range files {
		expected.Files = append(expected.Files, gpuframe.TableFile{Path: file, Rows: -1})
	}
	want := rowsOf(t, engine.TableFiles(expected))
	require.Equal(t, want, rowsOf(t, table.Query(engine)))
	counted := rowsOf(t, table.Query(engine).Select(gpuframe.Count().As("n")))
	n, err := json.Marshal(map[string]int{"n": len(want)})
	require.NoError(t, err)
	require.Equal(t, []string{string(n)}, counted)
}
