package gpuframe_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// vectorRows has rows of an id and a vector, nil ones null, as lists of a type.
func vectorRows(t *testing.T, e *gpuframe.Engine, list arrow.DataType, vectors [][]float32) gpuframe.Query {
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "v", Type: list, Nullable: true}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	lists := b.Field(1).(array.ListLikeBuilder)
	for i, v := range vectors {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		lists.Append(v != nil)
		fixed, isFixed := list.(*arrow.FixedSizeListType)
		for j := range len(v) {
			lists.ValueBuilder().(*array.Float32Builder).Append(v[j])
		}
		for j := len(v); isFixed && j < int(fixed.Len()); j++ {
			lists.ValueBuilder().AppendNull()
		}
	}
	record := b.NewRecord()
	t.Cleanup(record.Release)
	return e.Records(schema, record)
}

// randomVectors are vectors of few values, so that distances are equal, and some nil ones.
func randomVectors(r *rand.Rand, rows, dim int) [][]float32 {
	vectors := make([][]float32, rows)
	for i := range vectors {
		if r.IntN(8) == 0 {
			continue
		}
		vectors[i] = make([]float32, dim)
		for j := range vectors[i] {
			vectors[i][j] = float32(r.IntN(4))
		}
	}
	return vectors
}

// vectorDistance is the distance that orders rows and that which is shown.
func vectorDistance(a, b []float32, metric gpuframe.Metric) (key, shown float64) {
	var dot, aa, bb, squares float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb, squares = dot+x*y, aa+x*x, bb+y*y, squares+(x-y)*(x-y)
	}
	switch metric {
	case gpuframe.Cosine:
		lengths := float32(math.Sqrt(aa)) * float32(math.Sqrt(bb))
		cosine := float64(1 - float32(dot)/lengths)
		return cosine, cosine
	case gpuframe.DotProduct:
		return -dot, dot
	}
	return squares, float64(float32(math.Sqrt(squares)))
}

// nearestLines are the rows of a search as lines of text.
func nearestLines(left, right [][]float32, k int, o gpuframe.NearestOptions) (lines []string) {
	for i, a := range left {
		type pair struct {
			row        int
			key, shown float64
		}
		var pairs []pair
		for j, b := range right {
			if a == nil || b == nil {
				continue
			}
			if key, shown := vectorDistance(a, b, o.Metric); key == key {
				pairs = append(pairs, pair{j, key, shown})
			}
		}
		slices.SortStableFunc(pairs, func(x, y pair) int {
			switch {
			case x.key < y.key:
				return -1
			case x.key > y.key:
				return 1
			}
			return 0
		})
		for n, p := range pairs[:min(k, len(pairs))] {
			lines = append(lines, fmt.Sprintf("%d %d %v %d", i, p.row, float32(p.shown), n+1))
		}
		if len(pairs) == 0 && !o.MatchedOnly {
			lines = append(lines, fmt.Sprintf("%d (null) (null) (null)", i))
		}
	}
	return lines
}

// TestNearestTo compares with a model that sorts all pairs, for each metric, lists of both kinds, and small batches and budgets.
func TestNearestTo(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		r := rand.New(rand.NewPCG(1, 2))
		types := []arrow.DataType{arrow.FixedSizeListOf(5, arrow.PrimitiveTypes.Float32), arrow.ListOf(arrow.PrimitiveTypes.Float32)}
		for _, sizes := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {40, 90}, {300, 700}} {
			left, right := randomVectors(r, sizes[0], 5), randomVectors(r, sizes[1], 5)
			for i := range 8 {
				k := []int{1, 3, 200, 12}[i%4]
				o := gpuframe.NearestOptions{Metric: gpuframe.Metric(i % 3), MatchedOnly: i%2 == 0}
				queries := vectorRows(t, e, types[i%2], left)
				rows := vectorRows(t, e, types[i/2%2], right)
				q := queries.NearestTo(rows, "v", k, o).Select("id", "id_right", "distance", "rank")
				require.Equal(t, nearestLines(left, right, k, o), append([]string(nil), collect(t, q)...), "%v, k %d, %+v", sizes, k, o)
			}
		}
	})
}

func TestNearestToColumnsAndErrors(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		fixed := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32)
		vectors := [][]float32{{0, 1}, {3, 5}, nil}
		rows := vectorRows(t, e, fixed, vectors)
		q := rows.NearestTo(rows, gpuframe.On("v", "v"), 2, gpuframe.NearestOptions{Distance: "far", Rank: "place"})
		require.Equal(t, []string{"0 [0,1] 0 [0,1] 0 1", "0 [0,1] 1 [3,5] 5 2", "1 [3,5] 1 [3,5] 0 1", "1 [3,5] 0 [0,1] 5 2", "2 (null) (null) (null) (null) (null)"}, collect(t, q))
		schema, err := q.Schema(t.Context())
		require.NoError(t, err)
		require.Equal(t, "id, v, id_right, v_right, far, place", fieldNames(schema))
		require.Equal(t, []string{"5"}, collect(t, q.GroupBy().Agg(gpuframe.Count())))
		require.Equal(t, []string{"1 1"}, collect(t, q.Filter(gpuframe.Col("place").Eq(1), gpuframe.Col("id").Eq(1)).Select("id", "id_right")))
		plan, err := q.Select("id", "place").Explain(t.Context())
		require.NoError(t, err)
		require.Contains(t, plan, "2 nearest by l2 on v")

		lists := vectorRows(t, e, arrow.ListOf(arrow.PrimitiveTypes.Float32), [][]float32{{1}, {1, 2}, {2, 4}})
		o := gpuframe.NearestOptions{}
		// Of the lists only those of two elements match lists of that fixed size.
		require.Equal(t, []string{"1 0", "2 1"}, collect(t, lists.NearestTo(rows, "v", 1, gpuframe.NearestOptions{MatchedOnly: true}).Select("id", "id_right")))
		require.Equal(t, []string{"0 (null)", "1 1", "2 2"}, collect(t, lists.NearestTo(lists, "v", 1, gpuframe.NearestOptions{Dimensions: 2}).Select("id", "id_right")))
		for text, c := range map[string]struct {
			q    gpuframe.Query
			want error
		}{
			"k is 0":                       {rows.NearestTo(rows, "v", 0, o), device.ErrInvalidValue},
			"int64 is no list":             {rows.NearestTo(rows, "id", 1, o), expr.ErrType},
			"has one vector of each side":  {rows.NearestTo(rows, gpuframe.NullsMatch(), 1, o), device.ErrInvalidValue},
			"vectors of 2 elements":        {rows.NearestTo(rows, "v", 1, gpuframe.NearestOptions{Dimensions: 3}), expr.ErrType},
			"1 to 2 elements, expected as": {lists.NearestTo(lists, "v", 1, o), device.ErrInvalidValue},
		} {
			_, err := c.q.Collect(t.Context())
			require.ErrorIs(t, err, c.want, text)
			require.ErrorContains(t, err, text)
		}
	})
}

func fieldNames(schema *arrow.Schema) (names string) {
	for i, f := range schema.Fields() {
		if i > 0 {
			names += ", "
		}
		names += f.Name
	}
	return names
}

// TestNearestToTwice finds names for the columns of a second search, and of a table with such a column.
func TestNearestToTwice(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		rows := vectorRows(t, e, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), [][]float32{{0, 0}, {3, 4}})
		other := rows.Select(gpuframe.Col("id").As("other"), gpuframe.Col("v").As("w"))
		on := gpuframe.On("v", "w")
		once := rows.NearestTo(other, on, 1, gpuframe.NearestOptions{})
		twice := once.NearestTo(other.Select(gpuframe.Col("other").As("third"), gpuframe.Col("w").As("x")), gpuframe.On("v", "x"), 2, gpuframe.NearestOptions{})
		require.Equal(t, []string{"0 0 1 0 0 1", "0 0 1 1 5 2", "1 0 1 1 0 1", "1 0 1 0 5 2"},
			collect(t, twice.Select("id", "distance", "rank", "third", "distance_2", "rank_2")))
		ranked := rows.With(gpuframe.Lit(7).As("rank"))
		schema, err := ranked.NearestTo(other, on, 1, gpuframe.NearestOptions{}).Schema(t.Context())
		require.NoError(t, err)
		require.True(t, schema.HasField("distance_2") && schema.HasField("rank_2") && !schema.HasField("distance"), "%v", schema)
		schema, err = ranked.NearestTo(other, on, 1, gpuframe.NearestOptions{Rank: "place"}).Schema(t.Context())
		require.NoError(t, err)
		require.True(t, schema.HasField("distance") && schema.HasField("place"), "%v", schema)
	})
}

// TestNearestToOfBatches has a right side of several tables that the budget does not hold as one: the rows are those of one
// table.
func TestNearestToOfBatches(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		small, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(8<<20))
		require.NoError(t, err)
		defer func() { require.NoError(t, small.Close()) }()
		r := rand.New(rand.NewPCG(3, 4))
		const dim, batches = 48, 16
		rows := 3300 // 10.1 MB of vectors
		if devicetest.Emulated(dev) {
			rows = 700 // 2.15 MB, more than the quarter of the budget that is copied to one table
		}
		for i, list := range []arrow.DataType{arrow.FixedSizeListOf(dim, arrow.PrimitiveTypes.Float32), arrow.ListOf(arrow.PrimitiveTypes.Float32)} {
			left, right := randomVectors(r, 9, dim), randomVectors(r, rows*batches, dim)
			var parts []gpuframe.Query
			for b := range batches {
				parts = append(parts, vectorRows(t, small, list, right[b*rows:(b+1)*rows]).With(gpuframe.Col("id").Add(b*rows).As("id"), gpuframe.Lit("text").As("text")))
			}
			for n := range 4 {
				k, o := []int{1, 20}[n%2], gpuframe.NearestOptions{Metric: gpuframe.Metric((n + i) % 3), MatchedOnly: n > 1}
				q := vectorRows(t, small, list, left).NearestTo(parts[0].Union(parts[1:]...), "v", k, o).Select("id", "id_right", "distance", "rank")
				require.Equal(t, nearestLines(left, right, k, o), append([]string(nil), collect(t, q)...), "k %d, %+v", k, o)
			}
			first := vectorRows(t, small, list, left).NearestTo(parts[0].Union(parts[1:]...), "v", 1, gpuframe.NearestOptions{})
			require.Len(t, collect(t, first.Filter(gpuframe.Col("text").Eq("text"))), len(slices.DeleteFunc(slices.Clone(left), func(v []float32) bool { return v == nil })))
		}
	})
}
