package gpuframe_test

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

type pivotRow struct {
	Key  int64
	Name *string
	Day  int64
}

func TestPivotAllNames(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	null := "null"
	q := gpuframe.From(e, []pivotRow{{1, nil, -1}, {1, &null, 0}})
	key, name := gpuframe.Col("Key"), gpuframe.Col("Name")
	_, err := q.GroupBy(key).PivotAll(t.Context(), name, gpuframe.Count())
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "replace nulls first")
	_, err = q.Filter(key.Gt(1)).GroupBy(key).PivotAll(t.Context(), name, gpuframe.Count())
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "no rows")
	for to, want := range map[arrow.DataType][]string{
		arrow.FixedWidthTypes.Date32:       {"Key", "1969-12-31", "1970-01-01"},
		arrow.FixedWidthTypes.Timestamp_ms: {"Key", "1969-12-31 23:59:59.999", "1970-01-01"},
	} {
		days := gpuframe.Col("Day").Cast(arrow.PrimitiveTypes.Int32)
		if to.ID() == arrow.TIMESTAMP {
			days = gpuframe.Col("Day")
		}
		pivot, err := q.GroupBy(key).PivotAll(t.Context(), days.Cast(to), gpuframe.Count())
		require.NoError(t, err)
		schema, err := pivot.Schema(t.Context())
		require.NoError(t, err)
		var names []string
		for _, field := range schema.Fields() {
			names = append(names, field.Name)
		}
		require.Equal(t, want, names)
	}
}

// The quantiles of equal infinities are infinite, and the entropy of one value is 0.
func TestComposedAtTheirLimits(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		rows := make([]pivotRow, 2858)
		infinite := gpuframe.Col("Day").Cast(arrow.PrimitiveTypes.Float64).Add(math.Inf(1))
		q := gpuframe.From(e, rows).Select(infinite.QuantileWith(0.5, "linear").As("linear"), infinite.QuantileWith(0.5, "midpoint").As("midpoint"), gpuframe.Col("Day").Entropy().Lt(0.0).As("negative"))
		require.Equal(t, []string{"+Inf|+Inf|false|"}, lines(t, q))
	})
}
