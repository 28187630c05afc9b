package vector

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TestNearestOfHardRows has rows of which a scan leaves out few.
func TestNearestOfHardRows(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const dim, n, asked, k = 8, 1500, 20, 5
	draw := func(value func(row, i int) float32) vectors {
		v := vectors{dim: dim}
		for i := range n * dim {
			v.values = append(v.values, value(i/dim, i%dim))
		}
		return v
	}
	queries := draw(func(int, int) float32 { return float32(random.NormFloat64()) }).part(0, asked)
	far := draw(func(int, int) float32 { return 1000 + float32(random.NormFloat64()) })
	for _, c := range []struct {
		name          string
		queries, rows vectors
	}{
		{"equal rows", queries, draw(func(int, int) float32 { return 0.5 })},
		{"ever nearer", queries, draw(func(row, _ int) float32 { return float32(n-row) / 16 })},
		{"ever larger", queries, draw(func(row, i int) float32 { return queries.values[i] * float32(row+1) })},
		{"far from zero", far.part(0, asked), far}, // closer to each other than TF32 tells numbers apart
		{"the queries", queries, draw(func(row, i int) float32 { return queries.values[row%asked*dim+i] })},
	} {
		t.Run(c.name, func(t *testing.T) {
			devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
				m := devicetest.Manager(t, dev, memory.Options{})
				q, r := c.queries.upload(t, m), c.rows.upload(t, m)
				for metric := L2; metric <= Dot; metric++ {
					want, wantDistances := model(c.queries, c.rows, k, metric)
					for _, precision := range precisionsOf(dev) {
						options := NearestOptions{Options: kernels.Options{Manager: m}, Metric: metric, tuning: tuning{precision: precision, fewest: 32, room: 128}}
						n, err := Nearest(context.Background(), q, r, k, options)
						require.NoError(t, err)
						requireNeighbours(t, want, wantDistances, n)
						require.NoError(t, n.Release())
					}
				}
				require.NoError(t, q.Release())
				require.NoError(t, r.Release())
			})
		})
	}
}

// TestNearestOfZeros has queries of which all distances are NaN, or 0: they leave out rows as others do.
func TestNearestOfZeros(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const dim, k = 4, 3
	queries, rows := vectors{dim: dim, values: make([]float32, 3*dim)}, vectors{dim: dim}
	queries.values[dim] = float32(math.NaN())
	queries.values[2*dim] = 1
	for range 2000 * dim {
		rows.values = append(rows.values, float32(random.NormFloat64()))
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		q, r := queries.upload(t, m), rows.upload(t, m)
		for metric := L2; metric <= Dot; metric++ {
			want, wantDistances := model(queries, rows, k, metric)
			n, err := Nearest(context.Background(), q, r, k, NearestOptions{Options: kernels.Options{Manager: m}, Metric: metric, tuning: tuning{fewest: 32, room: 64}})
			require.NoError(t, err)
			requireNeighbours(t, want, wantDistances, n)
			require.NoError(t, n.Release())
		}
		for _, refused := range []struct {
			k     int
			first int64
		}{{math.MaxInt/2 + 1, 0}, {1, -1}, {1, math.MaxInt64}} {
			_, err := Nearest(context.Background(), q, r, refused.k, NearestOptions{Options: kernels.Options{Manager: m, Tag: "refused"}, First: refused.first})
			require.Error(t, err, "k %d, first %d", refused.k, refused.first)
		}
		require.NoError(t, q.Release())
		require.NoError(t, r.Release())
	})
}

// TestNearestOfManyRows compares GPUs with the host.
func TestNearestOfManyRows(t *testing.T) {
	devicetest.EachGPU(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		hostDevice, err := device.Open("host")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, hostDevice.Close()) })
		host := devicetest.Manager(t, hostDevice, memory.Options{})
		random := rand.New(rand.NewPCG(3, 4))
		for _, c := range []struct{ asked, n, dim, k int }{{5000, 20_000, 12, 3}, {60, 300_000, 33, 10}, {300, 40_000, 128, 1000}, {3, 100_000, 768, 100}} {
			queries, rows := vectors{dim: c.dim}, vectors{dim: c.dim}
			for range c.asked * c.dim {
				queries.values = append(queries.values, float32(random.NormFloat64()))
			}
			for range c.n * c.dim {
				rows.values = append(rows.values, float32(random.NormFloat64()))
			}
			for metric := L2; metric <= Dot; metric++ {
				search := func(m *memory.Manager, p precision) *Neighbours {
					q, r := queries.upload(t, m), rows.upload(t, m)
					n, err := Nearest(context.Background(), q, r, c.k, NearestOptions{Options: kernels.Options{Manager: m}, Metric: metric, tuning: tuning{precision: p}})
					require.NoError(t, err)
					require.NoError(t, q.Release())
					require.NoError(t, r.Release())
					return n
				}
				want := search(host, byDevice)
				for _, p := range precisionsOf(dev) {
					n := search(m, p)
					requireNeighbours(t, fetch[int64](t, want.Indices), fetch[float32](t, want.Distances), n)
					require.NoError(t, n.Release())
				}
				require.NoError(t, want.Release())
			}
		}
	})
}
