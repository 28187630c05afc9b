package gpuframe_test

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestSumsOfDifferentMagnitudes adds up floats of two GPUs, which are emulated. Windows of values that are
// far apart do not fit together, so the query begins again; those of one magnitude do. The sums are
// those of one device of the host.
func TestSumsOfDifferentMagnitudes(t *testing.T) {
	ctx := strategy.WithGroup(t.Context(), strategy.Group{Tiles: true, Places: true})
	e := openDevices(t, devicetest.Emulators(t, 2))
	one := engineOn(t, devicetest.Open(t, "host"))
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)
	k, x := gpuframe.Col("k"), gpuframe.Col("x")
	for _, exponent := range []int{0, 60} {
		var tables, hosts []*buffer.Buffer
		for i, m := range e.Managers() {
			keys, values := make([]int32, 100), make([]float64, 100)
			for j := range values {
				keys[j], values[j] = int32(j%3), math.Ldexp(1+float64(j)/7, i*exponent)
			}
			for of, to := range map[*[]*buffer.Buffer]int{&tables: 0, &hosts: 1} {
				manager := m
				if to == 1 {
					manager = one.Manager()
				}
				a, err := column.FromSlice(ctx, manager, keys, column.SliceOptions{})
				require.NoError(t, err)
				b, err := column.FromSlice(ctx, manager, values, column.SliceOptions{})
				require.NoError(t, err)
				made, err := buffer.New(schema, []*column.Column{a, b}, buffer.Rows{Count: 100})
				require.NoError(t, err)
				require.NoError(t, a.Release())
				require.NoError(t, b.Release())
				defer func() { require.NoError(t, made.Release()) }()
				*of = append(*of, made)
			}
		}
		for _, of := range []func(gpuframe.Query) gpuframe.Query{
			func(q gpuframe.Query) gpuframe.Query { return q.Select(x.Sum(), x.Mean().As("mean")) },
			func(q gpuframe.Query) gpuframe.Query { return q.GroupBy(k).Agg(x.Sum(), x.Mean().As("mean")) },
		} {
			want := lines(t, of(one.Table(hosts[0], hosts[1:]...)))
			q := of(e.Table(tables[0], tables[1:]...))
			for range 2 { // the second run knows that windows do not fit
				f, err := q.Collect(ctx)
				require.NoError(t, err)
				require.ElementsMatch(t, want, lines(t, f.Query()))
				require.NoError(t, f.Release())
			}
			rows := 0
			for f, err := range q.Batches(ctx) {
				require.NoError(t, err)
				rows += int(f.NumRows())
				require.NoError(t, f.Release())
			}
			require.Len(t, want, rows)
		}
	}
}
