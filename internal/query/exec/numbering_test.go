package exec_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// TestNumbersOnSeveral numbers rows on four devices: of a scan, of a filter that leaves devices
// without rows for many batches, of that in another order, and of the last rows of these.
func TestNumbersOnSeveral(t *testing.T) {
	const devices, rows = 4, 2000
	n, row := expr.Col("n"), expr.Col("row")
	number := func(input plan.Node) plan.Node {
		made, err := plan.NewNumber(input, plan.NumberOptions{Row: "row"})
		require.NoError(t, err)
		return made
	}
	for name, c := range map[string]struct {
		keeps func(int) bool
		make  func(plan.Node) plan.Node
		last  int64
	}{
		"scan": {func(int) bool { return true }, func(scan plan.Node) plan.Node { return scan }, plan.All},
		"filter": {func(i int) bool { return i/10%devices == 2 || i >= 1500 }, func(scan plan.Node) plan.Node {
			made, err := plan.NewFilter(scan, n.Div(expr.Lit(int32(10))).Mod(expr.Lit(int32(devices))).Eq(expr.Lit(int32(2))).Or(n.Ge(expr.Lit(int32(1500)))))
			require.NoError(t, err)
			return made
		}, plan.All},
		"last": {func(i int) bool { return i >= 77 }, func(scan plan.Node) plan.Node {
			made, err := plan.NewFilter(scan, n.Ge(expr.Lit(int32(77))))
			require.NoError(t, err)
			return made
		}, 333},
	} {
		t.Run(name, func(t *testing.T) {
			scan, _ := numbers(t, rows)
			made := number(c.make(scan))
			if c.last != plan.All {
				var err error
				made, err = plan.NewSlice(made, -c.last, plan.All)
				require.NoError(t, err)
			}
			values, err := plan.NewProject(made, n)
			require.NoError(t, err)
			counts, err := plan.NewProject(made, row.Cast(arrow.PrimitiveTypes.Int32).As("n"))
			require.NoError(t, err)
			var want, numbered []int32
			for i := range rows {
				if c.keeps(i) {
					numbered, want = append(numbered, int32(len(numbered))), append(want, int32(i))
				}
			}
			if c.last != plan.All {
				want, numbered = want[len(want)-int(c.last):], numbered[len(numbered)-int(c.last):]
			}
			for of, expected := range map[plan.Node][]int32{values: want, counts: numbered} {
				divided, err := plan.Distribute(of, plan.Devices{Count: devices, Way: "peer copies"})
				require.NoError(t, err)
				settings, _ := settingsOnSeveral(t, devices)
				settings.BatchRows = 10
				require.Equal(t, expected, column(t, divided, settings))
			}
		})
	}
}
