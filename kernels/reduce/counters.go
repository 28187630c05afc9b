package reduce

import (
	"runtime"
	"sync"
	"weak"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

// streamNumbers assigns numbers to the streams of a device, so that two kernels that
// run at the same time never share a counter of the module. The number of a closed or
// collected stream is reused when all work that was on the device after that has
// completed, because the stream, or graphs that were captured on it, may still have
// pending work.
type streamNumbers struct {
	mu      sync.RWMutex
	numbers map[weak.Pointer[device.Stream]]uint64
	next    uint64
	// free numbers can be reused. ended are the numbers of streams that have ended.
	// marked are ended numbers that become free when the event has completed.
	free, ended, marked []uint64
	event               *device.Event
	// failures counts the calls that found no number.
	failures uint64
}

// reclaimEvery is the number of calls without a number per search for free numbers.
const reclaimEvery = 64

var numbersOfStreams perdevice.Cache[*streamNumbers]

func newStreamNumbers(*device.Device) (*streamNumbers, error) {
	return &streamNumbers{numbers: make(map[weak.Pointer[device.Stream]]uint64)}, nil
}

// counterOf returns the number of a stream's counter, or false if all numbers are in
// use.
func counterOf(stream *device.Stream) (uint64, bool) {
	all, err := numbersOfStreams.Get(stream.Device(), newStreamNumbers)
	if err != nil {
		return 0, false
	}
	return all.numberOf(stream)
}

// reclaim frees the numbers of streams that have ended.
func (s *streamNumbers) reclaim(dev *device.Device) {
	for key, number := range s.numbers {
		if stream := key.Value(); stream != nil && stream.Closed() {
			delete(s.numbers, key)
			s.ended = append(s.ended, number)
		}
	}
	if s.event == nil && len(s.ended) > 0 {
		event, err := streamwork.RecordAll(dev)
		if err != nil {
			return // the driver does not support it, or a stream is captured
		}
		s.event, s.marked, s.ended = event, s.ended, nil
	}
	if s.event == nil {
		return
	}
	if done, err := s.event.Done(); err == nil && done {
		_ = s.event.Close()
		s.free, s.marked, s.event = append(s.free, s.marked...), nil, nil
	}
}

func (s *streamNumbers) numberOf(stream *device.Stream) (uint64, bool) {
	key := weak.Make(stream)
	s.mu.RLock()
	number, ok := s.numbers[key]
	s.mu.RUnlock()
	if ok {
		return number, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if number, ok = s.numbers[key]; ok {
		return number, true
	}
	if s.next == maxCounters && len(s.free) == 0 {
		if s.failures%reclaimEvery == 0 {
			s.reclaim(stream.Device())
		}
		s.failures++
	}
	switch {
	case len(s.free) > 0:
		last := len(s.free) - 1
		number, s.free = s.free[last], s.free[:last]
	case s.next < maxCounters:
		number = s.next
		s.next++
	default:
		return 0, false
	}
	s.numbers[key] = number
	runtime.AddCleanup(stream, s.forget, key)
	return number, true
}

func (s *streamNumbers) forget(key weak.Pointer[device.Stream]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number, ok := s.numbers[key]; ok {
		s.ended = append(s.ended, number)
		delete(s.numbers, key)
	}
}
