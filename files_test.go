package gpuframe_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/memory"
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

// A folder of partitions, read back, has the rows that were written; with every budget, or an error of the budget.
func TestWriteFiles(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q := e.Records(record.Schema(), record, record)
		want := collect(t, q.GroupBy(city).Agg(qty.Sum(), price.Max().As("most")).Sort(city))
		folder := filepath.Join(t.TempDir(), "sales")
		for i := range 2 {
			options := gpuframe.FolderOptions{PartitionBy: []string{"city"}, FileRows: 1, Manifest: "_manifest.json"}
			if i > 0 {
				_, err := q.WriteFiles(t.Context(), folder, gpuframe.Parquet(), options)
				require.ErrorIs(t, err, os.ErrExist)
				options.Existing = gpuframe.OverwritePartitions
			}
			manifest, err := q.WriteFiles(t.Context(), folder, gpuframe.Parquet(), options)
			require.NoError(t, err)
			require.EqualValues(t, 12, manifest.Rows)
			require.Len(t, manifest.Files, 12)
			require.Equal(t, want, collect(t, e.Parquet(folder).GroupBy(city).Agg(qty.Sum(), price.Max().As("most")).Sort(city)))
		}
		_, err := q.WriteFiles(t.Context(), folder, gpuframe.CSV(), gpuframe.FolderOptions{Existing: gpuframe.OverwriteFolder})
		require.NoError(t, err)
		require.Equal(t, want, collect(t, e.CSV(folder).GroupBy(city).Agg(qty.Sum(), price.Max().As("most")).Sort(city)))
		_, err = q.Filter(gpuframe.Col("nowhere")).WriteFiles(t.Context(), folder, gpuframe.Parquet(), gpuframe.FolderOptions{Existing: gpuframe.OverwriteFolder})
		require.Error(t, err)
		require.Equal(t, want, collect(t, e.CSV(folder).GroupBy(city).Agg(qty.Sum(), price.Max().As("most")).Sort(city)))
	})
}

// A budget that is too small is an error that leaves the folder as it was; any other writes all rows.
func TestWriteFilesWithinBudgets(t *testing.T) {
	records := drawn(t, 7, 5, 4000)
	counts := func(e *gpuframe.Engine, q gpuframe.Query) []string {
		return collect(t, q.GroupBy(gpuframe.Col("few")).Agg(gpuframe.Count(), gpuframe.Col("id").Sum().As("ids")).Sort(gpuframe.Col("few")))
	}
	ample, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, ample.Close()) }()
	want, written, refused := counts(ample, ample.Records(nil, records...)), 0, 0
	for budget := uint64(1 << 10); budget <= 1<<24; budget <<= 2 {
		e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(budget))
		require.NoError(t, err)
		folder := filepath.Join(t.TempDir(), "out")
		options := gpuframe.FolderOptions{PartitionBy: []string{"few"}, MostBytes: 1 << 10, MostOpen: 7}
		manifest, err := e.Records(nil, records...).WriteFiles(t.Context(), folder, gpuframe.Parquet(), options, gpuframe.BatchRows(1000))
		require.NoError(t, e.Close())
		if err != nil {
			require.ErrorIs(t, err, memory.ErrBudget)
			require.NoDirExists(t, folder)
			refused++
			continue
		}
		written++
		require.EqualValues(t, 20_000, manifest.Rows)
		require.Equal(t, want, counts(ample, ample.Parquet(folder)))
	}
	require.Positive(t, written)
	require.Positive(t, refused)
}

func TestExistingNames(t *testing.T) {
	for _, each := range []gpuframe.Existing{gpuframe.RefuseExisting, gpuframe.AppendFiles, gpuframe.OverwriteFolder, gpuframe.OverwritePartitions} {
		text, err := each.MarshalText()
		require.NoError(t, err)
		got := gpuframe.Existing(9)
		require.NoError(t, got.UnmarshalText(text))
		require.Equal(t, each, got)
	}
	other := gpuframe.AppendFiles
	require.ErrorContains(t, other.UnmarshalText([]byte("appent")), "append")
	require.NoError(t, other.UnmarshalText(nil))
	require.Equal(t, "error", other.String())
	require.Equal(t, "Existing(7)", gpuframe.Existing(7).String())
}
