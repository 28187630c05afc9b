package gpuframe_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/objectstore"
)

// Queries write and read objects by their URLs. A profile has the requests.
func TestObjects(t *testing.T) {
	store := &objecttest.Memory{}
	const scheme = "root-objects"
	require.NoError(t, objectstore.Register(scheme, func() (objectstore.Store, error) { return store, nil }))
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		folder := scheme + "://bucket/sales/"
		for _, year := range []string{"2023", "2024"} {
			rows, err := e.Records(record.Schema(), record).WriteFile(t.Context(), folder+"year="+year+"/a.parquet", gpuframe.Parquet())
			require.NoError(t, err)
			require.EqualValues(t, record.NumRows(), rows)
		}
		for _, files := range []gpuframe.Query{e.Parquet(folder), e.Parquet(folder + "year=*/*.parquet"), e.Objects(store).Parquet(folder + "year=*")} {
			var p gpuframe.Profile
			f, err := files.Filter(gpuframe.Col("year").Eq(2024)).Collect(t.Context(), gpuframe.Profiled(&p))
			require.NoError(t, err)
			require.EqualValues(t, record.NumRows(), f.NumRows())
			require.NoError(t, f.Release())
			require.Regexp(t, `from stores by \d+ requests`, p.String())
		}
		_, err := e.Parquet(folder + "none.parquet").Collect(t.Context())
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
}

// Objects that a query reads again come from the cache on the disk. A changed object is read again. Profiles show both, and an error
// of the disk.
func TestObjectCache(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		memory := &objecttest.Memory{}
		cache, err := objectstore.NewCache(filepath.Join(t.TempDir(), "cache"), 0)
		require.NoError(t, err)
		run := func(store objectstore.Store, rows int64) (requests int64, profile string) {
			before := memory.Requests.Load()
			var p gpuframe.Profile
			f, err := e.Objects(store).Parquet("mem://bucket/a.parquet").Collect(t.Context(), gpuframe.Profiled(&p))
			require.NoError(t, err)
			require.Equal(t, rows, f.NumRows())
			require.NoError(t, f.Release())
			return memory.Requests.Load() - before, p.String()
		}
		store := objectstore.WithCache(memory, cache)
		var rows int64
		for _, records := range [][]arrow.Record{{record}, {record, record}} {
			var data bytes.Buffer
			_, err := e.Records(record.Schema(), records...).Write(t.Context(), &data, gpuframe.Parquet())
			require.NoError(t, err)
			memory.Set("mem://bucket/a.parquet", data.Bytes())
			rows += record.NumRows()
			first, profile := run(store, rows)
			require.Positive(t, first)
			require.NotContains(t, profile, "from the cache")
			second, profile := run(store, rows)
			require.Zero(t, second)
			require.Regexp(t, `B from the cache instead of \d+ requests`, profile)
		}
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		broken, err := objectstore.NewCache(file, 0)
		require.NoError(t, err)
		store = objectstore.WithCache(memory, broken)
		_, profile := run(store, rows)
		require.Contains(t, profile, "the cache of objects is not used any more")
		_, profile = run(store, rows)
		require.NotContains(t, profile, "the cache of objects")
	})
}
