package vector

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// vectors are vectors of a test on the host.
type vectors struct {
	values []float32
	valid  []bool // nil: all
	dim    int
}

func (v vectors) rows() int { return len(v.values) / v.dim }

func (v vectors) row(i int) []float32 { return v.values[i*v.dim : (i+1)*v.dim] }

func (v vectors) part(begin, end int) vectors {
	part := vectors{values: v.values[begin*v.dim : end*v.dim], dim: v.dim}
	if v.valid != nil {
		part.valid = v.valid[begin:end]
	}
	return part
}

func (v vectors) upload(t require.TestingT, m *memory.Manager) *Dense {
	ctx, d := context.Background(), &Dense{Rows: v.rows(), Dim: v.dim}
	var err error
	d.Values, err = column.FromSlice(ctx, m, v.values, column.SliceOptions{})
	require.NoError(t, err)
	if v.valid != nil {
		d.Valid, err = column.FromSlice(ctx, m, v.valid, column.SliceOptions{})
		require.NoError(t, err)
	}
	return d
}

// neighbour is a neighbour of the model.
type neighbour struct {
	index int64
	// Neighbours are ordered by key. distance is the one of the result.
	distance, key float32
}

func sum(a, b []float32, term func(x, y float32) float32) float32 {
	total := float32(0)
	for i, x := range a {
		total += term(x, b[i])
	}
	return total
}

func multiply(x, y float32) float32 { return float32(x * y) }

func squareOf(x, y float32) float32 { d := x - y; return float32(d * d) }

func distance(a, b []float32, metric Metric) (distance, key float32) {
	switch metric {
	case L2:
		distance = sum(a, b, squareOf)
	case Dot:
		distance = sum(a, b, multiply)
		return distance, -distance
	case Cosine:
		length := func(a []float32) float32 { return float32(math.Sqrt(float64(sum(a, a, multiply)))) }
		lengths := length(a) * length(b)
		quotient := sum(a, b, multiply) / lengths
		distance = 1 - quotient
	}
	return distance, distance
}

// model sorts all rows of each query.
func model(queries, rows vectors, k int, metric Metric) (indices []int64, distances []float32) {
	for q := range queries.rows() {
		var all []neighbour
		for r := range rows.rows() {
			if queries.valid != nil && !queries.valid[q] || rows.valid != nil && !rows.valid[r] {
				continue
			}
			if d, key := distance(queries.row(q), rows.row(r), metric); d == d {
				all = append(all, neighbour{int64(r), d, key})
			}
		}
		slices.SortStableFunc(all, func(a, b neighbour) int {
			switch {
			case a.key < b.key:
				return -1
			case a.key > b.key:
				return 1
			}
			return 0
		})
		for i := range k {
			n := neighbour{index: -1, distance: float32(math.NaN())}
			if i < len(all) {
				n = all[i]
			}
			indices, distances = append(indices, n.index), append(distances, n.distance)
		}
	}
	return indices, distances
}

// fetch copies the values of a column to the host.
func fetch[T memory.Element](t require.TestingT, c *column.Column) []T {
	if c.Len() == 0 {
		return nil
	}
	values, err := column.Elements[T](c)
	require.NoError(t, err)
	fetched := make([]T, c.Len())
	require.NoError(t, values.Download(context.Background(), c.Manager().Stream(), fetched))
	return fetched
}

func requireNeighbours(t require.TestingT, want []int64, wantDistances []float32, n *Neighbours) {
	got, gotDistances := fetch[int64](t, n.Indices), fetch[float32](t, n.Distances)
	require.Equal(t, want, got)
	for i, d := range wantDistances {
		require.True(t, d != d && gotDistances[i] != gotDistances[i] || math.Float32bits(d) == math.Float32bits(gotDistances[i]),
			"distance %d is %v, expected %v", i, gotDistances[i], d)
	}
}

// values are numbers that often make equal distances, or none.
func drawVectors(t *rapid.T, name string, rows, dim int) vectors {
	few := []float32{0, 1, -1, 2, 0.5}
	if rapid.Bool().Draw(t, name+" special") {
		few = append(few, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e-40, 3e38, float32(math.Copysign(0, -1)))
	}
	seed := rapid.Uint64().Draw(t, name+" seed")
	next := func() uint64 { seed = seed*6364136223846793005 + 1442695040888963407; return seed >> 33 }
	anyValues := rapid.Bool().Draw(t, name+" any values")
	v := vectors{dim: dim, values: make([]float32, rows*dim)}
	for i := range v.values {
		if v.values[i] = few[next()%uint64(len(few))]; anyValues && next()%8 != 0 {
			v.values[i] = float32(next())/(1<<30) - 1
		}
	}
	if rapid.Bool().Draw(t, name+" nulls") {
		v.valid = make([]bool, rows)
		for i := range v.valid {
			v.valid[i] = next()%4 != 0
		}
	}
	return v
}

// TestNearest compares with a model that sorts all rows, whole and in batches.
func TestNearest(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		precisions := precisionsOf(dev)
		rapid.Check(t, func(t *rapid.T) {
			dim := rapid.OneOf(rapid.IntRange(1, 20), rapid.SampledFrom([]int{32, 33, 64, 100, 300})).Draw(t, "dim")
			queries := drawVectors(t, "queries", rapid.OneOf(rapid.IntRange(0, 4), rapid.IntRange(0, 150)).Draw(t, "queries"), dim)
			rows := drawVectors(t, "rows", rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(200, 1200)).Draw(t, "rows"), dim)
			k := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(1, 250)).Draw(t, "k")
			metric := Metric(rapid.IntRange(0, 2).Draw(t, "metric"))
			want, wantDistances := model(queries, rows, k, metric)
			batch := rapid.IntRange(1+rows.rows()/8, 1201).Draw(t, "batch")
			tuning := tuning{precision: rapid.SampledFrom(precisions).Draw(t, "precision"), fewest: rapid.SampledFrom([]int{1, 64}).Draw(t, "fewest")}
			if rapid.Bool().Draw(t, "little room") {
				tuning.room = max(4*k, 128)
			}

			q := queries.upload(t, m)
			var n *Neighbours
			for first := 0; first == 0 || first < rows.rows(); first += batch {
				r := rows.part(first, min(first+batch, rows.rows())).upload(t, m)
				options := NearestOptions{Options: kernels.Options{Manager: m}, Metric: metric, First: int64(first), tuning: tuning}
				if n == nil {
					var err error
					n, err = Nearest(context.Background(), q, r, k, options)
					require.NoError(t, err)
				} else {
					require.NoError(t, n.Add(context.Background(), q, r, options))
				}
				require.NoError(t, r.Release())
			}
			requireNeighbours(t, want, wantDistances, n)
			require.NoError(t, n.Release())
			require.NoError(t, q.Release())
		})
	})
}

// precisionsOf returns the ways to multiply that a device has. The emulator has all.
func precisionsOf(dev *device.Device) []precision {
	if dev.Info().ComputeCapability.Major >= 8 || strings.Contains(dev.Info().Name, "emulator") {
		return []precision{byDevice, single, tensor}
	}
	return []precision{byDevice, single}
}
