//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/memory"
)

// Many threads export tensors of a few shared columns, import them directly or
// through another library, and release them, concurrently.
func TestHammer(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		const workers, rounds, n = 8, 200, 64
		columns := []*column.Column{newInts(t, m, n), newInts(t, m, n), newInts(t, m, n)}
		var group sync.WaitGroup
		for worker := range workers {
			group.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(worker)))
				for range rounds {
					hammer(t, m, columns[random.IntN(len(columns))], random)
				}
			})
		}
		group.Wait()
		for _, c := range columns {
			require.Equal(t, 1, c.Buffer(1).Block().References())
			require.Equal(t, pattern(4*n), valueBytes(t, c, 4))
			require.NoError(t, c.Release())
		}
		requireNothingHeld(t, m)
	})
}

func hammer(t *testing.T, m *memory.Manager, c *column.Column, random *rand.Rand) {
	tensor, err := dlpack.Export(c)
	if !assert.NoError(t, err) {
		return
	}
	switch random.IntN(5) {
	case 0:
		assert.NoError(t, tensor.Release())
	case 1:
		cabitest.Delete(tensor.Detach(), false)
	case 2:
		assert.NoError(t, cabitest.DeleteOnThread(tensor.Detach(), false))
	case 3:
		back, err := dlpack.Import(m, tensor.Detach())
		if assert.NoError(t, err) {
			assert.Same(t, c.Buffer(1).Block(), back.Buffer(1).Block())
			assert.NoError(t, back.Release())
		}
	case 4:
		data := device.Pointer(tensorOf(tensor).Data)
		p := cabitest.NewProducer(cabi.Tensor{Data: uintptr(data), Device: dlDevice(m.Device()), DataType: float32Type}, []int64{8}, nil)
		defer p.Free()
		p.Of(tensor.Detach())
		back, err := importEither(m, p, false)
		if assert.NoError(t, err) {
			assert.Same(t, c.Buffer(1).Block(), back.Buffer(1).Block())
			assert.NoError(t, back.Release())
		}
		assert.Equal(t, 1, p.Deleted())
	}
	assert.Nil(t, tensor.Pointer())
	assert.NoError(t, tensor.Release())
}

// Matrices of shared columns, views and copies, are exported and imported
// concurrently.
func TestHammerMatrices(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		const workers, rounds, n = 8, 100, 64
		bytes := upload(t, m, pattern(3*4*n))
		columns := sharedColumns(t, bytes, arrow.PrimitiveTypes.Float32, n, 4, 0, 4*n, 8*n)
		require.NoError(t, bytes.Release())
		var group sync.WaitGroup
		for worker := range workers {
			group.Go(func() {
				random := rand.New(rand.NewPCG(2, uint64(worker)))
				for range rounds {
					hammerMatrix(t, m, columns, random)
				}
			})
		}
		group.Wait()
		releaseColumns(t, columns)
		requireNothingHeld(t, m)
	})
}

func hammerMatrix(t *testing.T, m *memory.Manager, columns []*column.Column, random *rand.Rand) {
	order := random.Perm(len(columns))
	chosen := make([]*column.Column, len(order))
	for i, number := range order {
		chosen[i] = columns[number]
	}
	tensor, err := dlpack.ExportMatrix(chosen)
	if !assert.NoError(t, err) {
		return
	}
	assert.Equal(t, !slices.IsSorted(order), tensor.Copied())
	switch random.IntN(3) {
	case 0:
		assert.NoError(t, tensor.Release())
	case 1:
		assert.NoError(t, cabitest.DeleteOnThread(tensor.Detach(), false))
	case 2:
		back, err := dlpack.ImportMatrix(m, tensor.Detach())
		if assert.NoError(t, err) {
			for i, c := range back {
				assert.Equal(t, valueBytes(t, chosen[i], 4), valueBytes(t, c, 4))
				assert.NoError(t, c.Release())
			}
		}
	}
	assert.Nil(t, tensor.Pointer())
}

// Release and the deleter of one tensor run concurrently; one of them ends the
// tensor.
func TestReleaseMeetsDeleter(t *testing.T) {
	m := hostManager(t)
	for range 500 {
		c := newInts(t, m, 1)
		tensor, err := dlpack.Export(c)
		require.NoError(t, err)
		require.NoError(t, c.Release())
		pointer := tensor.Pointer()
		var group sync.WaitGroup
		group.Go(func() { assert.NoError(t, tensor.Release()) })
		group.Go(func() { cabitest.Delete(pointer, false) })
		group.Wait()
		requireNothingHeld(t, m)
	}
}
