package reduce

import (
	"runtime"
	"sync"
	"weak"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/perdevice"
)

// streamNumbers gives the streams of a device numbers, so that two kernels which run
// at the same time never share a counter of the module. A number is never given
// again, for a closed stream may still have work.
type streamNumbers struct {
	mu      sync.RWMutex
	numbers map[weak.Pointer[device.Stream]]uint64
	next    uint64
}

var numbersOfStreams perdevice.Cache[*streamNumbers]

func newStreamNumbers(*device.Device) (*streamNumbers, error) {
	return &streamNumbers{numbers: make(map[weak.Pointer[device.Stream]]uint64)}, nil
}

// counterOf returns the number of a stream's counter; false where there are no more.
func counterOf(stream *device.Stream) (uint64, bool) {
	all, err := numbersOfStreams.Get(stream.Device(), newStreamNumbers)
	if err != nil {
		return 0, false
	}
	return all.of(stream)
}

func (s *streamNumbers) of(stream *device.Stream) (uint64, bool) {
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
	if s.next == maxCounters {
		return 0, false
	}
	number = s.next
	s.next++
	s.numbers[key] = number
	runtime.AddCleanup(stream, s.forget, key)
	return number, true
}

func (s *streamNumbers) forget(key weak.Pointer[device.Stream]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.numbers, key)
}
