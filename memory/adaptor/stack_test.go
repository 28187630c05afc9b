package adaptor_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/adaptor/trace"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// level is an adaptor in a stack and its model.
type level struct {
	memory.Resource
	name string
	// allocate is called for each request and reports whether it is granted.
	allocate func(bytes uint64) bool
	// free is called for each free and reports whether it fails.
	free func(bytes uint64) (fails bool)
	// check compares the statistics of the adaptor with those of the model.
	check func(t require.TestingT)
}

func bottom(resource memory.Resource) *level {
	return &level{
		Resource: resource, name: "foot",
		allocate: func(uint64) bool { return true },
		free:     func(uint64) bool { return false },
		check:    func(require.TestingT) {},
	}
}

// kinds put an adaptor with random options on a stack.
var kinds = []func(t *rapid.T, below *level) *level{
	limitLevel, statisticsLevel, trackingLevel, loggingLevel, retryLevel, poisonLevel, guardLevel, faultLevel, alignedLevel, borrowedLevel,
}

// through is a model that passes everything on.
func through(resource memory.Resource, name string, below *level) *level {
	return &level{Resource: resource, name: name, allocate: below.allocate, free: below.free, check: func(require.TestingT) {}}
}

func limitLevel(t *rapid.T, below *level) *level {
	limit := rapid.Uint64Range(0, 30_000).Draw(t, "limit")
	unit := rapid.SampledFrom([]uint64{0, 1, 256, 1000}).Draw(t, "granularity")
	resource := adaptor.NewLimit(below, limit, adaptor.LimitOptions{Granularity: unit})
	var inUse uint64
	counted := func(bytes uint64) uint64 {
		if unit == 0 {
			return bytes
		}
		return (bytes + unit - 1) / unit * unit
	}
	l := through(resource, "limit", below)
	l.allocate = func(bytes uint64) bool {
		if inUse+counted(bytes) > limit || !below.allocate(bytes) {
			return false
		}
		inUse += counted(bytes)
		return true
	}
	l.free = func(bytes uint64) bool {
		inUse -= counted(bytes)
		return below.free(bytes)
	}
	l.check = func(t require.TestingT) {
		require.Equal(t, inUse, resource.InUse())
		require.Equal(t, limit-inUse, resource.Remaining())
	}
	return l
}

func statisticsLevel(t *rapid.T, below *level) *level {
	resource := adaptor.NewStatistics(below)
	var want adaptor.Figures
	scopes := 0
	change := func(bytes, count int64) {
		want.Bytes.Current += bytes
		want.Allocations.Current += count
		want.Bytes.Peak = max(want.Bytes.Peak, want.Bytes.Current)
		want.Allocations.Peak = max(want.Allocations.Peak, want.Allocations.Current)
		want.Bytes.Total += max(bytes, 0)
		want.Allocations.Total += max(count, 0)
		// The overall figures do not depend on the scopes.
		if rapid.Bool().Draw(t, "push") {
			resource.Push()
			scopes++
		}
		for scopes > 0 && rapid.Bool().Draw(t, "pop") {
			_, err := resource.Pop()
			require.NoError(t, err)
			scopes--
		}
	}
	l := through(resource, "statistics", below)
	l.allocate = func(bytes uint64) bool {
		granted := below.allocate(bytes)
		if granted {
			// The model runs before the call, so the change is made after it.
			pending := l.check
			l.check = func(t require.TestingT) {
				change(int64(bytes), 1)
				pending(t)
				l.check = pending
			}
		}
		return granted
	}
	l.free = func(bytes uint64) bool {
		pending := l.check
		l.check = func(t require.TestingT) {
			change(-int64(bytes), -1)
			pending(t)
			l.check = pending
		}
		return below.free(bytes)
	}
	l.check = func(t require.TestingT) { require.Equal(t, want, resource.Overall()) }
	return l
}

func trackingLevel(t *rapid.T, below *level) *level {
	resource := adaptor.NewTracking(below, adaptor.TrackingOptions{Stacks: rapid.Bool().Draw(t, "stacks")})
	var bytes, blocks uint64
	l := through(resource, "tracking", below)
	l.allocate = func(asked uint64) bool {
		granted := below.allocate(asked)
		if granted {
			bytes, blocks = bytes+asked, blocks+1
		}
		return granted
	}
	l.free = func(freed uint64) bool {
		bytes, blocks = bytes-freed, blocks-1
		return below.free(freed)
	}
	l.check = func(t require.TestingT) {
		err := resource.CheckEmpty()
		if blocks == 0 {
			require.NoError(t, err)
			return
		}
		var outstanding *adaptor.OutstandingError
		require.ErrorAs(t, err, &outstanding)
		require.Equal(t, bytes, outstanding.Bytes)
		require.Len(t, outstanding.Outstanding, int(blocks))
	}
	return l
}

func loggingLevel(_ *rapid.T, below *level) *level {
	var log bytes.Buffer
	resource := adaptor.NewLogging(below, adaptor.LoggingOptions{CSV: &log})
	var want []string
	l := through(resource, "logging", below)
	l.allocate = func(bytes uint64) bool {
		granted := below.allocate(bytes)
		action := trace.AllocateFailure
		if granted {
			action = trace.Allocate
		}
		want = append(want, fmt.Sprintf("%v %d", action, bytes))
		return granted
	}
	l.free = func(bytes uint64) bool {
		want = append(want, fmt.Sprintf("%v %d", trace.Free, bytes))
		return below.free(bytes)
	}
	l.check = func(t require.TestingT) {
		require.NoError(t, resource.Flush())
		var got []string
		for event, err := range trace.Read(bytes.NewReader(log.Bytes())) {
			require.NoError(t, err)
			got = append(got, fmt.Sprintf("%v %d", event.Action, event.Size))
		}
		require.Equal(t, want, got)
	}
	return l
}

func retryLevel(t *rapid.T, below *level) *level {
	patience := rapid.IntRange(0, 2).Draw(t, "patience")
	calls := 0
	resource := adaptor.NewRetry(below, func(uint64, error) bool {
		calls++
		return calls%(patience+1) != 0
	}, adaptor.RetryOptions{})
	l := through(resource, "retry", below)
	l.allocate = func(bytes uint64) bool {
		calls = 0
		for range patience + 1 {
			if below.allocate(bytes) {
				return true
			}
		}
		return false
	}
	return l
}

func poisonLevel(t *rapid.T, below *level) *level {
	return through(adaptor.NewPoison(below, adaptor.PoisonOptions{
		KeepAllocated: rapid.Bool().Draw(t, "keep allocated"), KeepFreed: rapid.Bool().Draw(t, "keep freed"),
	}), "poison", below)
}

func guardLevel(t *rapid.T, below *level) *level {
	zone := rapid.SampledFrom([]uint64{0, 256, 512}).Draw(t, "red zone")
	resource := adaptor.NewGuard(below, adaptor.GuardOptions{RedZone: zone})
	live := 0
	l := through(resource, "guard", below)
	l.allocate = func(bytes uint64) bool {
		granted := below.allocate(bytes + 2*zone)
		if granted {
			live++
		}
		return granted
	}
	l.free = func(bytes uint64) bool {
		live--
		return below.free(bytes + 2*zone)
	}
	l.check = func(t require.TestingT) { require.Equal(t, live, resource.Live()) }
	return l
}

func faultLevel(t *rapid.T, below *level) *level {
	allocate := adaptor.FaultRule{Nth: rapid.Uint64Range(0, 10).Draw(t, "nth"), Every: rapid.Uint64Range(0, 6).Draw(t, "every")}
	free := adaptor.FaultRule{Every: rapid.SampledFrom([]uint64{0, 0, 3}).Draw(t, "every free")}
	resource := adaptor.NewFault(below, adaptor.FaultOptions{Allocate: allocate, Free: free})
	var requests, frees adaptor.FaultCount
	step := func(count *adaptor.FaultCount, rule adaptor.FaultRule) bool {
		count.Seen++
		fails := count.Seen == rule.Nth || rule.Every > 0 && count.Seen%rule.Every == 0
		if fails {
			count.Failed++
		}
		return fails
	}
	l := through(resource, "fault", below)
	l.allocate = func(bytes uint64) bool { return !step(&requests, allocate) && below.allocate(bytes) }
	l.free = func(bytes uint64) bool {
		fails := step(&frees, free)
		return below.free(bytes) || fails
	}
	l.check = func(t require.TestingT) {
		require.Equal(t, requests, resource.Requests())
		require.Equal(t, frees, resource.Frees())
	}
	return l
}

func alignedLevel(t *rapid.T, below *level) *level {
	options := adaptor.AlignedOptions{
		Alignment: rapid.SampledFrom([]uint64{1, 64, 512, 4096}).Draw(t, "alignment"),
		Threshold: rapid.Uint64Range(0, 1000).Draw(t, "threshold"),
	}
	natural := uint64(256)
	if below.Device().Kind() == device.Host {
		natural = 64
	}
	asked := func(bytes uint64) uint64 {
		if bytes < options.Threshold || options.Alignment <= natural {
			return bytes
		}
		return bytes + options.Alignment - natural
	}
	l := through(newAligned(t, below, options), "aligned", below)
	l.allocate = func(bytes uint64) bool { return below.allocate(asked(bytes)) }
	l.free = func(bytes uint64) bool { return below.free(asked(bytes)) }
	return l
}

func borrowedLevel(_ *rapid.T, below *level) *level {
	return through(adaptor.NewBorrowed(below), "borrowed", below)
}

// held is an allocation of the test and its fill byte.
type held struct {
	allocation resource.Allocation
	value      uint8
	used       []*device.Stream
}

func TestStacksInAnyOrder(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, shared *ledger) {
		streams := []*device.Stream{newStream(t, dev), newStream(t, dev), dev.DefaultStream()}
		property.Check(t, func(t *rapid.T) {
			// A run that rapid aborts must not affect the next one.
			foot := newLedger(shared.Resource)
			levels := []*level{bottom(foot)}
			for range rapid.IntRange(1, 6).Draw(t, "height") {
				kind := rapid.SampledFrom(kinds).Draw(t, "kind")
				levels = append(levels, kind(t, levels[len(levels)-1]))
			}
			top := levels[len(levels)-1]
			check := func() {
				for _, l := range levels {
					l.check(t)
				}
			}
			var blocks []held
			allocate := func(*rapid.T) {
				bytes := rapid.Uint64Range(1, 6000).Draw(t, "bytes")
				stream := rapid.SampledFrom(streams).Draw(t, "stream")
				granted := top.allocate(bytes)
				allocation, err := top.Allocate(bytes, stream)
				if !granted {
					require.True(t, errors.Is(err, memory.ErrBudget) || errors.Is(err, adaptor.ErrInjected), "%v", err)
					check()
					return
				}
				require.NoError(t, err)
				require.Equal(t, bytes, allocation.Bytes)
				require.Same(t, stream, allocation.Stream)
				block := held{allocation: allocation, value: rapid.Uint8().Draw(t, "value")}
				use := rapid.SampledFrom(streams).Draw(t, "used on")
				if use != stream {
					require.NoError(t, use.WaitStream(stream))
					block.used = append(block.used, use)
				}
				fill(t, allocation, use, block.value)
				blocks = append(blocks, block)
				check()
			}
			free := func(i int) {
				block := blocks[i]
				blocks = append(blocks[:i], blocks[i+1:]...)
				a := block.allocation
				if rapid.Bool().Draw(t, "verify") {
					got := contents(t, a.Pointer, a.Bytes, append(block.used, a.Stream)...)
					require.True(t, all(got, block.value), "somebody else has written to the memory")
				}
				fails := top.free(a.Bytes)
				err := top.Free(a, block.used)
				if fails {
					require.ErrorIs(t, err, adaptor.ErrInjected)
				} else {
					require.NoError(t, err)
				}
				check()
			}
			t.Repeat(map[string]func(*rapid.T){
				"allocate":   allocate,
				"allocate 2": allocate, // as often as all other actions
				"free": func(t *rapid.T) {
					if len(blocks) > 0 {
						free(rapid.IntRange(0, len(blocks)-1).Draw(t, "victim"))
					}
				},
			})
			for len(blocks) > 0 {
				free(len(blocks) - 1)
			}
			foot.requireEmpty(t)
		})
	})
}

func TestStackUnderManyGoroutines(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		const (
			goroutines = 32
			rounds     = 40
			size       = 700 // the maximum request size
		)
		streams := make([]*device.Stream, 4)
		for i := range streams {
			streams[i] = newStream(t, dev)
		}
		var log bytes.Buffer
		var retries atomic.Uint64
		lower := adaptor.NewStatistics(foot)
		fault := adaptor.NewFault(lower, adaptor.FaultOptions{Allocate: adaptor.FaultRule{Probability: 0.2}, Seed: 7})
		retry := adaptor.NewRetry(fault, func(uint64, error) bool { return retries.Add(1)%2 == 0 }, adaptor.RetryOptions{})
		aligned := newAligned(t, retry, adaptor.AlignedOptions{Alignment: 1024, Threshold: 300})
		poison := adaptor.NewPoison(aligned, adaptor.PoisonOptions{})
		tracking := adaptor.NewTracking(poison, adaptor.TrackingOptions{Stacks: true})
		guard := adaptor.NewGuard(tracking, adaptor.GuardOptions{})
		limit := adaptor.NewLimit(guard, goroutines*size/2, adaptor.LimitOptions{})
		upper := adaptor.NewStatistics(limit)
		logging := adaptor.NewLogging(upper, adaptor.LoggingOptions{CSV: &log})

		var granted, bytesGranted, failed atomic.Uint64
		var group sync.WaitGroup
		for g := range goroutines {
			group.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(g)))
				stream, other := streams[g%len(streams)], streams[(g+1)%len(streams)]
				for range rounds {
					asked := 1 + random.Uint64N(size)
					allocation, err := logging.Allocate(asked, stream)
					if err != nil {
						failed.Add(1)
						assert.True(t, errors.Is(err, memory.ErrBudget) || errors.Is(err, adaptor.ErrInjected), "%v", err)
						continue
					}
					granted.Add(1)
					bytesGranted.Add(asked)
					assert.LessOrEqual(t, limit.InUse(), limit.Limit())
					assert.NoError(t, other.WaitStream(stream))
					fill(t, allocation, other, uint8(g))
					if random.IntN(4) == 0 {
						assert.True(t, all(contents(t, allocation.Pointer, asked, other), uint8(g)))
					}
					assert.NoError(t, logging.Free(allocation, []*device.Stream{other}))
				}
			})
		}
		group.Wait()

		assert.EqualValues(t, goroutines*rounds, granted.Load()+failed.Load())
		figures := upper.Figures()
		assert.EqualValues(t, granted.Load(), figures.Allocations.Total)
		assert.EqualValues(t, bytesGranted.Load(), figures.Bytes.Total)
		assert.Zero(t, figures.Allocations.Current)
		assert.Zero(t, figures.Bytes.Current)
		assert.LessOrEqual(t, uint64(figures.Bytes.Peak), limit.Limit())
		assert.Equal(t, figures.Allocations.Total, lower.Figures().Allocations.Total)
		assert.Zero(t, lower.Figures().Bytes.Current)
		assert.Zero(t, limit.InUse())
		assert.Zero(t, guard.Live())
		assert.NoError(t, tracking.CheckEmpty())
		assert.Equal(t, fault.Requests().Failed, retries.Load())
		assert.Equal(t, fault.Requests().Seen-fault.Requests().Failed, granted.Load())

		require.NoError(t, logging.Flush())
		requireReplayable(t, &log, granted.Load(), failed.Load())
	})
}

// requireReplayable checks that a log neither allocates a held address nor frees an
// address that is not held.
func requireReplayable(t *testing.T, log *bytes.Buffer, granted, failed uint64) {
	t.Helper()
	var allocations, failures uint64
	live := make(map[uint64]uint64)
	for event, err := range trace.Read(log) {
		require.NoError(t, err)
		size, held := live[event.Pointer]
		switch event.Action {
		case trace.Allocate:
			require.False(t, held, "line %d", event.Line)
			live[event.Pointer] = event.Size
			allocations++
		case trace.Free:
			require.True(t, held, "line %d", event.Line)
			require.Equal(t, size, event.Size)
			delete(live, event.Pointer)
		case trace.AllocateFailure:
			failures++
		}
	}
	assert.Empty(t, live)
	assert.Equal(t, granted, allocations)
	assert.Equal(t, failed, failures)
}
