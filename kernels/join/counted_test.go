package join_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// filtered removes the rows with a null or small value. On a GPU the number of rows stays
// on the device.
func filtered(t *testing.T, s *side) *side {
	t.Helper()
	kept := &side{random: s.random}
	for i, v := range s.value {
		if v != nil && *v > 1 {
			kept.keys, kept.value = append(kept.keys, s.keys[i]), append(kept.value, v)
		}
	}
	var err error
	kept.table, err = selection.Filter(t.Context(), s.table, expr.Col("v").Gt(expr.Lit(int32(1))))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, kept.table.Release()) })
	return kept
}

// TestCountsOnTheDevice joins tables with row counts that only the device knows, on another
// stream than theirs.
func TestCountsOnTheDevice(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := property.Random(t)
		mgr := devicetest.Manager(t, dev, memory.Options{})
		stream, err := dev.NewStream()
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, stream.Close()) })
		for _, name := range []string{"int32", "utf8", "mixed"} {
			for _, kind := range kinds {
				if !chosen(r, dev, 4) {
					continue
				}
				a := filtered(t, drawSide(t, mgr, r, keyKinds[name], false, 40, 0.1, "a"))
				b := filtered(t, drawSide(t, mgr, r, keyKinds[name], true, 30, 0.1, "b"))
				o := drawOptions(r, kind)
				o.Options = kernels.Options{Stream: stream}
				checkRows(t, a, b, keyKinds[name], o)
			}
		}
		a, b := drawSide(t, mgr, r, keyKinds["int32"], false, 40, 0, "a"), drawSide(t, mgr, r, keyKinds["int32"], true, 30, 0, "b")
		checkCountedAsOf(t, filtered(t, a).table, filtered(t, b).table)
	})
}

// checkCountedAsOf compares an as-of join with that of tables with exactly their rows.
func checkCountedAsOf(t *testing.T, a, b *buffer.Buffer) {
	t.Helper()
	var texts [2][]string
	for i := range texts {
		if i == 1 {
			n, err := a.NumRows(t.Context())
			require.NoError(t, err)
			a, err = a.Slice(0, n)
			require.NoError(t, err)
			defer func() { require.NoError(t, a.Release()) }()
		}
		result, err := join.AsOf(t.Context(), a, b, join.On{Left: "k0", Right: "k0"}, join.AsOfOptions{Direction: join.Nearest})
		require.NoError(t, err)
		record := columntest.Fetch(t, result)
		texts[i] = columntest.Texts(record.Column(int(record.NumCols()) - 1))
	}
	require.Equal(t, texts[1], texts[0])
}
