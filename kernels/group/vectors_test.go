package group_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// vectorRows are rows with a key, a vector in several types, and a condition.
type vectorRows struct {
	record arrow.Record
	size   int
}

// drawFloat draws floats of all magnitudes, and special ones.
func drawFloat(r *rand.Rand) float64 {
	switch r.IntN(40) {
	case 0:
		return math.Copysign(0, -1)
	case 1:
		return math.Inf(1 - 2*r.IntN(2))
	case 2:
		return math.NaN()
	case 3:
		return float64(math.Float32frombits(uint32(r.IntN(1 << 23)))) // subnormal as float32
	case 4, 5:
		return (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(60)-30))
	}
	return r.NormFloat64()
}

// drawVectors draws rows in which the columns "f" and "d" have the vectors as lists of a fixed size and as lists, and
// "e0", "e1", … their elements, null in all rows whose vector is skipped.
func drawVectors(r *rand.Rand, rows, groups, size int, nulls bool) vectorRows {
	elements := make([]arrow.Field, size)
	for i := range elements {
		elements[i] = arrow.Field{Name: fmt.Sprint("e", i), Type: arrow.PrimitiveTypes.Float32, Nullable: true}
	}
	schema := arrow.NewSchema(append([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "w", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "f", Type: arrow.FixedSizeListOf(int32(size), arrow.PrimitiveTypes.Float32), Nullable: true},
		{Name: "d", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64), Nullable: true},
		{Name: "l", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Float32), Nullable: true},
	}, elements...), nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	fixed, doubles, large := b.Field(2).(*array.FixedSizeListBuilder), b.Field(3).(*array.ListBuilder), b.Field(4).(*array.LargeListBuilder)
	for range rows {
		b.Field(0).(*array.Int32Builder).Append(int32(r.IntN(groups)))
		if nulls && r.IntN(5) == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.BooleanBuilder).Append(r.IntN(3) > 0)
		}
		skipped := nulls && r.IntN(6) == 0
		if skipped && r.IntN(2) == 0 {
			fixed.AppendNull()
			doubles.AppendNull()
			large.AppendNull()
		} else {
			fixed.Append(true)
			doubles.Append(true)
			large.Append(true)
			hole := -1
			if skipped {
				hole = r.IntN(size)
			}
			for i := range size {
				x := float32(drawFloat(r))
				if i == hole {
					fixed.ValueBuilder().AppendNull()
					doubles.ValueBuilder().AppendNull()
					large.ValueBuilder().AppendNull()
				} else {
					fixed.ValueBuilder().(*array.Float32Builder).Append(x)
					doubles.ValueBuilder().(*array.Float64Builder).Append(float64(x))
					large.ValueBuilder().(*array.Float32Builder).Append(x)
				}
				if !skipped {
					b.Field(5 + i).(*array.Float32Builder).Append(x)
				}
			}
		}
		for i := range size {
			if skipped {
				b.Field(5 + i).AppendNull()
			}
		}
	}
	return vectorRows{b.NewRecord(), size}
}

// vectorTests returns aggregates of the column of vectors, and for each those of its elements.
func (v vectorRows) aggregates(name string) (vectors []group.Aggregate, elements [][]group.Aggregate) {
	for _, construct := range []func(expr.Expr) group.Aggregate{group.Sum, group.Mean, func(e expr.Expr) group.Aggregate { return group.Sum(e).Where(expr.Col("w")) }} {
		a := construct(expr.Col(name)).As(fmt.Sprint("v", len(vectors)))
		vectors = append(vectors, a)
		list := make([]group.Aggregate, v.size)
		for i := range list {
			list[i] = construct(expr.Col(fmt.Sprint("e", i))).As(fmt.Sprint("v", len(elements), " ", i))
		}
		elements = append(elements, list)
	}
	return vectors, elements
}

// checkVectors compares vectors with the columns of their elements, by bits.
func checkVectors(t *testing.T, vectors, elements arrow.Record, size, functions int) {
	t.Helper()
	require.Equal(t, elements.NumRows(), vectors.NumRows())
	for f := range functions {
		lists := vectors.Column(1 + f).(array.ListLike)
		values := lists.ListValues().(*array.Float64)
		for row := range int(vectors.NumRows()) {
			begin, end := lists.ValueOffsets(row)
			for i := range size {
				e := elements.Column(1 + f*size + i).(*array.Float64)
				require.Equal(t, e.IsNull(row), lists.IsNull(row), "function %d, row %d", f, row)
				if e.IsValid(row) {
					require.Equal(t, int64(size), end-begin)
					require.Equal(t, math.Float64bits(e.Value(row)), math.Float64bits(values.Value(int(begin)+i)), "function %d, row %d, element %d: %v and %v", f, row, i, e.Value(row), values.Value(int(begin)+i))
				}
			}
		}
	}
}

// TestVectorSums compares sums and means of vectors, whole, in parts and with a small budget, with those of their elements.
func TestVectorSums(t *testing.T) {
	shapes := []struct {
		rows, groups, size int
		nulls              bool
	}{{0, 1, 3, true}, {1, 1, 1, false}, {300, 7, 3, true}, {700, 1, 5, false}, {500, 400, 2, true}, {260, 3, 130, true}, {1500, 2, 1, true}}
	r := property.Random(t)
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		for i, shape := range shapes {
			if brief(mgr) && i%2 == 1 {
				continue
			}
			v := drawVectors(r, shape.rows, shape.groups, shape.size, shape.nulls)
			defer v.record.Release()
			table, err := buffer.FromRecord(mgr, v.record)
			require.NoError(t, err)
			for _, name := range []string{"f", "d", "l"} {
				vectors, elements := v.aggregates(name)
				options := group.ByOptions{Order: group.ByKey}
				var all []group.Aggregate
				for _, list := range elements {
					all = append(all, list...)
				}
				by := group.By(table, group.Columns("k")...)
				oracle, err := by.Aggregate(t.Context(), all, options)
				require.NoError(t, err)
				want := columntest.Fetch(t, oracle)
				sums, err := by.Aggregate(t.Context(), vectors, options)
				require.NoError(t, err, "%s of %v", name, shape)
				checkVectors(t, columntest.Fetch(t, sums), want, v.size, len(vectors))
				n := int64(shape.rows)
				parts := partials(t, mgr, table, []string{"k"}, vectors, n/3, n/3, n/2, n)
				combined, err := group.Combine(t.Context(), v.record.Schema(), parts[:3], vectors)
				require.NoError(t, err)
				merged, err := group.Merge(t.Context(), v.record.Schema(), []*buffer.Buffer{combined, parts[3]}, vectors, options)
				require.NoError(t, err)
				require.NoError(t, combined.Release())
				checkVectors(t, columntest.Fetch(t, merged), want, v.size, len(vectors))
			}
			require.NoError(t, table.Release())
		}
	})
}

// TestVectorSumsOfParts reads a slice of a table, by a constant key and by a condition.
func TestVectorSumsOfParts(t *testing.T) {
	v := drawVectors(rand.New(rand.NewPCG(3, 4)), 400, 5, 4, true)
	defer v.record.Release()
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		whole, err := buffer.FromRecord(mgr, v.record)
		require.NoError(t, err)
		defer func() { require.NoError(t, whole.Release()) }()
		table, err := whole.Slice(37, 301)
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		for _, key := range []group.Key{{Column: "k"}, {Expr: expr.Lit(int8(1)), Name: "k"}} {
			for _, name := range []string{"f", "d"} {
				vectors, elements := v.aggregates(name)
				var all []group.Aggregate
				for _, list := range elements {
					all = append(all, list...)
				}
				by, options := group.By(table, key).Where(expr.Col("w").FillNull(expr.Lit(true))), group.ByOptions{Order: group.ByKey}
				oracle, err := by.Aggregate(t.Context(), all, options)
				require.NoError(t, err)
				sums, err := by.Aggregate(t.Context(), vectors, options)
				require.NoError(t, err)
				checkVectors(t, columntest.Fetch(t, sums), columntest.Fetch(t, oracle), v.size, len(vectors))
			}
		}
	})
}

// TestVectorSumsRefuse refuses vectors of several lengths, and lists that are no vectors.
func TestVectorSumsRefuse(t *testing.T) {
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "v", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32), Nullable: true},
		{Name: "n", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
	}, nil), strings.NewReader(`[{"k": 0, "v": [1, 2], "n": [1]}, {"k": 1, "v": [3], "n": [1]}, {"k": 1, "v": null, "n": null}, {"k": 2, "v": [1, null, 3], "n": null}]`))
	require.NoError(t, err)
	defer record.Release()
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		_, err = group.By(table, group.Columns("k")...).Aggregate(t.Context(), []group.Aggregate{group.Sum(expr.Col("v"))})
		require.ErrorIs(t, err, device.ErrInvalidValue)
		require.ErrorContains(t, err, "the vectors have 1 to 2 elements")
		for _, a := range []group.Aggregate{group.Sum(expr.Col("n")), group.Variance(expr.Col("v"), 1)} {
			_, err = group.By(table, group.Columns("k")...).Aggregate(t.Context(), []group.Aggregate{a})
			require.ErrorIs(t, err, device.ErrNotSupported)
		}
	})
}
