package buffer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestBudgetIsKept(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 4000})
		record := flights(t, 1000)
		table, err := buffer.FromRecord(mgr, record)
		require.ErrorIs(t, err, memory.ErrBudget)
		assert.Nil(t, table)
		_, err = buffer.FromReader(t.Context(), mgr, readerOf(t, record.Schema(), record), buffer.LoadOptions{})
		require.ErrorIs(t, err, memory.ErrBudget)
		requireEmpty(t, mgr)

		small := flights(t, 5) // a refused request does not affect the next one
		table, err = buffer.FromRecord(mgr, small)
		require.NoError(t, err)
		requireRecord(t, small, table)
		require.NoError(t, table.Release())
		requireEmpty(t, mgr)
	})
}

func TestFailedAllocationsHoldNothing(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		resource := &failing{Resource: memory.NewDriverResource(dev)}
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: resource})
		whole := flights(t, 40)
		parts := batches(t, whole, 10, 10, 10, 10)
		for fail := int64(1); fail <= 5; fail++ {
			resource.count.Store(0)
			resource.fail.Store(fail)
			var held []*buffer.Buffer
			var failures []error
			for table, err := range buffer.Each(t.Context(), mgr, readerOf(t, whole.Schema(), parts...), buffer.LoadOptions{}) {
				if err != nil {
					failures = append(failures, err)
					continue
				}
				held = append(held, table)
			}
			require.Len(t, held, int(min(fail-1, 4)))
			if fail <= 4 {
				require.Len(t, failures, 1)
				require.ErrorIs(t, failures[0], errInjected)
			} else {
				require.Empty(t, failures)
			}
			for i, table := range held {
				requireRecord(t, parts[i], table)
				require.NoError(t, table.Release())
			}
			requireEmpty(t, mgr)
		}

		resource.count.Store(0)
		resource.fail.Store(1)
		_, err := buffer.FromRecord(mgr, whole)
		require.ErrorIs(t, err, errInjected)
		resource.count.Store(0)
		_, err = buffer.FromReader(t.Context(), mgr, readerOf(t, whole.Schema(), parts...), buffer.LoadOptions{})
		require.ErrorIs(t, err, errInjected)
		requireEmpty(t, mgr)
	})
}

func TestLoadWithoutAManager(t *testing.T) {
	_, err := buffer.FromRecord(nil, flights(t, 3))
	require.Error(t, err)
}

func TestLoadWithAClosedManager(t *testing.T) {
	mgr, err := memory.NewManager(devicetest.Open(t, "host"), memory.Options{})
	require.NoError(t, err)
	require.NoError(t, mgr.Close())
	_, err = buffer.FromRecord(mgr, flights(t, 3))
	require.ErrorIs(t, err, memory.ErrClosed)
}
