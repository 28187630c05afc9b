package metrics

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpuframe/gpuframe/observe"
)

// Collector is a prometheus.Collector of the managers and engines of a recorder.
type Collector struct {
	recorder *observe.Recorder
	// mu makes scrapes follow each other: each stops allocations for a moment.
	mu sync.Mutex
}

// NewCollector returns a collector. The caller registers it.
//
// # Waiting
//
// Reading the figures of a tree of managers stops its allocations for some microseconds, and
// longer with very many tags.
func NewCollector(r *observe.Recorder) *Collector { return &Collector{recorder: r} }

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, m := range managerMetrics {
		to <- m.desc
	}
	for _, m := range cacheMetrics {
		to <- m.desc
	}
	for _, m := range spillMetrics {
		to <- m.desc
	}
	for _, m := range []metric{waiting, tagInUse, tagPeak, queriesNow, queriesEnded, queryWaits} {
		to <- m.desc
	}
	to <- queryDurations
	to <- memoryWaits
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	c.mu.Lock()
	s := c.recorder.Snapshot()
	c.mu.Unlock()
	titles := make(map[string]int)
	for i := range s.Managers {
		top := &s.Managers[i]
		// Metrics of two managers must differ in their labels.
		title := top.Name
		if titles[top.Device+"/"+title]++; titles[top.Device+"/"+title] > 1 {
			title += " " + strconv.Itoa(titles[top.Device+"/"+top.Name])
		}
		collectManager(to, top, title)
	}
	for i := range s.Spills {
		for _, m := range spillMetrics {
			m.send(to, m.value(&s.Spills[i]), strconv.Itoa(i))
		}
	}
	collectQueries(to, &s)
	sendDistribution(to, memoryWaits, s.Waits)
}

func collectManager(to chan<- prometheus.Metric, top *observe.Manager, title string) {
	seen := make(map[string]bool)
	top.Each(func(m *observe.Manager) {
		// Only managers without a name can have equal paths. The figures of those above
		// include them.
		if seen[m.Tenant] {
			return
		}
		seen[m.Tenant] = true
		for _, each := range managerMetrics {
			each.send(to, float64(each.value(m)), m.Device, title, m.Tenant)
		}
	})
	for _, t := range top.Tags {
		tagInUse.send(to, float64(t.InUse), top.Device, title, t.Name)
		tagPeak.send(to, float64(t.Peak), top.Device, title, t.Name)
	}
	waiting.send(to, float64(top.Waiting), top.Device, title)
	if top.Cache != nil {
		for _, m := range cacheMetrics {
			m.send(to, float64(m.value(top.Cache)), top.Device, title)
		}
	}
}

func collectQueries(to chan<- prometheus.Metric, s *observe.Snapshot) {
	type state struct{ manager, state string }
	now := make(map[state]int)
	for _, q := range s.Queries {
		now[state{q.Manager, q.State}]++
	}
	for at, n := range now {
		queriesNow.send(to, float64(n), at.manager, at.state)
	}
	for _, e := range s.Ended {
		queriesEnded.send(to, float64(e.Completed), e.Manager, "completed")
		queriesEnded.send(to, float64(e.Failed), e.Manager, "failed")
		queriesEnded.send(to, float64(e.Cancelled), e.Manager, "cancelled")
		queryWaits.send(to, e.Waited, e.Manager)
		sendDistribution(to, queryDurations, e.Durations, e.Manager)
	}
}
