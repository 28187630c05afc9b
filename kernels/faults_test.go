package kernels_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// doubling is a kernel for a device that is configured as a GPU.
func doubling() map[string]launchtest.Kernel {
	return map[string]launchtest.Kernel{"double": {Parameters: []int{8, 4}, Run: func(l launchtest.Launch) {
		values := address.Bytes(uintptr(l.Uint64(0)), uint64(uint32(l.Uint64(1))))
		for i := range values {
			values[i] *= 2
		}
	}}}
}

// launching loads code, launches a kernel on a stream other than the memory's stream,
// with more shared memory than the default limit, and unloads the code.
func launching() faulttest.Operation {
	return faulttest.Operation{
		Name: "Load, Launch and Close", Says: "kernels: ", Kernels: doubling(),
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			if m.Device().Kind() == device.Host {
				return nil // the host launches no kernels
			}
			values, stream := newSlice[uint8](t, m, 100), newStream(t, m.Device())
			require.NoError(t, values.Fill(nil, 1))
			require.NoError(t, values.Block().OrderBefore(stream))
			launches := 0
			return func(context.Context) (func(testing.TB), error) {
				module, err := kernels.Load(m.Device(), "code")
				if err != nil {
					assert.Nil(t, module)
					return nil, err
				}
				f, err := module.Function("double")
				if err == nil {
					const shared = 64 << 10
					err = f.Launch(stream, device.Dim3{}, device.Dim3{X: 32}, shared, values, uint32(values.Len()))
				}
				if err == nil {
					launches++
				}
				assert.Equal(t, 1, values.Block().References())
				err = errors.Join(err, module.Close())
				require.ErrorIs(t, module.Close(), device.ErrClosed)
				if err != nil {
					return nil, err
				}
				return func(t testing.TB) {
					require.NoError(t, values.Block().OrderBefore(m.Stream()))
					assert.Equal(t, slices.Repeat([]byte{1 << launches}, 100), download(t, values))
				}, nil
			}
		},
	}
}

// capturing captures a graph with intermediate memory, launches it twice and closes it.
func capturing() faulttest.Operation {
	return faulttest.Operation{
		Name: "Capture, Launch and Close", Says: "kernels: ", Kernels: doubling(),
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			if m.Device().Kind() == device.Host {
				return nil // the host has no graphs
			}
			module, err := kernels.Load(m.Device(), "code")
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, module.Close()) })
			f, err := module.Function("double")
			require.NoError(t, err)
			values, result := newSlice[uint8](t, m, 100), newSlice[uint8](t, m, 100)
			require.NoError(t, values.Fill(nil, 3))
			stream := newStream(t, m.Device())
			work := func(stream *device.Stream) error {
				between, err := memory.NewSlice[uint8](m, 100, memory.AllocateOptions{Stream: stream})
				if err != nil {
					return fmt.Errorf("kernels: the test's own: %w", err)
				}
				return errors.Join(between.CopyFrom(stream, values),
					f.Launch(stream, device.Dim3{}, device.Dim3{X: 32}, 0, between, uint32(100)),
					result.CopyFrom(stream, between), between.Release())
			}
			return func(context.Context) (func(testing.TB), error) {
				graph, err := kernels.Capture(m.Device(), work)
				if err != nil {
					assert.Nil(t, graph)
					return nil, err
				}
				err = errors.Join(graph.Launch(stream), graph.Launch(nil))
				err = errors.Join(err, graph.Close())
				require.ErrorIs(t, graph.Close(), device.ErrClosed)
				if err != nil {
					return nil, err
				}
				return func(t testing.TB) {
					require.NoError(t, result.Block().OrderBefore(m.Stream()))
					assert.Equal(t, slices.Repeat([]byte{6}, 100), download(t, result))
				}, nil
			}
		},
	}
}

// keeping loads code through a directory of compiled code. If the directory fails, the
// code is loaded without it.
func keeping() faulttest.Operation {
	return faulttest.Operation{
		Name: "Load from the cache", Says: "kernels: ", Kernels: doubling(), Mends: []string{"ModuleCompile", "ModuleLoad"},
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			if m.Device().Kind() == device.Host {
				return nil
			}
			directory := t.TempDir()
			return func(context.Context) (func(testing.TB), error) {
				module, err := kernels.LoadWith(m.Device(), "code", kernels.LoadOptions{CacheDirectory: directory})
				if err != nil {
					assert.Nil(t, module)
					return nil, err
				}
				return nil, module.Close()
			}
		},
	}
}

func TestEveryDriverCallFails(t *testing.T) {
	faulttest.EachCall(t, launching(), capturing(), keeping())
}

func TestTheDeviceIsLostAtEveryDriverCall(t *testing.T) {
	faulttest.EachCallLost(t, launching(), capturing(), keeping())
}
