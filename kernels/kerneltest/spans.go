package kerneltest

import (
	"slices"
	"sync"
)

// span is memory that kernels may use.
type span struct {
	base, end uint64
	readOnly  bool
}

// spans are the allocations of a device, in order.
type spans struct {
	mu  sync.RWMutex
	all []span
}

func (s *spans) index(base uint64) (int, bool) {
	return slices.BinarySearchFunc(s.all, base, func(e span, base uint64) int {
		switch {
		case e.base < base:
			return -1
		case e.base > base:
			return 1
		}
		return 0
	})
}

func (s *spans) add(base, bytes uint64, readOnly bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.index(base)
	if known {
		s.all[at].end = base + bytes
		return
	}
	s.all = slices.Insert(s.all, at, span{base, base + bytes, readOnly})
}

func (s *spans) remove(base uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, known := s.index(base); known {
		s.all = slices.Delete(s.all, at, at+1)
	}
}

// find returns the allocation that contains an address.
func (s *spans) find(address uint64) (span, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, exact := s.index(address)
	if !exact {
		if at == 0 {
			return span{}, false
		}
		at--
	}
	e := s.all[at]
	return e, address < e.end
}

// near returns the allocations around an address that no allocation contains.
func (s *spans) near(address uint64) (before, after span) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, _ := s.index(address)
	if at > 0 {
		before = s.all[at-1]
	}
	if at < len(s.all) {
		after = s.all[at]
	}
	return before, after
}
