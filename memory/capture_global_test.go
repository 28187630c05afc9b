package memory_test

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestGlobalCaptureSurvivesDeletersOnTheStandIn(t *testing.T) {
	withStandIn(t, "TestGlobalCaptureSurvivesDeleters", "FAKE_GLOBAL_CAPTURES=1")
}

// A capture in the global mode, which is PyTorch's default, survives deleters on other
// threads, and allocations, transfers, queries and waits of gpuframe meanwhile.
func TestGlobalCaptureSurvivesDeleters(t *testing.T) {
	if os.Getenv(childVariable) == "" {
		t.Skip("run by TestGlobalCaptureSurvivesDeletersOnTheStandIn: gpuframe itself captures in the relaxed mode")
	}
	dev, err := device.Open("cuda:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	m := devicetest.Manager(t, dev, memory.Options{Budget: 64 << 20})
	// Allocations on m's device run the frees that deleters have deferred, which would
	// break the capture. Threads that allocate therefore use another device.
	second, err := device.Open("cuda:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, second.Close()) })
	busy := devicetest.Manager(t, second, memory.Options{Budget: 64 << 20})

	const threads, each, rounds = 4, 8, 3
	for range rounds {
		var freed atomic.Int64
		deleters := make([][]func() error, threads)
		for i := range deleters {
			for range each {
				deleters[i] = append(deleters[i], exportedDeleter(t, m), adoptedDeleter(t, m, &freed))
			}
		}
		captured, err := dev.Driver().StreamCreate()
		require.NoError(t, err)
		target, err := memory.NewSlice[uint32](m, 1000, memory.AllocateOptions{})
		require.NoError(t, err)

		require.NoError(t, dev.Driver().StreamBeginCapture(captured))
		var group sync.WaitGroup
		for _, list := range deleters {
			group.Go(func() {
				for _, deleter := range list {
					assert.NoError(t, deleter())
				}
			})
		}
		group.Go(func() { assert.NoError(t, exercised(t, busy)) })
		for range 50 {
			require.NoError(t, dev.Driver().MemsetAsync(target.Pointer(), 6, 4, 1000, captured))
			_, err := m.Stream().Done()
			require.NoError(t, err)
			require.NoError(t, m.Stream().Synchronize(t.Context()))
		}
		group.Wait()
		graph, err := dev.Driver().StreamEndCapture(captured)
		require.NoError(t, err, "the capture was lost")

		executable, err := dev.Driver().GraphInstantiate(graph)
		require.NoError(t, err)
		require.NoError(t, dev.Driver().GraphDestroy(graph))
		require.NoError(t, dev.Driver().GraphLaunch(executable, captured))
		require.NoError(t, dev.Driver().StreamSynchronize(captured))
		require.NoError(t, dev.Driver().GraphExecutableDestroy(executable))
		require.NoError(t, dev.Driver().StreamDestroy(captured))
		got := make([]uint32, 1000)
		require.NoError(t, target.Download(t.Context(), nil, got))
		require.EqualValues(t, 6, got[999])
		require.NoError(t, target.Release())

		// The next allocation runs the frees that the deleters have deferred.
		block, err := m.Allocate(64, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, block.Release())
		require.EqualValues(t, threads*each, freed.Load(), "memory that did not go back to its owner")
		require.Zero(t, m.Stats().InUse)
		require.Zero(t, m.Stats().ExternalBlocks)
	}
}

// exportedDeleter returns the deleter of memory that another library has used on its
// streams. The deleter holds the last reference.
func exportedDeleter(t *testing.T, m *memory.Manager) func() error {
	t.Helper()
	s, err := memory.NewSlice[uint32](m, 1000, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, s.Fill(nil, 1))
	require.NoError(t, s.Block().BeginExport())
	require.NoError(t, s.Release())
	return func() error { return errors.Join(s.Block().RecordForeignUse(), s.Block().EndExport()) }
}

// adoptedDeleter returns the deleter of an adopted block that a consumer used on
// unknown streams.
func adoptedDeleter(t *testing.T, m *memory.Manager, freed *atomic.Int64) func() error {
	t.Helper()
	owner, err := m.Device().Driver().Alloc(4000)
	require.NoError(t, err)
	block, err := m.Adopt(memory.ForeignMemory{
		Pointer: owner, Bytes: 4000, Kind: device.MemoryDevice,
		Release: func() error { freed.Add(1); return m.Device().Driver().Free(owner) },
	})
	require.NoError(t, err)
	return func() error { return errors.Join(block.RecordForeignUse(), block.ReleaseLater()) }
}

// exercised allocates, transfers and waits.
func exercised(t *testing.T, m *memory.Manager) error {
	for n := range 20 {
		s, err := memory.NewSlice[uint8](m, 1+n*50_000, memory.AllocateOptions{})
		if err != nil {
			return err
		}
		data := make([]byte, s.Len())
		err = errors.Join(s.Upload(t.Context(), nil, data), s.Fill(nil, 3), s.Download(t.Context(), nil, data),
			s.Block().Synchronize(t.Context()), s.Release())
		if err != nil {
			return err
		}
	}
	return nil
}
