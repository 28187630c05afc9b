package observe

import (
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// historyPoints is the number of moments that the history keeps.
const historyPoints = 300

// Moment has the memory of all topmost managers together at one moment, in bytes.
type Moment struct {
	Time     time.Time `json:"time"`
	InUse    uint64    `json:"in_use_bytes"`
	Reserved uint64    `json:"reserved_bytes"`
	Budget   uint64    `json:"budget_bytes"`
}

// sample is a moment with the operations that worked at it.
type sample struct {
	Moment
	operations []string
}

// history has the last moments. It begins with the first page.
type history struct {
	once     sync.Once
	interval time.Duration
	recent[sample]
}

// keepHistory adds a moment in each interval until the recorder is closed.
func (r *Recorder) keepHistory(interval time.Duration) {
	r.history.once.Do(func() {
		r.history.interval = interval
		r.history.add(r.sample(), historyPoints)
		go func() {
			ticker := time.NewTicker(interval)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					r.history.add(r.sample(), historyPoints)
				case <-r.closed:
					return
				}
			}
		}()
	})
}

func (r *Recorder) sample() sample { return sample{r.moment(), r.working()} }

// read returns the moments, the oldest first, and the times of the operations in them: see [operationTimes].
func (h *history) read() (moments []Moment, operations []OperationTime, seconds float64) {
	samples := h.list()
	moments = make([]Moment, len(samples))
	for i, s := range samples {
		moments[i] = s.Moment
	}
	operations, seconds = operationTimes(samples, h.interval)
	return moments, operations, seconds
}

func (r *Recorder) moment() Moment {
	m := Moment{Time: time.Now()}
	for _, each := range r.managers {
		s := each.Stats()
		m.InUse += s.InUse
		m.Budget += s.Budget
		if cache, ok := resource.Find[*memory.CachingResource](each.Resource()); ok {
			m.Reserved += cache.Stats().Reserved
		}
	}
	return m
}
