package checks_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/memory"
)

// checking runs a batch on another stream than the memory's.
func checking() faulttest.Operation {
	return faulttest.Operation{
		Name: "Run", Says: "check the contents", Cancellable: true, Waits: true, Kernels: checks.Kernels(),
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			values, err := memory.NewSlice[uint8](m, 4000, memory.AllocateOptions{})
			require.NoError(t, err)
			stream, err := m.Device().NewStream()
			require.NoError(t, err)
			t.Cleanup(func() {
				assert.NoError(t, values.Release())
				assert.NoError(t, stream.Close())
			})
			require.NoError(t, values.Fill(nil, 1))
			b := checks.NewBatch(m, stream)
			offsets := b.Offsets("offsets", 4, checks.Elements{Buffer: values, Count: 999}, -1)
			b.DenseOffsets("union", values, checks.Elements{Buffer: values, Count: 1000}, []int64{0, 1 << 40})
			return func(ctx context.Context) (func(testing.TB), error) {
				results, err := b.Run(ctx)
				assert.Equal(t, 1, values.Block().References())
				if err != nil {
					assert.NotErrorIs(t, err, checks.ErrOutOfRange)
					return nil, err
				}
				return func(t testing.TB) { assert.EqualValues(t, 0x01010101, results.Last(offsets)) }, nil
			}
		},
	}
}

func TestEveryDriverCallFails(t *testing.T) { faulttest.EachCall(t, checking()) }

func TestTheDeviceIsLostAtEveryDriverCall(t *testing.T) { faulttest.EachCallLost(t, checking()) }

func TestTheContextEndsAtEveryDriverCall(t *testing.T) { faulttest.EachCallCancelled(t, checking()) }

// TestNoMemoryForTheAnswers fails the only allocation of a batch, which a GPU makes.
func TestNoMemoryForTheAnswers(t *testing.T) {
	dev, driver := faulttest.OpenGPU(t, checks.Kernels())
	resource := memory.NewDriverResource(dev)
	m, err := memory.NewManager(dev, memory.Options{Resource: resource})
	require.NoError(t, err)
	ids, err := memory.NewSlice[uint8](m, 100, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, ids.Fill(nil, 1))
	b := checks.NewBatch(m, nil)
	b.TypeIDs("ids", checks.Elements{Buffer: ids, Count: 100}, checks.NewTypeIDs[int8](2))
	driver.Arm(func(call faulttest.Call) error {
		if call.Operation == "Alloc" {
			return device.ErrOutOfMemory
		}
		return nil
	})
	_, err = b.Run(t.Context())
	require.ErrorIs(t, err, device.ErrOutOfMemory)
	driver.Arm(nil)

	// The error is reported although the element cannot be fetched.
	downloads := 0
	driver.Arm(func(call faulttest.Call) error {
		if call.Operation == "CopyToHostAsync" {
			if downloads++; downloads > 1 {
				return faulttest.ErrDriver
			}
		}
		return nil
	})
	_, err = b.Run(t.Context())
	driver.Arm(nil)
	require.ErrorIs(t, err, checks.ErrOutOfRange)
	require.ErrorIs(t, err, faulttest.ErrDriver)
	assert.ErrorContains(t, err, "ids: element 0 is wrong")

	require.NoError(t, ids.Release())
	require.Zero(t, m.Stats().InUse)
	require.NoError(t, m.Close())
}
