package gpuframe_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
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
