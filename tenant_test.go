package gpuframe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
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

		// The filter masks a column that the engine has, with memory of the tenant.
		for _, copies := range []bool{false, true} {
			masked := strategy.WithFilter(t.Context(), strategy.Filter{Masks: true, Copies: copies})
			kept, err := both.Filter(qty.Gt(1)).Join(both.Select(qty).Distinct(), gpuframe.Semi, qty).Collect(masked)
			require.NoError(t, err)
			require.Equal(t, int64(len(collect(t, both.Filter(qty.Gt(1))))), kept.NumRows())
			require.NoError(t, kept.Release())
		}
	})
}

// TestFilterOfATableLargerThanTheBudget filters and joins a table of the engine with a tenant's
// budget that has room for the kept rows, but not for copies of results with room for all rows.
func TestFilterOfATableLargerThanTheBudget(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e := engineOn(t, dev)
		const rows = 80_000
		table, err := e.Records(nil, drawn(t, 1, 1, rows)...).Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		id, wide := gpuframe.Col("id"), []gpuframe.Expression{gpuframe.Col("id")}
		for _, name := range []string{"a", "b", "c"} {
			wide = append(wide, id.Mul(3).As(name))
		}
		large := e.Table(table.Table()).Select(wide)
		numbers, err := large.Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, numbers.Release()) }()
		tenant, err := e.Tenant("a", rows*4*8*9/8)
		require.NoError(t, err)
		defer func() { require.NoError(t, tenant.Close()) }()
		few := tenant.Table(numbers.Table()).Filter(id.Mod(1000).Eq(0)).Select(id.Add(4).As("id"))
		kept := tenant.Table(numbers.Table()).Filter(id.Mod(4).Eq(0))
		joined := kept.Join(few, gpuframe.Inner, id)
		require.Equal(t, []string{"80 3160320 9480960 9480960 9480960"}, collect(t, joined.Select(
			gpuframe.Count().As("n"), id.Sum(), gpuframe.Col("a").Sum(), gpuframe.Col("b").Sum(), gpuframe.Col("c").Sum())))
	})
}

// TestTenantsShareTheSpillBudget spills for a tenant of a tenant: its host memory counts in the
// budget of the engine.
func TestTenantsShareTheSpillBudget(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.SpillBudget(1<<20))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	a, err := e.Tenant("a", 1<<20)
	require.NoError(t, err)
	defer func() { require.NoError(t, a.Close()) }()
	b, err := a.Tenant("b", 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	require.Same(t, e.SpillBudgets()[0], a.SpillBudgets()[0])
	require.Same(t, e.SpillBudgets()[0], b.SpillBudgets()[0])
}
