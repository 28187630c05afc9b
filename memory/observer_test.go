package memory_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// ledger sums what an observer reports.
type ledger struct {
	mu      sync.Mutex
	samples map[string]int
	live    int
	leaked  int
	bytes   float64
	blocks  float64
}

func (l *ledger) sampled(s memory.Sample) func(bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.samples == nil {
		l.samples = make(map[string]int)
	}
	l.samples[s.Manager.Name()+"/"+s.Tag]++
	l.live++
	l.bytes += s.Weight * float64(s.Bytes)
	l.blocks += s.Weight
	return func(leaked bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.live--
		if leaked {
			l.leaked++
		}
	}
}

func TestEveryBlockIsObserved(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Name: "top", Budget: 1 << 20})
		before, err := mgr.Allocate(64, memory.AllocateOptions{})
		require.NoError(t, err)
		var seen, other ledger
		stop := mgr.Observe(memory.Observer{SampleBytes: 1, Sampled: seen.sampled})
		defer mgr.Observe(memory.Observer{SampleBytes: 1 << 40, Sampled: other.sampled})()
		child, err := mgr.Child("tenant", 0)
		require.NoError(t, err)
		var blocks []*memory.Block
		for i := range uint64(40) {
			block, err := child.Allocate(100*i, memory.AllocateOptions{Tag: "x"})
			require.NoError(t, err)
			blocks = append(blocks, block)
		}
		require.Equal(t, map[string]int{"tenant/x": 40}, seen.samples)
		require.Equal(t, 40.0, seen.blocks, "every block stands for itself")
		require.Equal(t, 40, other.live, "the smallest interval applies to all observers")
		stop()
		stop()
		last, err := child.Allocate(8, memory.AllocateOptions{})
		require.NoError(t, err)
		for _, block := range append(blocks, before, last) {
			require.NoError(t, block.Retain())
			require.NoError(t, block.Release())
			require.NoError(t, block.Release())
		}
		require.NoError(t, child.Close())
		require.Zero(t, seen.live)
		require.Equal(t, 40, len(seen.samples)*seen.samples["tenant/x"])
	})
}

func TestAdoptedBlocksAreObserved(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	var seen ledger
	defer mgr.Observe(memory.Observer{SampleBytes: 1, Sampled: func(s memory.Sample) func(bool) {
		assert.Equal(t, memory.Foreign, s.Origin)
		return seen.sampled(s)
	}})()
	block, err := mgr.Adopt(memory.ForeignMemory{Pointer: devicetest.Foreign(t, dev, make([]byte, 64)), Bytes: 64, Kind: dev.MemoryKind()})
	require.NoError(t, err)
	require.Equal(t, 1, seen.live)
	require.NoError(t, block.Release())
	require.Zero(t, seen.live)
}

// The samples of blocks of many sizes, multiplied by their weights, estimate their
// number and their bytes without bias.
func TestWeightsAreUnbiased(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr, err := memory.NewManager(dev, memory.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, mgr.Close()) }()
	var seen ledger
	defer mgr.Observe(memory.Observer{SampleBytes: 4096, Sampled: seen.sampled})()
	var bytes, blocks float64
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		size := uint64(1) << random.IntN(14)
		block, err := mgr.Allocate(size, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, block.Release())
		bytes += float64(size)
		blocks++
	}
	// The standard deviations are below 1 % and 3 %.
	assert.InEpsilon(t, bytes, seen.bytes, 0.1)
	assert.InEpsilon(t, blocks, seen.blocks, 0.3)
	assert.Less(t, seen.samples["/"], 50_000)
}

func TestFailuresAndWaitsAreObserved(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{Name: "top", Budget: 1000})
	failures := make(chan memory.Failure, 10)
	waits := make(chan time.Duration, 10)
	defer mgr.Observe(memory.Observer{
		Failed: func(f memory.Failure) { failures <- f },
		Waited: func(_ *memory.Manager, d time.Duration) { waits <- d },
	})()
	held, err := mgr.Allocate(600, memory.AllocateOptions{})
	require.NoError(t, err)
	_, err = mgr.Allocate(500, memory.AllocateOptions{Tag: "large"})
	require.Error(t, err)
	f := <-failures
	assert.Equal(t, "large", f.Tag)
	assert.EqualValues(t, 500, f.Bytes)
	assert.Same(t, mgr, f.Manager)
	assert.Equal(t, err, f.Err)

	got := make(chan error)
	go func() {
		block, err := mgr.AllocateWait(context.Background(), 500, memory.AllocateOptions{})
		if err == nil {
			err = block.Release()
		}
		got <- err
	}()
	requireWaiting(t, mgr, 1)
	require.NoError(t, held.Release())
	require.NoError(t, <-got)
	assert.Positive(t, <-waits)
	assert.Empty(t, failures)
}

func TestLeaksAreObserved(t *testing.T) {
	var log leakLog
	dev := devicetest.Open(t, "host")
	mgr, err := memory.NewManager(dev, memory.Options{TrackAllocations: true, OnLeak: log.add})
	require.NoError(t, err)
	defer func() { require.NoError(t, mgr.Close()) }()
	var seen ledger
	defer mgr.Observe(memory.Observer{SampleBytes: 1, Sampled: seen.sampled})()
	func() {
		_, err := mgr.Allocate(100, memory.AllocateOptions{})
		require.NoError(t, err)
	}()
	log.collect(t, 1)
	assert.Equal(t, 1, seen.leaked)
	assert.Zero(t, seen.live)
}

// BenchmarkObserved allocates and releases with sampling at several intervals.
func BenchmarkObserved(b *testing.B) {
	eachDevice(b, func(b *testing.B, dev *device.Device) {
		for name, interval := range map[string]uint64{"off": 0, "4 MiB": 4 << 20, "every block": 1} {
			b.Run(name, func(b *testing.B) {
				mgr := benchmarkManager(b, dev, memory.Options{})
				if interval > 0 {
					defer mgr.Observe(memory.Observer{SampleBytes: interval, Sampled: func(memory.Sample) func(bool) { return func(bool) {} }})()
				}
				benchmarkPairs(b, b.Loop, mgr, memory.AllocateOptions{Tag: "bench"})
			})
		}
	})
}

// A sampled block that is released later ends like any other, and the next block does not
// take its place.
func TestBlocksThatAreReleasedLaterEnd(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	var seen ledger
	stop := mgr.Observe(memory.Observer{SampleBytes: 1, Sampled: seen.sampled})
	block, err := mgr.Allocate(64, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, block.ReleaseLater())
	require.Zero(t, seen.live)
	stop()
	next, err := mgr.Allocate(64, memory.AllocateOptions{})
	require.NoError(t, err)
	require.Zero(t, seen.live)
	require.NoError(t, next.Release())
}
