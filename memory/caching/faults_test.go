package caching

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
)

// faultCalls are the driver calls that the tests make fail. After a failure of one
// of lostCalls something leaks, because the state of its object is unknown.
var (
	faultCalls = []string{"Alloc", "Free", "AddressReserve", "AddressFree", "PhysicalCreate", "PhysicalRelease", "Map", "SetAccess",
		"Unmap", "EventCreate", "EventRecord", "EventQuery", "EventSynchronize", "StreamQuery", "StreamWaitEvent"}
	lostCalls = []string{"Free", "AddressFree", "PhysicalRelease"}
)

// Each driver call of a trace fails once. A request may fail because of that, but
// the state stays consistent, later requests succeed, and nothing leaks except
// objects that the driver refused to free.
func TestEachDriverCallFails(t *testing.T) {
	short := fmt.Errorf("simulated: %w", device.ErrOutOfMemory)
	inBothModes(t, func(s *scene, options Options) {
		counts := map[string]int{}
		faultTrace(s, options, func(call string) error { counts[call]++; return nil })
		require.False(s.t, counts["StreamWaitEvent"] == 0 || counts["EventRecord"] == 0, "the trace is too simple")
		for _, call := range faultCalls {
			const most = 8 // of the calls of one name
			for number := 0; number < counts[call]; number += 1 + counts[call]/most {
				for _, failure := range []error{errInjected, short} {
					calls, failed := 0, false
					faultTrace(newScene(s.t), options, func(name string) error {
						if name != call {
							return nil
						}
						calls++
						if calls-1 != number {
							return nil
						}
						failed = true
						return fmt.Errorf("%s %d: %w", call, number, failure)
					})
					// How often a wait asks for an event, and whether it sleeps, depends on the time.
					waits := call == "EventQuery" || call == "EventSynchronize"
					require.True(s.t, failed || waits, "%s %d of %d", call, number, counts[call])
				}
			}
		}
	})
}

// faultTrace runs the same requests each time, as far as the driver's failures
// allow.
func faultTrace(s *scene, options Options, fail func(call string) error) {
	failed := ""
	guard := func(call string) error {
		err := fail(call)
		if err != nil {
			failed = call
		}
		return err
	}
	for range 3 {
		s.newStream()
	}
	if options.Segments == FixedSegments {
		options.Upstream = newSimulatedUpstream(s.sim, s.dev)
	}
	options.LimitBytes, options.InitialBytes = 3<<20, 1<<20
	s.sim.fail = guard
	var err error
	s.resource, err = New(s.dev, options)
	s.accept(err, failed)
	if err == nil {
		s.trace(guard, &failed)
		s.sim.fail = guard
		if err := s.resource.Close(); err != nil {
			s.accept(err, failed)
			s.sim.fail = nil
			s.check()
			if err := s.resource.Close(); !errors.Is(err, device.ErrClosed) { // nothing may be left to do
				require.NoError(s.t, err)
			}
		}
	}
	s.sim.fail = nil
	for len(s.streams) > 0 {
		s.close(s.streams[0])
	}
	require.Empty(s.t, s.sim.faults, "a call of %s failed", failed)
	if slices.Contains(lostCalls, failed) {
		lost := len(s.sim.allocated) + len(s.sim.physical) + len(s.sim.ranges)
		require.LessOrEqual(s.t, lost, 1, "one call failed, and more is lost")
		require.NoError(s.t, s.dev.Close())
		return
	}
	s.sim.requireEmpty(s.t, s.dev, len(s.all))
}

// trace makes the requests.
func (s *scene) trace(guard func(string) error, failed *string) {
	random := rand.New(rand.NewPCG(3, 5))
	sizes := []uint64{1, 5000, 9000, 60_000, 200_000, 500_000, 900_000}
	// The test's own calls do not fail.
	without := func(f func()) {
		s.sim.fail = nil
		f()
		s.sim.fail = guard
	}
	for range 80 {
		stream := s.streams[random.IntN(len(s.streams))]
		switch random.IntN(10) {
		case 0, 1, 2:
			size := sizes[random.IntN(len(sizes))]
			var err error
			if _, err = s.tryAllocate(size, stream); !errors.Is(err, device.ErrOutOfMemory) {
				s.accept(err, *failed)
			}
		case 3, 4:
			if len(s.live) > 0 {
				without(func() { s.use(s.live[random.IntN(len(s.live))], stream) })
			}
		case 5, 6, 7:
			if len(s.live) > 0 {
				s.free(s.live[random.IntN(len(s.live))])
			}
		case 8:
			s.sim.advance(stream.Handle(), 2)
		case 9:
			_, err := s.resource.Trim(uint64(random.IntN(2)) << 20)
			s.accept(err, *failed)
		}
		without(s.check)
	}
	for len(s.live) > 0 {
		s.free(s.live[0])
		without(s.check)
	}
}

// accept accepts an error only if the driver has failed.
func (s *scene) accept(err error, failed string) {
	if err != nil {
		require.NotEmpty(s.t, failed, "%v", err)
	}
}
