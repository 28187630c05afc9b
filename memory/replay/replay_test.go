package replay_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor/trace"
	"github.com/gpuframe/gpuframe/memory/replay"
	"github.com/gpuframe/gpuframe/memory/resource"
)

func TestReplay(t *testing.T) {
	for _, test := range []struct {
		name    string
		lines   []string
		limit   uint64
		summary replay.Summary
		calls   []string
		result  replay.Result // without times and errors
	}{
		{
			name: "nothing",
		},
		{
			name:    "a pair",
			lines:   []string{"1,allocate,0x10,256,0", "1,free,0x10,256,0"},
			summary: replay.Summary{Allocations: 1, Frees: 1, Threads: 1, Streams: 1, PeakBytes: 256},
			calls:   []string{"+256", "-256"},
			result:  replay.Result{Allocations: 1, Frees: 1, PeakInUse: 256, AtPeak: replay.Moment{InUse: 256}},
		},
		{
			name: "threads take turns, one frees what the other allocated",
			lines: []string{
				"1,allocate,0x10,100,0", "2,allocate,0x20,200,0", "1,allocate,0x30,300,0",
				"2,free,0x10,100,0", "1,free,0x20,200,0", "2,free,0x30,300,0",
			},
			summary: replay.Summary{Allocations: 3, Frees: 3, Threads: 2, Streams: 1, PeakBytes: 600},
			calls:   []string{"+100", "+200", "+300", "-100", "-200", "-300"},
			result:  replay.Result{Allocations: 3, Frees: 3, PeakInUse: 600, AtPeak: replay.Moment{InUse: 600}},
		},
		{
			name: "streams: 0 and 1 are one, 2 is one for each thread, a free elsewhere names its stream",
			lines: []string{
				"1,allocate,0x10,1,0", "1,free,0x10,1,0x1", "1,allocate,0x20,2,0x2", "2,free,0x20,2,0x2",
				"1,allocate,0x30,3,0x77", "1,free,0x30,3,0x77",
			},
			summary: replay.Summary{Allocations: 3, Frees: 3, Threads: 2, Streams: 4, PeakBytes: 3},
			calls:   []string{"+1", "-1", "+2", "-2 further", "+3", "-3"},
			result:  replay.Result{Allocations: 3, Frees: 3, PeakInUse: 3, AtPeak: replay.Moment{InUse: 3}},
		},
		{
			name:    "a free of what was never allocated, a free of nothing, a second free",
			lines:   []string{"1,free,0x99,8,0", "1,free,(nil),0,0", "1,allocate,0x10,8,0", "1,free,0x10,8,0", "1,free,0x10,8,0"},
			summary: replay.Summary{Allocations: 1, Frees: 1, Threads: 1, Streams: 1, UnknownFrees: 2, PeakBytes: 8},
			calls:   []string{"+8", "-8"},
			result:  replay.Result{Allocations: 1, Frees: 1, PeakInUse: 8, AtPeak: replay.Moment{InUse: 8}},
		},
		{
			name:    "what the log leaves is freed after it",
			lines:   []string{"1,allocate,0x10,8,0", "1,allocate,0x20,16,0", "1,free,0x10,8,0"},
			summary: replay.Summary{Allocations: 2, Frees: 1, Threads: 1, Streams: 1, Unfreed: 1, UnfreedBytes: 16, PeakBytes: 24},
			calls:   []string{"+8", "+16", "-8", "-16"},
			result: replay.Result{Allocations: 2, Frees: 1, PeakInUse: 24,
				AtPeak: replay.Moment{InUse: 24}, AtEnd: replay.Moment{InUse: 16}},
		},
		{
			name: "an address that was logged again before its free is matched by size, then by age",
			lines: []string{
				"1,allocate,0x10,8,0", "2,allocate,0x10,16,0", "2,free,0x10,16,0", "1,free,0x10,8,0",
				"1,allocate,0x20,1,0", "2,allocate,0x20,2,0", "1,free,0x20,0,0", "2,free,0x20,0,0",
			},
			summary: replay.Summary{Allocations: 4, Frees: 4, Threads: 2, Streams: 1, Overlaps: 2, PeakBytes: 24},
			calls:   []string{"+8", "+16", "-16", "-8", "+1", "+2", "-1", "-2"},
			result:  replay.Result{Allocations: 4, Frees: 4, PeakInUse: 24, AtPeak: replay.Moment{InUse: 24}},
		},
		{
			name:    "empty allocations reach no resource",
			lines:   []string{"1,allocate,(nil),0,0", "1,allocate,(nil),0,0", "1,free,(nil),0,0", "1,free,(nil),0,0"},
			summary: replay.Summary{Allocations: 2, Frees: 2, Threads: 1, Streams: 1},
			result:  replay.Result{Allocations: 2, Frees: 2},
		},
		{
			name:    "failures of the log are left out",
			lines:   []string{"1,allocate failure,(nil),1099511627776,0", "1,allocate,0x10,8,0", "1,free,0x10,8,0"},
			summary: replay.Summary{Allocations: 1, Frees: 1, Threads: 1, Streams: 1, LoggedFailures: 1, PeakBytes: 8},
			calls:   []string{"+8", "-8"},
			result:  replay.Result{Allocations: 1, Frees: 1, PeakInUse: 8, AtPeak: replay.Moment{InUse: 8}},
		},
		{
			name: "failures of today are counted and their frees left out",
			lines: []string{
				"1,allocate,0x10,8,0", "1,allocate,0x20,5000,0", "2,allocate,0x30,6000,0",
				"1,free,0x20,5000,0", "1,free,0x10,8,0", "2,free,0x30,6000,0",
			},
			limit:   4096,
			summary: replay.Summary{Allocations: 3, Frees: 3, Threads: 2, Streams: 1, PeakBytes: 11008},
			calls:   []string{"+8", "-8"},
			result:  replay.Result{Allocations: 1, Frees: 1, Failures: 2, PeakInUse: 8, AtPeak: replay.Moment{InUse: 8}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			devicetest.Each(t, func(t *testing.T, dev *device.Device) {
				log := load(t, test.lines...)
				assert.Equal(t, test.summary, log.Summary())
				for _, concurrent := range []bool{false, true} {
					resource := newLedger(dev)
					if test.limit > 0 {
						resource.limit = test.limit
					}
					var told atomic.Int64
					p := player(t, log, resource, replay.Options{Concurrent: concurrent, Progress: func(n int) { told.Add(int64(n)) }})
					for range 2 {
						told.Store(0)
						resource.calls = nil
						result, err := p.Run(context.Background())
						require.NoError(t, err)
						if test.result.Failures > 0 {
							require.ErrorIs(t, result.FirstFailure, device.ErrOutOfMemory)
							require.ErrorContains(t, result.FirstFailure, "line 3: allocate 5000 bytes", "the first in the log")
						}
						result.Elapsed, result.FirstFailure = 0, nil
						assert.Equal(t, test.result, result)
						assert.Equal(t, int64(test.summary.Allocations+test.summary.Frees), told.Load())
						assert.Empty(t, resource.live)
						if concurrent {
							assert.ElementsMatch(t, test.calls, resource.calls)
						} else {
							assert.Equal(t, test.calls, resource.calls)
						}
					}
				}
			})
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, test := range map[string]struct{ log, text string }{
		"no header":     {"", "no header"},
		"no such size":  {logOf("1,allocate,0x10,big,0"), `line 2, column 33: Size "big"`},
		"half a line":   {logOf("1,allocate,0x10,8,0") + "1,12", "line 3"},
		"no such thing": {logOf("1,reallocate,0x10,8,0"), `Action "reallocate"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := replay.Load(trace.Read(strings.NewReader(test.log)))
			var parse *trace.ParseError
			require.ErrorAs(t, err, &parse)
			require.ErrorContains(t, err, test.text)
		})
	}
	t.Run("more than there is", func(t *testing.T) {
		huge := fmt.Sprintf("1,allocate,0x10,%d,0", uint64(math.MaxUint64))
		_, err := replay.Load(trace.Read(strings.NewReader(logOf(huge, "1,allocate,0x20,1,0"))))
		require.ErrorIs(t, err, memory.ErrOverflow)
		require.ErrorContains(t, err, "line 3")
	})
}

func TestNewPlayerRefusesSpeeds(t *testing.T) {
	for _, speed := range []float64{-1, math.NaN()} {
		_, err := replay.NewPlayer(load(t), newLedger(devicetest.Open(t, "host")), replay.Options{Speed: speed})
		require.ErrorIs(t, err, device.ErrInvalidValue)
	}
}

// busy is a log in which two threads free each other's memory.
var busy = []string{
	"1,allocate,0x10,100,0", "2,allocate,0x20,200,0x5", "1,free,0x20,200,0", "2,free,0x10,100,0x5",
	"1,allocate,0x10,100,0", "2,allocate,0x20,200,0x5", "1,free,0x20,200,0", "2,free,0x10,100,0x5",
}

func TestRunEnds(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		prepare func(resource *ledger)
		want    error
		text    string
	}{
		"a free that fails": {func(r *ledger) { r.failure = broken }, broken, "free"},
		"a lost device":     {func(r *ledger) { r.lost = true }, device.ErrDeviceLost, "line 2: allocate 100 bytes"},
	} {
		for _, concurrent := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, concurrent %v", name, concurrent), func(t *testing.T) {
				resource := newLedger(devicetest.Open(t, "host"))
				test.prepare(resource)
				_, err := player(t, load(t, busy...), resource, replay.Options{Concurrent: concurrent}).Run(context.Background())
				require.ErrorIs(t, err, test.want)
				if !concurrent {
					require.ErrorContains(t, err, test.text)
				}
				assert.Empty(t, resource.live)
			})
		}
	}
	t.Run("before it begins", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		resource := newLedger(devicetest.Open(t, "host"))
		_, err := player(t, load(t, busy...), resource, replay.Options{}).Run(ctx)
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, resource.calls)
	})
	for _, concurrent := range []bool{false, true} {
		t.Run(fmt.Sprintf("while it waits for the time of a request, concurrent %v", concurrent), func(t *testing.T) {
			resource := newLedger(devicetest.Open(t, "host"))
			ctx, cancel := context.WithCancel(context.Background())
			// At this speed the second line is years away.
			options := replay.Options{Concurrent: concurrent, Speed: 1e-15}
			p := player(t, load(t, "1,allocate,0x10,8,0", "2,free,0x10,8,0"), &cancelling{resource, cancel}, options)
			_, err := p.Run(ctx)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorContains(t, err, "line 3")
			assert.Equal(t, []string{"+8", "-8"}, resource.calls)
		})
	}
}

// cancelling cancels the run when its Allocate is called.
type cancelling struct {
	*ledger
	cancel func()
}

func (c *cancelling) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	defer c.cancel()
	return c.ledger.Allocate(bytes, stream)
}

func TestFootprint(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		_, known, err := replay.FootprintOf(newLedger(dev))
		require.NoError(t, err)
		assert.False(t, known, "the driver is asked for each allocation")

		pool, err := memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, pool.Close()) }()
		result, err := player(t, load(t, "1,allocate,0x10,1000,0", "1,free,0x10,1000,0"), pool, replay.Options{}).Run(context.Background())
		require.NoError(t, err)
		assert.True(t, result.KnowsFootprint)
		assert.GreaterOrEqual(t, result.AtPeak.Reserved, uint64(1000))
	})
}

func TestFragmentation(t *testing.T) {
	assert.Zero(t, replay.Moment{InUse: 5}.Fragmentation(), "nothing is known")
	assert.Zero(t, replay.Moment{InUse: 5, Footprint: replay.Footprint{Reserved: 5}}.Fragmentation())
	assert.InDelta(t, 0.75, replay.Moment{InUse: 1, Footprint: replay.Footprint{Reserved: 4}}.Fragmentation(), 1e-9)
}

// TestAnyLog replays random, inconsistent logs.
func TestAnyLog(t *testing.T) {
	dev := devicetest.Open(t, "host")
	property.Check(t, func(t *rapid.T) {
		event := rapid.Custom(func(t *rapid.T) trace.Event {
			return trace.Event{
				Thread:  rapid.Uint64Range(1, 3).Draw(t, "thread"),
				Action:  rapid.SampledFrom([]trace.Action{trace.Allocate, trace.Allocate, trace.Free, trace.AllocateFailure}).Draw(t, "action"),
				Pointer: rapid.Uint64Range(0, 6).Draw(t, "pointer"),
				Size:    rapid.Uint64Range(0, 100).Draw(t, "size"),
				Stream:  rapid.Uint64Range(0, 4).Draw(t, "stream"),
			}
		})
		events := rapid.SliceOf(event).Draw(t, "events")
		log, err := replay.Load(func(yield func(trace.Event, error) bool) {
			for _, event := range events {
				if !yield(event, nil) {
					return
				}
			}
		})
		require.NoError(t, err)
		resource := newLedger(dev)
		resource.limit = 90
		p, err := replay.NewPlayer(log, resource, replay.Options{Concurrent: rapid.Bool().Draw(t, "concurrent")})
		require.NoError(t, err)
		result, err := p.Run(context.Background())
		require.NoError(t, err)
		require.NoError(t, p.Close())

		s := log.Summary()
		assert.Equal(t, s.Allocations, result.Allocations+result.Failures)
		assert.Equal(t, s.Allocations, s.Frees+s.Unfreed)
		assert.LessOrEqual(t, result.Frees, s.Frees)
		assert.LessOrEqual(t, result.PeakInUse, s.PeakBytes)
		assert.Empty(t, resource.live)
	})
}
