package gpuframe_test

import (
	"io/fs"
	"testing"

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
