package group_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestMasks masks rows of groups by strings, and compares the result with a sum in Go. Some
// groups have no row that meets the condition. A condition that keeps few rows removes the others.
func TestMasks(t *testing.T) {
	const rows = 700
	for _, from := range []int64{5, 90} {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			schema := arrow.NewSchema([]arrow.Field{{Name: "key", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
			b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
			defer b.Release()
			r := rand.New(rand.NewPCG(3, uint64(from)))
			type state struct{ sum, count int64 }
			want := map[string]state{}
			for range rows {
				key, n := fmt.Sprint("key ", r.IntN(4)), r.Int64N(100)
				if r.IntN(20) == 0 {
					key, n = "none", 0 // never met
				}
				b.Field(0).(*array.StringBuilder).Append(key)
				if r.IntN(9) == 0 {
					b.Field(1).AppendNull()
					continue
				}
				b.Field(1).(*array.Int64Builder).Append(n)
				if n >= from {
					want[key] = state{want[key].sum + n, want[key].count + 1}
				}
			}
			record := b.NewRecord()
			defer record.Release()
			devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
				mgr := devicetest.Manager(t, dev, memory.Options{})
				table, err := buffer.FromRecord(mgr, record)
				require.NoError(t, err)
				defer func() { require.NoError(t, table.Release()) }()
				made, err := group.By(table, group.Columns("key")...).Where(expr.Col("n").Ge(expr.Lit(from))).
					Aggregate(strategy.WithGroup(t.Context(), strategy.Group{MaskedRows: 1}), []group.Aggregate{group.Sum(expr.Col("n")), group.CountAll()})
				require.NoError(t, err)
				got, err := made.Record(t.Context())
				require.NoError(t, err)
				require.NoError(t, made.Release())
				defer got.Release()
				states := map[string]state{}
				for i := range int(got.NumRows()) {
					states[got.Column(0).(*array.String).Value(i)] = state{got.Column(1).(*array.Int64).Value(i), got.Column(2).(*array.Int64).Value(i)}
				}
				require.Equal(t, want, states)
				require.EqualValues(t, len(want), got.NumRows())
			})
		})
	}
}

// TestConditionsOfNoRows groups the rows of a table that meet a condition. The table has no rows, and
// its columns have no memory.
func TestConditionsOfNoRows(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "key", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	}, nil)
	n := expr.Col("n")
	list := []group.Aggregate{group.Sum(n), group.CountAll(), group.Max(expr.Col("key"))}
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		var columns []*column.Column
		for _, f := range schema.Fields() {
			data := column.Data{Type: f.Type, Manager: mgr, Buffers: make([]column.Bytes, 2)}
			if f.Type.ID() == arrow.STRING {
				data.Buffers = make([]column.Bytes, 3)
			}
			c, err := column.New(data)
			require.NoError(t, err)
			columns = append(columns, c)
		}
		table, err := buffer.New(schema, columns, buffer.Rows{Manager: mgr})
		require.NoError(t, err)
		for _, c := range columns {
			require.NoError(t, c.Release())
		}
		defer func() { require.NoError(t, table.Release()) }()
		for _, condition := range []expr.Expr{expr.Col("b"), n.Ge(expr.Lit(5)), expr.Lit(true), expr.Col("b").IsNull()} {
			q := group.By(table, group.Columns("key")...).Where(condition)
			made, err := q.Aggregate(t.Context(), list)
			require.NoError(t, err, "%v", condition)
			require.Zero(t, columntest.Fetch(t, made).NumRows())
			partial, err := q.Partial(t.Context(), list)
			require.NoError(t, err, "%v", condition)
			merged, err := group.Merge(t.Context(), schema, []*buffer.Buffer{partial}, list)
			require.NoError(t, err)
			require.NoError(t, partial.Release())
			require.Zero(t, columntest.Fetch(t, merged).NumRows())
		}
	})
}
