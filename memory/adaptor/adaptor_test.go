package adaptor_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/resource"
)

func newAligned(t require.TestingT, upstream memory.Resource, options adaptor.AlignedOptions) *adaptor.Aligned {
	a, err := adaptor.NewAligned(upstream, options)
	require.NoError(t, err)
	return a
}

func TestWhatAnAdaptorHasNoPartIn(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		for name, make := range map[string]func() layer{
			"aligned":    func() layer { return newAligned(t, foot, adaptor.AlignedOptions{}) },
			"fault":      func() layer { return adaptor.NewFault(foot, adaptor.FaultOptions{}) },
			"guard":      func() layer { return adaptor.NewGuard(foot, adaptor.GuardOptions{}) },
			"limit":      func() layer { return adaptor.NewLimit(foot, 1, adaptor.LimitOptions{}) },
			"logging":    func() layer { return adaptor.NewLogging(foot, adaptor.LoggingOptions{}) },
			"poison":     func() layer { return adaptor.NewPoison(foot, adaptor.PoisonOptions{}) },
			"retry":      func() layer { return adaptor.NewRetry(foot, nil, adaptor.RetryOptions{}) },
			"statistics": func() layer { return adaptor.NewStatistics(foot) },
			"tracking":   func() layer { return adaptor.NewTracking(foot, adaptor.TrackingOptions{}) },
			"borrowed":   func() layer { return adaptor.NewBorrowed(foot) },
		} {
			t.Run(name, func(t *testing.T) {
				tested := make()
				assert.Same(t, dev, tested.Device())
				assert.Equal(t, foot.Kind(), tested.Kind())
				assert.Same(t, foot, tested.Upstream())
				found, ok := resource.Find[*ledger](adaptor.NewBorrowed(tested))
				assert.True(t, ok)
				assert.Same(t, foot, found)

				foot.cached = 100
				released, err := tested.Trim(30)
				require.NoError(t, err)
				assert.EqualValues(t, 70, released)
				nothing := adaptor.NewBorrowed(memory.NewDriverResource(dev))
				released, err = nothing.Trim(0)
				require.NoError(t, err)
				assert.Zero(t, released, "there is no cache below")
			})
		}
	})
}

// closer only counts.
type closer struct {
	memory.Resource
	calls int
	err   error
}

func (c *closer) Close() error {
	c.calls++
	return c.err
}

func TestCloseGoesDownOnce(t *testing.T) {
	lost := errors.New("lost")
	foot := &closer{err: lost}
	limit := adaptor.NewLimit(adaptor.NewLogging(foot, adaptor.LoggingOptions{}), 1, adaptor.LimitOptions{})
	require.ErrorIs(t, limit.Close(), lost)
	require.ErrorIs(t, limit.Close(), memory.ErrClosed)
	assert.Equal(t, 1, foot.calls)

	borrower := adaptor.NewLimit(adaptor.NewBorrowed(foot), 1, adaptor.LimitOptions{})
	require.NoError(t, borrower.Close())
	assert.Equal(t, 1, foot.calls, "what is borrowed stays open")
}

func TestLimit(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		stream := newStream(t, dev)
		limit := adaptor.NewLimit(foot, 1024, adaptor.LimitOptions{Granularity: 256})
		assert.EqualValues(t, 1024, limit.Limit())
		first, err := limit.Allocate(257, stream)
		require.NoError(t, err)
		assert.EqualValues(t, 512, limit.InUse(), "rounded up")
		assert.EqualValues(t, 512, limit.Remaining())

		for _, asked := range []uint64{513, 4096, math.MaxUint64, math.MaxUint64 - 300} {
			_, err = limit.Allocate(asked, stream)
			require.ErrorIs(t, err, memory.ErrBudget)
			var refused *adaptor.LimitError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, adaptor.LimitError{Asked: asked, InUse: 512, Limit: 1024}, *refused)
		}
		assert.Contains(t, err.Error(), "512 B of 1.0 KiB in use")
		assert.EqualValues(t, 1, foot.served, "the upstream was not asked")

		second, err := limit.Allocate(512, stream)
		require.NoError(t, err)
		assert.Zero(t, limit.Remaining())
		require.NoError(t, limit.Free(first, nil))
		require.NoError(t, limit.Free(second, nil))
		assert.Zero(t, limit.InUse())

		fault := adaptor.NewFault(foot, adaptor.FaultOptions{Allocate: adaptor.FaultRule{Every: 1}, Free: adaptor.FaultRule{Every: 1}})
		limit = adaptor.NewLimit(fault, 100, adaptor.LimitOptions{})
		_, err = limit.Allocate(100, stream)
		require.ErrorIs(t, err, device.ErrOutOfMemory)
		assert.Zero(t, limit.InUse(), "given back after a failure")
		fault.Arm(adaptor.FaultOptions{Free: adaptor.FaultRule{Every: 1}})
		last, err := limit.Allocate(100, stream)
		require.NoError(t, err)
		require.ErrorIs(t, limit.Free(last, nil), device.ErrDeviceLost)
		assert.Zero(t, limit.InUse(), "a free that fails is one")
	})
}

func TestStatistics(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		stream := newStream(t, dev)
		fault := adaptor.NewFault(foot, adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: 4}})
		statistics := adaptor.NewStatistics(fault)
		allocate := func(bytes uint64) resource.Allocation {
			allocation, err := statistics.Allocate(bytes, stream)
			require.NoError(t, err)
			return allocation
		}
		free := func(allocation resource.Allocation) { require.NoError(t, statistics.Free(allocation, nil)) }
		counter := func(current, peak, total int64) adaptor.Counter {
			return adaptor.Counter{Current: current, Peak: peak, Total: total}
		}

		_, err := statistics.Pop()
		require.ErrorIs(t, err, device.ErrInvalidValue)
		outer := allocate(100)
		assert.Equal(t, adaptor.Figures{Bytes: counter(100, 100, 100), Allocations: counter(1, 1, 1)}, statistics.Push())
		free(outer)
		inner := allocate(30)
		assert.Equal(t, adaptor.Figures{Bytes: counter(-70, 0, 30), Allocations: counter(0, 0, 1)}, statistics.Figures())
		statistics.Push()
		innermost := allocate(200)
		_, err = statistics.Allocate(1000, stream)
		require.ErrorIs(t, err, adaptor.ErrInjected)
		free(innermost)
		assert.Equal(t, adaptor.Figures{Bytes: counter(130-100, 230, 330), Allocations: counter(1, 2, 3)}, statistics.Overall())

		scope, err := statistics.Pop()
		require.NoError(t, err)
		assert.Equal(t, adaptor.Figures{Bytes: counter(0, 200, 200), Allocations: counter(0, 1, 1)}, scope)
		scope, err = statistics.Pop()
		require.NoError(t, err)
		assert.Equal(t, adaptor.Figures{Bytes: counter(-70, 130, 230), Allocations: counter(0, 1, 2)}, scope)
		free(inner)
		want := adaptor.Figures{Bytes: counter(0, 230, 330), Allocations: counter(0, 2, 3)}
		assert.Equal(t, want, statistics.Figures())
		assert.Equal(t, want, statistics.Overall())
		assert.Equal(t, "0 B in 0 allocations, peak 230 B in 2, total 330 B in 3", want.String())
		assert.Equal(t, "-70 B in 0 allocations, peak 130 B in 1, total 230 B in 2", scope.String())
	})
}

func TestTracking(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		stream := newStream(t, dev)
		tracking := adaptor.NewTracking(foot, adaptor.TrackingOptions{Stacks: true})
		require.NoError(t, tracking.CheckEmpty())
		var held []resource.Allocation
		for _, bytes := range []uint64{10, 20, 30} {
			allocation, err := tracking.Allocate(bytes, stream)
			require.NoError(t, err)
			held = append(held, allocation)
		}
		require.NoError(t, tracking.Free(held[1], nil))

		list := tracking.Outstanding()
		require.Len(t, list, 2)
		for i, want := range []resource.Allocation{held[0], held[2]} {
			assert.Equal(t, want.Pointer, list[i].Pointer)
			assert.Equal(t, want.Bytes, list[i].Bytes)
			assert.Same(t, stream, list[i].Stream)
			assert.False(t, list[i].Since.IsZero())
			assert.True(t, strings.HasPrefix(list[i].Stack, "github.com/gpuframe/gpuframe/memory/adaptor_test.TestTracking"), list[i].Stack)
			assert.Contains(t, list[i].Stack, "adaptor_test.go:")
		}
		assert.EqualValues(t, []uint64{1, 3}, []uint64{list[0].Number, list[1].Number})

		err := tracking.CheckEmpty()
		require.ErrorIs(t, err, memory.ErrLeak)
		var outstanding *adaptor.OutstandingError
		require.ErrorAs(t, err, &outstanding)
		assert.EqualValues(t, 40, outstanding.Bytes)
		for _, text := range []string{"2 allocations of 40 B", "allocation 1: 10 B", "adaptor_test.go:"} {
			assert.Contains(t, err.Error(), text)
		}

		var report bytes.Buffer
		require.NoError(t, tracking.WriteReport(&report))
		assert.Contains(t, report.String(), "40 B in 2 blocks outstanding\n40 B in 2 blocks, allocated at\n\tgithub.com/")

		require.NoError(t, tracking.Free(held[0], nil))
		require.NoError(t, tracking.Free(held[2], nil))
		require.NoError(t, tracking.CheckEmpty())

		plain := adaptor.NewTracking(foot, adaptor.TrackingOptions{Depth: 5})
		for range 12 {
			allocation, err := plain.Allocate(1, stream)
			require.NoError(t, err)
			held = append(held, allocation)
		}
		assert.Empty(t, plain.Outstanding()[0].Stack)
		assert.ErrorContains(t, plain.CheckEmpty(), "and 2 later ones")
		report.Reset()
		require.NoError(t, plain.WriteReport(&report))
		assert.Equal(t, "12 B in 12 blocks outstanding\n12 B in 12 blocks\n", report.String())
		for _, allocation := range held[3:] {
			require.NoError(t, plain.Free(allocation, nil))
		}
	})
}

func TestRetry(t *testing.T) {
	other := errors.New("other")
	for name, test := range map[string]struct {
		fails, patience int
		cause           error
		conditions      []error
		calls           int
		succeeds        bool
	}{
		"helps":                   {2, 5, nil, nil, 2, true},
		"gives up":                {9, 3, nil, nil, 4, false},
		"another error":           {1, 5, other, nil, 0, false},
		"a budget":                {1, 5, fmt.Errorf("full: %w", memory.ErrBudget), nil, 1, true},
		"a condition of the user": {1, 5, other, []error{other}, 1, true},
		"not that condition":      {1, 5, nil, []error{other}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
				stream := newStream(t, dev)
				fault := adaptor.NewFault(foot, adaptor.FaultOptions{Allocate: adaptor.FaultRule{Every: 1}, AllocateError: test.cause})
				calls := 0
				retry := adaptor.NewRetry(fault, func(bytes uint64, err error) bool {
					assert.EqualValues(t, 77, bytes)
					assert.ErrorIs(t, err, adaptor.ErrInjected)
					if calls++; calls == test.fails {
						fault.Arm(adaptor.FaultOptions{})
					}
					return calls <= test.patience
				}, adaptor.RetryOptions{Conditions: test.conditions})
				allocation, err := retry.Allocate(77, stream)
				assert.Equal(t, test.calls, calls)
				if !test.succeeds {
					require.ErrorIs(t, err, adaptor.ErrInjected)
					return
				}
				require.NoError(t, err)
				require.NoError(t, retry.Free(allocation, nil))
			})
		})
	}
}

func TestRetryWithoutACallbackOnlyAsksOnce(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		fault := adaptor.NewFault(foot, adaptor.FaultOptions{Allocate: adaptor.FaultRule{Every: 1}})
		_, err := adaptor.NewRetry(fault, nil, adaptor.RetryOptions{}).Allocate(1, dev.DefaultStream())
		require.ErrorIs(t, err, device.ErrOutOfMemory)
		assert.Equal(t, adaptor.FaultCount{Seen: 1, Failed: 1}, fault.Requests())
	})
}

// keeper keeps freed memory, so that a test can inspect it.
type keeper struct {
	memory.Resource
	kept    []resource.Allocation
	further [][]*device.Stream
}

func (k *keeper) Free(allocation resource.Allocation, further []*device.Stream) error {
	k.kept = append(k.kept, allocation)
	k.further = append(k.further, further)
	return nil
}

func (k *keeper) release(t *testing.T) {
	for i, allocation := range k.kept {
		require.NoError(t, k.Resource.Free(allocation, k.further[i]))
	}
}

func TestPoison(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		stream, other := newStream(t, dev), newStream(t, dev)
		const size = 1000
		for name, test := range map[string]struct {
			options   adaptor.PoisonOptions
			allocated uint8
			freed     uint8
		}{
			"both":      {adaptor.PoisonOptions{}, adaptor.PoisonAllocated, adaptor.PoisonFreed},
			"own bytes": {adaptor.PoisonOptions{Allocated: 1, Freed: 2}, 1, 2},
			"allocate":  {adaptor.PoisonOptions{KeepFreed: true}, adaptor.PoisonAllocated, 7},
			"free":      {adaptor.PoisonOptions{KeepAllocated: true}, 0, adaptor.PoisonFreed},
		} {
			t.Run(name, func(t *testing.T) {
				keep := &keeper{Resource: foot}
				poison := adaptor.NewPoison(keep, test.options)
				allocation, err := poison.Allocate(size, stream)
				require.NoError(t, err)
				if test.allocated != 0 {
					assert.True(t, all(contents(t, allocation.Pointer, size, stream), test.allocated))
				}
				require.NoError(t, other.WaitStream(stream))
				fill(t, allocation, other, 7)
				require.NoError(t, poison.Free(allocation, []*device.Stream{other}))
				assert.True(t, all(contents(t, allocation.Pointer, size, stream, other), test.freed), "the fill comes after all uses")
				keep.release(t)
			})
		}
	})
}

func TestPoisonOfMemoryWhoseStreamWasClosed(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		stream, err := dev.NewStream()
		require.NoError(t, err)
		other := newStream(t, dev)
		keep := &keeper{Resource: foot}
		poison := adaptor.NewPoison(keep, adaptor.PoisonOptions{})
		allocation, err := poison.Allocate(64, stream)
		require.NoError(t, err)
		require.NoError(t, stream.Close())
		require.NoError(t, other.WaitStream(stream))
		fill(t, allocation, other, 7)
		require.NoError(t, poison.Free(allocation, []*device.Stream{other}))
		require.Len(t, keep.further, 1)
		assert.Contains(t, keep.further[0], dev.DefaultStream(), "the upstream hears of the stream that filled")
		assert.True(t, all(contents(t, allocation.Pointer, 64, dev.DefaultStream()), adaptor.PoisonFreed))
		keep.release(t)

		_, err = poison.Allocate(64, stream)
		require.ErrorIs(t, err, memory.ErrClosed, "and nothing is leaked")
		keep.kept, keep.further = keep.kept[1:], keep.further[1:]
		keep.release(t)
	})
}

func TestFault(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		stream := newStream(t, dev)
		const calls = 12
		run := func(options adaptor.FaultOptions) (failed []int, fault *adaptor.Fault) {
			fault = adaptor.NewFault(foot, options)
			for i := 1; i <= calls; i++ {
				allocation, err := fault.Allocate(8, stream)
				if err == nil {
					err = fault.Free(allocation, nil)
				}
				if err != nil {
					require.ErrorIs(t, err, adaptor.ErrInjected)
					failed = append(failed, i)
				}
			}
			return failed, fault
		}
		for name, test := range map[string]struct {
			rule adaptor.FaultRule
			want []int
		}{
			"never":     {adaptor.FaultRule{}, nil},
			"the third": {adaptor.FaultRule{Nth: 3}, []int{3}},
			"every":     {adaptor.FaultRule{Every: 5}, []int{5, 10}},
			"both":      {adaptor.FaultRule{Nth: 1, Every: 6}, []int{1, 6, 12}},
			"certainly": {adaptor.FaultRule{Probability: 1}, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		} {
			t.Run(name, func(t *testing.T) {
				failed, fault := run(adaptor.FaultOptions{Allocate: test.rule})
				assert.Equal(t, test.want, failed)
				assert.Equal(t, adaptor.FaultCount{Seen: calls, Failed: uint64(len(test.want))}, fault.Requests())
				failed, fault = run(adaptor.FaultOptions{Free: test.rule})
				assert.Equal(t, test.want, failed)
				assert.Equal(t, adaptor.FaultCount{Seen: calls, Failed: uint64(len(test.want))}, fault.Frees())
				assert.Equal(t, adaptor.FaultCount{Seen: calls}, fault.Requests())
			})
		}
	})
}

func TestFaultErrors(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		own := errors.New("own")
		always := adaptor.FaultRule{Every: 1}
		for name, test := range map[string]struct {
			options adaptor.FaultOptions
			want    error
		}{
			"allocate":          {adaptor.FaultOptions{Allocate: always}, device.ErrOutOfMemory},
			"allocate, own":     {adaptor.FaultOptions{Allocate: always, AllocateError: own}, own},
			"free":              {adaptor.FaultOptions{Free: always}, device.ErrDeviceLost},
			"free, own":         {adaptor.FaultOptions{Free: always, FreeError: own}, own},
			"both is the first": {adaptor.FaultOptions{Allocate: always, Free: always, FreeError: own}, device.ErrOutOfMemory},
		} {
			t.Run(name, func(t *testing.T) {
				fault := adaptor.NewFault(foot, test.options)
				allocation, err := fault.Allocate(8, dev.DefaultStream())
				if err == nil {
					err = fault.Free(allocation, nil)
				}
				require.ErrorIs(t, err, test.want)
				require.ErrorIs(t, err, adaptor.ErrInjected)
			})
		}
	})
}

// none returns addresses without memory.
type none struct {
	memory.Resource
	pointers []device.Pointer
}

func (n *none) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	pointer := n.pointers[0]
	n.pointers = n.pointers[1:]
	return resource.Allocation{Pointer: pointer, Bytes: bytes, Stream: stream}, nil
}

func (n *none) Free(resource.Allocation, []*device.Stream) error { return nil }

func TestFaultsBySeed(t *testing.T) {
	pattern := func(seed uint64) (failed []bool) {
		const calls = 4000
		fault := adaptor.NewFault(&none{pointers: make([]device.Pointer, calls)},
			adaptor.FaultOptions{Allocate: adaptor.FaultRule{Probability: 0.25}, Seed: seed})
		for range calls {
			_, err := fault.Allocate(1, nil)
			failed = append(failed, err != nil)
		}
		assert.InDelta(t, 0.25, float64(fault.Requests().Failed)/calls, 0.03)
		return failed
	}
	assert.Equal(t, pattern(1), pattern(1))
	assert.NotEqual(t, pattern(1), pattern(2))
}

func TestAligned(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		stream := newStream(t, dev)
		for _, alignment := range []uint64{3, 4095, 6 << 20} {
			_, err := adaptor.NewAligned(foot, adaptor.AlignedOptions{Alignment: alignment})
			require.ErrorIs(t, err, device.ErrInvalidValue)
		}
		aligned := newAligned(t, foot, adaptor.AlignedOptions{Alignment: 1 << 14, Threshold: 100})
		var held []resource.Allocation
		for i := range 20 {
			bytes := uint64(90 + i)
			allocation, err := aligned.Allocate(bytes, stream)
			require.NoError(t, err)
			assert.Equal(t, bytes, allocation.Bytes)
			asked := bytes
			if bytes >= 100 {
				assert.Zero(t, uint64(allocation.Pointer)%(1<<14))
				asked = bytes + 1<<14 - 64
				if dev.Kind() != device.Host {
					asked = bytes + 1<<14 - 256
				}
			}
			_, before, err := foot.balance()
			require.NoError(t, err)
			fill(t, allocation, stream, 1)
			require.NoError(t, aligned.Free(allocation, nil))
			_, after, err := foot.balance()
			require.NoError(t, err)
			assert.Equal(t, asked, before-after)

			allocation, err = aligned.Allocate(bytes, stream)
			require.NoError(t, err)
			held = append(held, allocation)
		}
		_, err := aligned.Allocate(math.MaxUint64-100, stream)
		require.ErrorIs(t, err, memory.ErrOverflow)
		for _, allocation := range held {
			require.NoError(t, aligned.Free(allocation, nil))
		}
		natural := newAligned(t, foot, adaptor.AlignedOptions{Alignment: 64})
		allocation, err := natural.Allocate(1, stream)
		require.NoError(t, err)
		_, bytes, _ := foot.balance()
		assert.EqualValues(t, 1, bytes, "nothing has to be shifted")
		require.NoError(t, natural.Free(allocation, nil))
	})
}

func TestAlignedAboveAligned(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		lower := newAligned(t, foot, adaptor.AlignedOptions{Alignment: 1 << 14})
		between := adaptor.NewStatistics(lower)
		upper := newAligned(t, between, adaptor.AlignedOptions{Threshold: 1000})
		for _, bytes := range []uint64{10, 2000} {
			allocation, err := upper.Allocate(bytes, dev.DefaultStream())
			require.NoError(t, err)
			require.NoError(t, upper.Free(allocation, nil))
			assert.Zero(t, between.Figures().Bytes.Current, "what is between is given back what it gave")
		}
	})
}
