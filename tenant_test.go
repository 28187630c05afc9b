package gpuframe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// TestTenantReadsTablesOfTheEngine joins and sorts several tables with memory that is not the
// tenant's, and so cannot move to host memory for it.
func TestTenantReadsTablesOfTheEngine(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		one, err := e.Records(record.Schema(), record.NewSlice(0, 4)).Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, one.Release()) }()
		two, err := e.Records(record.Schema(), record.NewSlice(4, 6)).Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, two.Release()) }()
		tenant, err := e.Tenant("a", 0)
		require.NoError(t, err)
		defer func() { require.NoError(t, tenant.Close()) }()
		both := tenant.Table(one.Table()).Union(tenant.Table(two.Table()))
		require.Equal(t, []string{"Oslo 10 1", "Bern 60 2"}, collect(t, both.Sort(qty).Head(2)))
		require.Equal(t, []string{"14"}, collect(t, both.Join(both, gpuframe.Inner, city).Select(gpuframe.Count())))
	})
}
