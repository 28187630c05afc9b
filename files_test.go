package gpuframe_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
)

func TestFiles(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q := e.Records(record.Schema(), record, record)
		want := collect(t, q.Filter(price.Gt(50)).GroupBy(city).Agg(qty.Sum(), price.Max().As("most")).Sort(city))
		folder := t.TempDir()
		for name, format := range map[string]gpuframe.Format{
			"a.parquet": {}, "b.parquet": gpuframe.Parquet(), "c.csv": gpuframe.CSV(), "d.json": gpuframe.JSONLines(), "e.arrow": gpuframe.IPC(),
		} {
			path := filepath.Join(folder, name)
			rows, err := q.WriteFile(t.Context(), path, format)
			require.NoError(t, err)
			require.EqualValues(t, 12, rows)
			read := map[string]gpuframe.Query{
				".parquet": e.Parquet(path), ".csv": e.CSV(path), ".json": e.JSONLines(path), ".arrow": e.IPC(path),
			}[filepath.Ext(name)]
			require.Equal(t, want, collect(t, read.Filter(price.Gt(50)).GroupBy(city).Agg(qty.Sum(), price.Max().As("most")).Sort(city)), name)
		}
		var text bytes.Buffer
		_, err := q.Select(city, qty).Head(2).Write(t.Context(), &text, gpuframe.CSV())
		require.NoError(t, err)
		require.Equal(t, "city,qty\nOslo,1\nBern,2\n", text.String())

		path := filepath.Join(folder, "a.parquet")
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = q.Filter(gpuframe.Col("nowhere")).WriteFile(t.Context(), path, gpuframe.Parquet())
		require.Error(t, err)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after)
		_, err = e.CSV(filepath.Join(folder, "missing.csv")).Collect(t.Context())
		require.ErrorIs(t, err, os.ErrNotExist)
		var problems *gpuframe.QueryError
		require.ErrorAs(t, err, &problems)
		require.Equal(t, "files_test.go", filepath.Base(problems.Problems[0].File))
		_, err = e.JSONLinesWith(record.Schema(), "missing.json").Collect(t.Context())
		require.ErrorIs(t, err, os.ErrNotExist)
		semicolons := filepath.Join(folder, "semicolons.csv")
		require.NoError(t, os.WriteFile(semicolons, []byte("1;x\n2;y\n"), 0o600))
		require.Equal(t, []string{"1 x", "2 y"}, collect(t, e.CSVWith(gpuframe.CSVOptions{Delimiter: ';', NoHeader: true}, semicolons)))
	})
}

// Progress counts the rows of all scans, and knows their sum if all sources know theirs.
func TestProgress(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q := e.Records(record.Schema(), record, record)
		path := filepath.Join(t.TempDir(), "a.csv")
		written, err := q.WriteFile(t.Context(), path, gpuframe.CSV())
		require.NoError(t, err)
		for _, test := range []struct {
			q    gpuframe.Query
			rows int64
			of   int64
		}{{q, written, written}, {q.Union(q.Filter(price.Gt(50))), 2 * written, 2 * written}, {e.CSV(path), written, -1}} {
			var rows, of int64
			f, err := test.q.Collect(t.Context(), gpuframe.BatchRows(2), gpuframe.Progress(func(r, n int64) {
				require.Greater(t, r, rows)
				rows, of = r, n
			}))
			require.NoError(t, err)
			require.NoError(t, f.Release())
			require.Equal(t, test.rows, rows)
			require.Equal(t, test.of, of)
		}
	})
}

func TestSchema(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		schema, err := e.Records(record.Schema(), record).Select(city, price.Mean().As("m")).Schema(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"city", "m"}, []string{schema.Field(0).Name, schema.Field(1).Name})
		_, err = e.Records(record.Schema(), record).Drop("nowhere").Schema(t.Context())
		var problems *gpuframe.QueryError
		require.ErrorAs(t, err, &problems)
	})
}

// Files that cannot be read give errors of a type, with the file and the place in the query.
func TestSourceErrors(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		folder := t.TempDir()
		record := sales(t)
		q := e.Records(record.Schema(), record)
		good, other, short := filepath.Join(folder, "good.parquet"), filepath.Join(folder, "other.parquet"), filepath.Join(folder, "short.parquet")
		_, err := q.WriteFile(t.Context(), good, gpuframe.Parquet())
		require.NoError(t, err)
		_, err = q.Rename("city", "town").WriteFile(t.Context(), other, gpuframe.Parquet())
		require.NoError(t, err)
		whole, err := os.ReadFile(good)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(short, whole[:len(whole)/2], 0o600))
		damaged := filepath.Join(folder, "damaged.parquet")
		bytes := append([]byte(nil), whole...)
		for i := range 40 {
			bytes[4+i] = 0xff
		}
		require.NoError(t, os.WriteFile(damaged, bytes, 0o600))
		for _, test := range []struct {
			paths    []string
			is       error
			path     string
			rowGroup int
		}{
			{[]string{filepath.Join(folder, "none.parquet")}, os.ErrNotExist, filepath.Join(folder, "none.parquet"), -1},
			{[]string{short}, gpuframe.ErrContents, short, -1},
			{[]string{good, other}, buffer.ErrSchema, other, -1},
			{[]string{good, damaged}, gpuframe.ErrContents, damaged, 0},
		} {
			_, err := e.Parquet(test.paths...).Collect(t.Context())
			var typed *gpuframe.SourceError
			require.ErrorAs(t, err, &typed)
			require.ErrorIs(t, err, test.is)
			require.Equal(t, test.path, typed.Path)
			require.Equal(t, test.rowGroup, typed.RowGroup)
		}
	})
}
