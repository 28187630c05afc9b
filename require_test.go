package gpuframe_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// TestRequire tests that a run fails for a row that does not meet a condition, in every batch and whatever reads the rows.
func TestRequire(t *testing.T) {
	record := counting(t, 300)
	errBroken := errors.New("a number is too large")
	id := gpuframe.Col("id")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		rows := e.Records(nil, record.NewSlice(0, 1), record.NewSlice(1, 200), record.NewSlice(200, 300))
		for name, q := range map[string]gpuframe.Query{
			"of rows":   rows.Require(id.Lt(300), errBroken).Filter(id.Gt(290)),
			"of a sum":  rows.Require(id.Sum().Eq(44850), errBroken).Filter(id.Gt(290)),
			"of no row": rows.Filter(id.Lt(0)).Require(gpuframe.Lit(false), errBroken).With(id),
		} {
			list := lines(t, q)
			require.Equal(t, name != "of no row", len(list) == 9, "%s: %v", name, list)
		}
		required := rows.With(id.Mul(2).As("twice")).Require(id.Lt(299), errBroken)
		for name, q := range map[string]gpuframe.Query{
			"all": required, "filtered": required.Filter(id.Lt(10)), "counted": required.Select(gpuframe.Count().As("rows")), "another column": required.Select(gpuframe.Col("twice")),
			"null": rows.Require(gpuframe.If(id.Lt(100), true, nil), errBroken), "joined": rows.Filter(id.Lt(5)).Join(required.Rename("id", "other"), gpuframe.Cross),
			"sorted": required.Sort(id.Desc()).Head(1), "window": rows.Require(id.CumSum().Lt(40000), errBroken),
		} {
			_, err := q.Collect(t.Context())
			require.ErrorIs(t, err, errBroken, name)
			require.ErrorContains(t, err, "require ", name)
			plain, err := q.Without(t.Context(), plan.Passes()...)
			require.NoError(t, err)
			_, err = plain.Collect(t.Context())
			require.ErrorIs(t, err, errBroken, name)
		}
	})
}

// TestRequireProblems tests what is wrong before a run.
func TestRequireProblems(t *testing.T) {
	record := counting(t, 1)
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		rows := e.Records(nil, record)
		_, err := rows.Require(gpuframe.Col("id").Gt(0), nil).Schema(t.Context())
		require.ErrorIs(t, err, device.ErrInvalidValue)
		_, err = rows.Require(gpuframe.Col("id"), errors.New("")).Schema(t.Context())
		require.ErrorContains(t, err, "expected bool")
		_, err = rows.Require(gpuframe.Col("it").Gt(0), errors.New("")).Schema(t.Context())
		require.ErrorContains(t, err, `"it"`)
	})
}
