package memory

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpuframe/gpuframe/device"
)

// Observer receives events of a tree of managers: see [Manager.Observe]. Functions that
// are nil are not called. They are called by the goroutine that allocates or releases,
// must return quickly, and must not allocate or release memory of the tree.
type Observer struct {
	// SampleBytes is the mean number of bytes from one sampled block to the next. Zero
	// samples no blocks, one samples every block. If observers of a tree differ, the
	// smallest applies to all of them.
	SampleBytes uint64
	// Sampled is called for a sampled block before its allocation or adoption returns.
	// The function that it returns, if any, is called once when the block ends: leaked
	// reports that it was collected without being released.
	Sampled func(Sample) (ended func(leaked bool))
	// Failed is called after a request that got no memory.
	Failed func(Failure)
	// Waited is called after a request has waited for memory or for its turn. A request
	// may wait several times.
	Waited func(m *Manager, waited time.Duration)
}

// Sample is a block chosen by [Observer.SampleBytes].
type Sample struct {
	Manager *Manager
	Tag     string
	Pointer device.Pointer
	Bytes   uint64
	Stream  *device.Stream
	Origin  Origin
	// Weight is the number of blocks of this size that the sample stands for: the
	// reciprocal of the probability with which it was chosen.
	Weight float64
	// Number and Generation identify the block, as in [Identity].
	Number, Generation uint64
}

// Failure is a request that got no memory.
type Failure struct {
	// Manager received the request.
	Manager *Manager
	Tag     string
	Bytes   uint64
	Err     error
}

// Observe calls the functions of an observer for all managers of the tree of m. Events
// that begin after stop has returned are not reported; ended functions are still called.
//
// Without observers an allocation costs one addition more. Sampling costs one or two
// microseconds for each sampled block.
func (m *Manager) Observe(o Observer) (stop func()) {
	t := m.tree
	t.changeObservers(func(all []*Observer) []*Observer { return append(all, &o) })
	return sync.OnceFunc(func() {
		t.changeObservers(func(all []*Observer) []*Observer {
			return slices.DeleteFunc(all, func(other *Observer) bool { return other == &o })
		})
	})
}

// observers are the observers of a tree.
type observers struct {
	mu   sync.Mutex
	list atomic.Pointer[observerList]
}

// observerList is never changed.
type observerList struct {
	all []*Observer
	// interval is the smallest SampleBytes, or 0 if no block is sampled.
	interval uint64
}

func (t *tree) changeObservers(change func([]*Observer) []*Observer) {
	t.observers.mu.Lock()
	defer t.observers.mu.Unlock()
	list := &observerList{all: change(slices.Clone(t.observers.current()))}
	for _, o := range list.all {
		if o.SampleBytes > 0 && (list.interval == 0 || o.SampleBytes < list.interval) {
			list.interval = o.SampleBytes
		}
	}
	t.observers.list.Store(list)
	for i := range t.stripes.all {
		s := &t.stripes.all[i]
		s.mu.Lock()
		s.untilSample = list.distance()
		s.mu.Unlock()
	}
}

// current returns the observers.
func (o *observers) current() []*Observer {
	if list := o.list.Load(); list != nil {
		return list.all
	}
	return nil
}

// distance returns a random number of bytes until the next sample. The exponential
// distribution makes every byte equally likely to be sampled, whatever the sizes of the
// blocks before it.
func (l *observerList) distance() int64 {
	switch {
	case l == nil || l.interval == 0:
		return math.MaxInt64
	case l.interval == 1:
		return -1 // blocks of no bytes too
	}
	return int64(min(rand.ExpFloat64()*float64(l.interval), math.MaxInt64/2))
}

// weight returns the reciprocal of the probability that a block is sampled.
func (l *observerList) weight(bytes uint64) float64 {
	if l.interval == 1 {
		return 1
	}
	return -1 / math.Expm1(-float64(bytes)/float64(l.interval))
}

// sampledBlock is the part of a sampled block's state that other blocks lack.
type sampledBlock struct {
	// list are the observers at the time of the sample.
	list *observerList
	// ended are the functions that Sampled returned.
	ended []func(leaked bool)
}

// choose makes the next block of the stripe a sample. The stripe is locked.
func (s *stripe) choose(o *observers) *sampledBlock {
	list := o.list.Load()
	s.untilSample = list.distance()
	if list == nil || list.interval == 0 {
		return nil
	}
	return &sampledBlock{list: list}
}

// reportSample calls Sampled for a block that has its memory.
func (m *Manager) reportSample(s *blockState, generation uint64) {
	list := s.sampled.list
	sample := Sample{
		Manager: m, Pointer: s.allocation.Pointer, Bytes: s.allocation.Bytes, Stream: s.allocation.Stream,
		Origin: s.origin, Weight: list.weight(s.allocation.Bytes), Number: s.number, Generation: generation,
	}
	if s.tag != nil {
		sample.Tag = s.tag.name
	}
	for _, o := range list.all {
		if o.Sampled == nil || o.SampleBytes == 0 {
			continue
		}
		if ended := o.Sampled(sample); ended != nil {
			s.sampled.ended = append(s.sampled.ended, ended)
		}
	}
}

// endSample reports that a sampled block has ended.
func (s *blockState) endSample(leaked bool) {
	sampled := s.sampled
	if sampled == nil {
		return
	}
	s.sampled = nil
	for _, ended := range sampled.ended {
		ended(leaked)
	}
}

// reportFailure records a failure and calls Failed.
func (t *tree) reportFailure(f Failure) {
	if ring := t.events.Load(); ring != nil {
		ring.recordFailure(f)
	}
	for _, o := range t.observers.current() {
		if o.Failed != nil {
			o.Failed(f)
		}
	}
}

// reportWait calls Waited. begin is the time at which the wait began.
func (m *Manager) reportWait(begin time.Time) {
	for _, o := range m.tree.observers.current() {
		if o.Waited != nil {
			o.Waited(m, time.Since(begin))
		}
	}
}
