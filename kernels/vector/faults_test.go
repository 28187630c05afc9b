package vector

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

type releaser interface{ Release() error }

// operations are calls with different paths. The table has the vectors x and y, lists of 4 float32 and of 4 float64.
var operations = map[string]func(ctx context.Context, table *buffer.Buffer) (releaser, error){
	"functions": func(ctx context.Context, table *buffer.Buffer) (releaser, error) {
		x, y := expr.Col("x"), expr.Col("y")
		return expr.Project(ctx, table, []expr.Expr{DotProduct(x, y).As("a"), L2Distance(x, Literal([]float64{1, 2, 3, 0.1})).As("b"), Literal([]float64{1}).As("c")})
	},
	"dense": func(ctx context.Context, table *buffer.Buffer) (releaser, error) {
		return DenseOf(ctx, table.Column(1), 4, kernels.Options{})
	},
	"join": func(ctx context.Context, table *buffer.Buffer) (releaser, error) {
		o := JoinOptions{K: 2, Metric: Cosine, Columns: []JoinColumn{{From: "x", Name: "a"}, {Right: true, From: "y", Name: "b"}}, Distance: "d", Rank: "r"}
		rows, err := NewRows(ctx, table, table.Schema(), expr.Col("x"), expr.Col("y"), o)
		if err != nil {
			return (*buffer.Buffer)(nil), err
		}
		joined, err := rows.Join(ctx, table, o)
		if releaseErr := rows.Release(); err == nil {
			err = releaseErr
		}
		return joined, err
	},
}

// vectorTable is a table of the vectors x and y.
func vectorTable(t *testing.T, m *memory.Manager, rows int) *buffer.Buffer {
	g := arraytest.NewGenerator(5)
	columns, fields := make([]*column.Column, 2), make([]arrow.Field, 2)
	for i, element := range []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64} {
		values := g.Array(arrow.FixedSizeListOf(4, element), rows)
		var err error
		columns[i], err = column.FromArray(t.Context(), m, values, column.UploadOptions{})
		require.NoError(t, err)
		values.Release()
		fields[i] = arrow.Field{Name: []string{"x", "y"}[i], Type: columns[i].Type(), Nullable: true}
	}
	table, err := buffer.New(arrow.NewSchema(fields, nil), columns, buffer.Rows{Count: int64(rows)})
	require.NoError(t, err)
	for _, c := range columns {
		require.NoError(t, c.Release())
	}
	return table
}

// TestEveryAllocationFails lets each allocation of each operation fail: the error is that of the allocation, and nothing leaks.
func TestEveryAllocationFails(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for name, run := range operations {
			failing := uint64(1)
			for ; ; failing++ {
				faults := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: 2 + failing}})
				m := devicetest.Manager(t, dev, memory.Options{Resource: faults})
				table := vectorTable(t, m, 70)
				result, err := run(t.Context(), table)
				require.NoError(t, table.Release())
				if err == nil {
					require.NoError(t, result.Release())
					break
				}
				require.ErrorIs(t, err, adaptor.ErrInjected, name)
			}
			require.Greater(t, failing, uint64(1), name)
		}
	})
}

// TestEnded ends the context before each operation.
func TestEnded(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		table := vectorTable(t, m, 70)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for name, run := range operations {
			if _, err := run(ctx, table); dev.Kind() == device.Host {
				require.ErrorIs(t, err, context.Canceled, name)
			}
		}
		require.NoError(t, table.Release())
	})
}

// TestRefused has arguments and types that are wrong.
func TestRefused(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m, ctx := devicetest.Manager(t, dev, memory.Options{}), t.Context()
		a, b := vectors{values: make([]float32, 6), dim: 2}.upload(t, m), vectors{values: make([]float32, 6), dim: 3}.upload(t, m)
		for text, run := range map[string]func() error{
			"k is 0":                  func() error { _, err := Nearest(ctx, a, a, 0, NearestOptions{}); return err },
			"queries have 2 elements": func() error { _, err := Nearest(ctx, a, b, 1, NearestOptions{}); return err },
			"Metric(7) is no metric":  func() error { _, err := Nearest(ctx, a, a, 1, NearestOptions{Metric: 7}); return err },
			"rows: vectors are nil":   func() error { _, err := Nearest(ctx, a, nil, 1, NearestOptions{}); return err },
			"vectors of 0 elements":   func() error { _, err := DenseOf(ctx, a.Values, 0, kernels.Options{}); return err },
			"expected their product": func() error {
				_, err := Nearest(ctx, a, &Dense{Values: a.Values, Rows: 4, Dim: 2}, 1, NearestOptions{})
				return err
			},
			"the values are bool":        func() error { return (&Dense{Values: boolColumn(t, m), Rows: 1, Dim: 1}).check() },
			"expected 3 bools":           func() error { return (&Dense{Values: a.Values, Valid: boolColumn(t, m), Rows: 3, Dim: 2}).check() },
			"expected the 4 of the neig": func() error { return (&Neighbours{Queries: 4, K: 1}).Add(ctx, a, a, NearestOptions{}) },
		} {
			err := run()
			require.ErrorContains(t, err, text)
			require.ErrorIs(t, err, device.ErrInvalidValue, text)
		}
		_, err := DenseOf(ctx, a.Values, 2, kernels.Options{})
		require.ErrorIs(t, err, device.ErrNotSupported)
		require.NoError(t, a.Release())
		require.NoError(t, b.Release())
	})
	fixed := func(n int32) arrow.DataType { return arrow.FixedSizeListOf(n, arrow.PrimitiveTypes.Float32) }
	schema := func(t arrow.DataType) *arrow.Schema { return arrow.NewSchema([]arrow.Field{{Name: "v", Type: t}}, nil) }
	v := expr.Col("v")
	for text, c := range map[string]struct {
		left, right arrow.DataType
		o           JoinOptions
	}{
		"right side: vectors of 3 elements, but the left side has 2": {fixed(2), fixed(3), JoinOptions{K: 1}},
		"left side: vectors of 2 elements, but the options have 4":   {fixed(2), arrow.ListOf(arrow.PrimitiveTypes.Int8), JoinOptions{K: 1, Dim: 4}},
		"left side: utf8 is no list":                                 {arrow.BinaryTypes.String, fixed(2), JoinOptions{K: 1}},
		"right side: list<item: utf8, nullable> is no list of inte":  {fixed(2), arrow.ListOf(arrow.BinaryTypes.String), JoinOptions{K: 1}},
		"k is -1":                {fixed(2), fixed(2), JoinOptions{K: -1}},
		"-1 dimensions":          {fixed(2), fixed(2), JoinOptions{K: 1, Dim: -1}},
		"no metric":              {fixed(2), fixed(2), JoinOptions{K: 1, Metric: 3}},
		`there is no column "w"`: {fixed(2), fixed(2), JoinOptions{K: 1, Columns: []JoinColumn{{From: "w"}}}},
	} {
		_, err := JoinSchema(schema(c.left), schema(c.right), v, v, c.o)
		require.ErrorContains(t, err, text)
	}
	for text, e := range map[string]expr.Expr{
		"vectors of 1 and 2 elements": DotProduct(v, Literal([]float64{1})), "a vector has no elements": Literal(nil), "vector has no elements": Norm(Literal(nil)), "a vector has no": DotProduct(v, Literal(nil)), "is no list": Norm(expr.Lit(1)),
	} {
		_, _, err := e.Type(schema(fixed(2)))
		require.ErrorContains(t, err, text)
	}
	require.Equal(t, []string{"l2", "cosine", "dot", "Metric(3)"}, []string{L2.String(), Cosine.String(), Dot.String(), Metric(3).String()})
	require.ErrorIs(t, &join.TooManyRowsError{}, join.ErrTooManyRows)
}

func boolColumn(t *testing.T, m *memory.Manager) *column.Column {
	c, err := column.FromSlice(t.Context(), m, []bool{true}, column.SliceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Release()) })
	return c
}

// TestLiteral has the elements of a vector in all rows, of a counted column too.
func TestLiteral(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		table := vectorTable(t, m, 5)
		columns, err := expr.Evaluate(t.Context(), table, []expr.Expr{Literal([]float64{0.5, -1})})
		require.NoError(t, err)
		require.Equal(t, []string{"[0.5 -1]", "[0.5 -1]", "[0.5 -1]", "[0.5 -1]", "[0.5 -1]"}, texts(t, columns[0]))
		require.NoError(t, columns[0].Release())
		require.NoError(t, table.Release())
	})
}

func texts(t *testing.T, c *column.Column) []string {
	values, err := c.Array(t.Context())
	require.NoError(t, err)
	defer values.Release()
	list := make([]string, values.Len())
	for i := range list {
		begin, end := values.(array.ListLike).ValueOffsets(i)
		part := array.NewSlice(values.(array.ListLike).ListValues(), begin, end)
		list[i] = part.String()
		part.Release()
	}
	return list
}
