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

// history has the last moments. It begins with the first page.
type history struct {
	once sync.Once
	recent[Moment]
}

// keepHistory adds a moment in each interval until the recorder is closed.
func (r *Recorder) keepHistory(interval time.Duration) {
	r.history.once.Do(func() {
		r.history.add(r.moment(), historyPoints)
		go func() {
			ticker := time.NewTicker(interval)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					r.history.add(r.moment(), historyPoints)
				case <-r.closed:
					return
				}
			}
		}()
	})
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
