package checks_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// mostCode is the maximum size of a module's PTX: a caller waits while the driver
// compiles it.
const mostCode = 25_000

func TestModules(t *testing.T) {
	modules := checks.Modules()
	names := slices.Sorted(maps.Keys(modules))
	kernels := slices.Sorted(maps.Keys(checks.Kernels()))
	require.Len(t, names, len(kernels))
	for i, name := range names {
		assert.Equal(t, kernels[i], "check_"+name)
		assert.Equal(t, 1, strings.Count(modules[name], ".entry"), name)
		assert.Contains(t, modules[name], ".entry check_"+name+"(")
		assert.Less(t, len(modules[name]), mostCode, name)
		assert.NotContains(t, modules[name], ".local", "%s keeps in memory what belongs into registers", name)
	}
}

// TestOnlyNeededModulesAreLoaded counts the modules that batches load.
func TestOnlyNeededModulesAreLoaded(t *testing.T) {
	dev, driver := faulttest.OpenGPU(t, checks.Kernels())
	m := devicetest.Manager(t, dev, memory.Options{})
	ones, err := memory.NewSlice[uint8](m, 64, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, ones.Fill(nil, 1))
	loads := 0
	driver.Arm(func(call faulttest.Call) error {
		if call.Operation == "ModuleLoad" {
			loads++
		}
		return nil
	})
	all := checks.Elements{Buffer: ones, Count: 64}
	four := checks.Elements{Buffer: ones, Count: 15}
	for _, step := range []struct {
		name  string
		add   func(b *checks.Batch)
		loads int
	}{
		{"offsets", func(b *checks.Batch) { b.Offsets("it", 4, four, -1) }, 1},
		{"offsets again, and indices", func(b *checks.Batch) {
			b.Offsets("it", 4, four, -1)
			b.Indices("it", checks.Integer{Width: 1}, all, checks.Validity{}, 2)
		}, 1},
		{"type ids that are indices", func(b *checks.Batch) { b.TypeIDs("it", all, checks.NewTypeIDs[int8](0, 1, 2)) }, 0},
		{"other type ids", func(b *checks.Batch) { b.TypeIDs("it", all, checks.NewTypeIDs[int8](1, 3)) }, 1},
		{"short run ends", func(b *checks.Batch) { b.RunEnds("it", 2, checks.Elements{Buffer: ones, Count: 1}, 0) }, 0},
	} {
		loads = 0
		b := checks.NewBatch(m, nil)
		step.add(b)
		_, err := b.Run(t.Context())
		require.NoError(t, err, step.name)
		assert.Equal(t, step.loads, loads, step.name)
	}
	driver.Arm(nil)
	require.NoError(t, ones.Release())
	require.Zero(t, m.Stats().InUse)
	require.Zero(t, m.Stats().Blocks)
}

// BenchmarkFirstUse loads the code of each module again. Set CUDA_CACHE_DISABLE=1, or
// the driver compiles it only once.
func BenchmarkFirstUse(b *testing.B) {
	dev := devicetest.Open(b, "cuda:0")
	require.Equal(b, device.CUDA, dev.Kind())
	modules := checks.Modules()
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				module, err := kernels.Load(dev, modules[name])
				if err != nil {
					b.Fatal(err)
				}
				// The driver may defer work until the first lookup of a function.
				if _, err := module.Function("check_" + name); err != nil {
					b.Fatal(err)
				}
				if err := module.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/module")
			b.ReportMetric(float64(len(modules[name])), "PTX-bytes")
		})
	}
}
