package gpuframe_test

import (
	"errors"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// TestSumsOfDifferentMagnitudes adds up floats of two GPUs, which are emulated. Windows of values that are
// far apart do not fit together, so the query begins again; those of one magnitude do. The sums are
// those of one device of the host.
func TestSumsOfDifferentMagnitudes(t *testing.T) {
	ctx := strategy.WithGroup(t.Context(), strategy.Group{Add: strategy.Tiles, MeasuredRows: 1})
	e := openDevices(t, devicetest.Emulators(t, 2))
	one := engineOn(t, devicetest.Open(t, "host"))
	k, x := gpuframe.Col("k"), gpuframe.Col("x")
	for _, exponent := range []int{0, 60} {
		var tables, hosts []*buffer.Buffer
		for i, m := range e.Managers() {
			for of, to := range map[*[]*buffer.Buffer]*memory.Manager{&tables: m, &hosts: one.Manager()} {
				made := ofMagnitude(t, to, 100, i*exponent)
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

// ofMagnitude makes a table of keys and of floats with about the same exponent.
func ofMagnitude(t *testing.T, m *memory.Manager, rows, exponent int) *buffer.Buffer {
	keys, values := make([]int32, rows), make([]float64, rows)
	for i := range values {
		keys[i], values[i] = int32(i%3), math.Ldexp(1+float64(i)/7, exponent)
	}
	k, err := column.FromSlice(t.Context(), m, keys, column.SliceOptions{})
	require.NoError(t, err)
	x, err := column.FromSlice(t.Context(), m, values, column.SliceOptions{})
	require.NoError(t, err)
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: k.Type()}, {Name: "x", Type: x.Type()}}, nil)
	made, err := buffer.New(schema, []*column.Column{k, x}, buffer.Rows{Count: int64(rows)})
	require.NoError(t, err)
	require.NoError(t, errors.Join(k.Release(), x.Release()))
	return made
}

// A query with sums that differ too much begins again, also if it has begun again before because
// memory was short and a cache kept rows.
func TestSumsOfDifferentMagnitudesWhileMemoryIsShort(t *testing.T) {
	ctx := strategy.WithGroup(t.Context(), strategy.Group{Add: strategy.Tiles, MeasuredRows: 1})
	var managers []*memory.Manager
	var tables []*buffer.Buffer
	var fault *adaptor.Fault
	for i, dev := range devicetest.Emulators(t, 2) {
		fault = adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
		managers = append(managers, devicetest.Manager(t, dev, memory.Options{Resource: fault}))
		tables = append(tables, ofMagnitude(t, managers[i], 20, i*60))
	}
	e := gpuframe.EngineOnSeveral(managers...)
	e.KeepTables()
	kept := e.Table(tables[0]).Cache()
	require.NoError(t, read(ctx, kept))
	fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: 1}})
	f, err := e.Table(tables[0], tables[1:]...).Select(gpuframe.Col("x").Sum()).Collect(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 1, fault.Requests().Failed)
	require.NoError(t, errors.Join(f.Release(), release.All(tables), e.Close()))
}
