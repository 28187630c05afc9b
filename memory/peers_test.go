package memory_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// peerResources are the resources that the tests of copies between GPUs use.
var peerResources = []struct {
	name string
	open func(dev *device.Device) (memory.Resource, error)
}{
	{"expandable segments", func(dev *device.Device) (memory.Resource, error) {
		return memory.NewCachingResource(dev, memory.CachingOptions{Segments: memory.ExpandableSegments})
	}},
	{"fixed segments", func(dev *device.Device) (memory.Resource, error) {
		return memory.NewCachingResource(dev, memory.CachingOptions{Segments: memory.FixedSegments})
	}},
	{"stream-ordered pool", func(dev *device.Device) (memory.Resource, error) {
		return memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
	}},
}

// twoGPUs returns two devices, or skips the test.
func twoGPUs(t testing.TB) (first, second *device.Device) {
	t.Helper()
	open := func(name string) *device.Device {
		dev, err := device.Open(name)
		if err != nil {
			t.Skip(err)
		}
		return dev
	}
	first = open("cuda:0")
	t.Cleanup(func() { require.NoError(t, first.Close()) })
	second = open("cuda:1")
	return first, second
}

// onResource creates a manager on a resource and closes both at the end of the test.
func onResource(t testing.TB, dev *device.Device, open func(*device.Device) (memory.Resource, error)) *memory.Manager {
	t.Helper()
	resource, err := open(dev)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, resource.(interface{ Close() error }).Close()) })
	return devicetest.Manager(t, dev, memory.Options{Resource: resource})
}

func TestPeerCopiesGoDirectlyOnTheStandIn(t *testing.T) {
	withStandIn(t, "TestPeerCopiesGoDirectly")
}

// Copies between GPUs are direct for memory of every resource, allocated before or
// after the first copy.
func TestPeerCopiesGoDirectly(t *testing.T) {
	first, second := twoGPUs(t)
	t.Cleanup(func() { require.NoError(t, second.Close()) })
	for _, resource := range peerResources {
		t.Run(resource.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			t.Setenv("FAKE_LOG", path)
			from := onResource(t, first, resource.open)
			to := onResource(t, second, resource.open)
			var slices []memory.Slice[uint32]
			for round := range uint32(4) {
				const n = 8 << 20 // 32 MiB: a separate segment
				source, err := memory.NewSlice[uint32](from, n, memory.AllocateOptions{})
				require.NoError(t, err)
				target, err := memory.NewSlice[uint32](to, n, memory.AllocateOptions{})
				require.NoError(t, err)
				slices = append(slices, source, target)
				require.NoError(t, source.Fill(nil, round))
				require.NoError(t, target.CopyFrom(nil, source))
				got := make([]uint32, 2)
				end, err := target.Slice(n-2, n)
				require.NoError(t, err)
				require.NoError(t, end.Download(t.Context(), nil, got))
				require.Equal(t, []uint32{round, round}, got)
			}
			for _, s := range slices {
				require.NoError(t, s.Release())
			}
			t.Setenv("FAKE_LOG", "")
			if os.Getenv(childVariable) == "" {
				return
			}
			log, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, 4, strings.Count(string(log), "cuMemcpyPeerAsync(1, 0,"))
			require.NotContains(t, string(log), "copy through the host")
		})
	}
}

func TestConnectOnTheStandIn(t *testing.T) { withStandIn(t, "TestConnect") }

// Connect enables the access of two GPUs to each other once, also for short copies. Long ones do not
// ask the driver again.
func TestConnect(t *testing.T) {
	first, second := twoGPUs(t)
	t.Cleanup(func() { require.NoError(t, second.Close()) })
	path := filepath.Join(t.TempDir(), "log")
	t.Setenv("FAKE_LOG", path)
	a, b := devicetest.Manager(t, first, memory.Options{}), devicetest.Manager(t, second, memory.Options{})
	memory.Connect(a, b)
	memory.Connect(a, nil, b, a)
	for _, n := range []int{10, 4 << 20} {
		for range 2 {
			from, err := memory.NewSlice[uint8](a, n, memory.AllocateOptions{})
			require.NoError(t, err)
			to, err := memory.NewSlice[uint8](b, n, memory.AllocateOptions{})
			require.NoError(t, err)
			require.NoError(t, from.Fill(nil, 7))
			require.NoError(t, to.CopyFrom(nil, from))
			got := make([]uint8, n)
			require.NoError(t, to.Download(t.Context(), nil, got))
			require.EqualValues(t, 7, got[n-1])
			require.NoError(t, from.Release())
			require.NoError(t, to.Release())
		}
	}
	t.Setenv("FAKE_LOG", "")
	if os.Getenv(childVariable) == "" {
		return
	}
	log, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(log), "cuMemcpyPeerAsync(1, 0,"))
	require.Equal(t, 2, strings.Count(string(log), "cuCtxEnablePeerAccess("))
	require.NotContains(t, string(log), "copy through the host")
	before, _, _ := strings.Cut(string(log), "cuMemcpyPeerAsync")
	require.Equal(t, 2, strings.Count(before, "cuCtxEnablePeerAccess("), "before the first copy")
}

func TestMemoryOutlivesItsPeerOnTheStandIn(t *testing.T) { withStandIn(t, "TestMemoryOutlivesItsPeer") }

// A closed peer does not keep the resource from growing. It is a peer again after it
// is reopened.
func TestMemoryOutlivesItsPeer(t *testing.T) {
	first, second := twoGPUs(t)
	require.NoError(t, second.Close())
	resource, err := memory.NewCachingResource(first, memory.CachingOptions{Segments: memory.ExpandableSegments})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, resource.Close()) })
	from := devicetest.Manager(t, first, memory.Options{Resource: resource})
	const n = 8 << 20
	source, err := memory.NewSlice[uint32](from, n, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, source.Fill(nil, 7))
	path := filepath.Join(t.TempDir(), "log")
	for range 3 {
		second, err := device.Open("cuda:1")
		require.NoError(t, err)
		to, err := memory.NewManager(second, memory.Options{})
		require.NoError(t, err)
		target, err := memory.NewSlice[uint32](to, n, memory.AllocateOptions{})
		require.NoError(t, err)
		t.Setenv("FAKE_LOG", path)
		require.NoError(t, target.CopyFrom(nil, source))
		t.Setenv("FAKE_LOG", "")
		require.NoError(t, source.Block().Synchronize(t.Context()))
		require.NoError(t, target.Release())
		require.NoError(t, to.Close())
		require.NoError(t, second.Close())

		more, err := memory.NewSlice[uint32](from, 2*n, memory.AllocateOptions{})
		require.NoError(t, err, "a peer is gone")
		require.NoError(t, more.Fill(nil, 8))
		require.NoError(t, more.Release())
		_, err = resource.Trim(0)
		require.NoError(t, err)
	}
	require.NoError(t, source.Release())
	if os.Getenv(childVariable) != "" {
		log, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(log), "copy through the host")
	}
}

// BenchmarkPeerCopy copies from cuda:0 to cuda:1 and prints GB/s (10^9 bytes).
func BenchmarkPeerCopy(b *testing.B) {
	first, second := twoGPUs(b)
	b.Cleanup(func() { require.NoError(b, second.Close()) })
	for _, resource := range peerResources {
		for _, size := range []struct {
			name  string
			bytes int
		}{{"256 MiB", 256 << 20}, {"1 GiB", 1 << 30}} {
			b.Run(resource.name+"/"+size.name, func(b *testing.B) {
				from, to := onResource(b, first, resource.open), onResource(b, second, resource.open)
				source, err := memory.NewSlice[uint8](from, size.bytes, memory.AllocateOptions{})
				require.NoError(b, err)
				target, err := memory.NewSlice[uint8](to, size.bytes, memory.AllocateOptions{})
				require.NoError(b, err)
				require.NoError(b, source.Fill(nil, 1))
				copyOnce := func() {
					require.NoError(b, target.CopyFrom(nil, source))
					require.NoError(b, to.Stream().Synchronize(b.Context()))
				}
				copyOnce() // opens the memory
				b.SetBytes(int64(size.bytes))
				for b.Loop() {
					copyOnce()
				}
				b.ReportMetric(float64(size.bytes)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
				require.NoError(b, source.Release())
				require.NoError(b, target.Release())
			})
		}
	}
}
