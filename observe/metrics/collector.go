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
	// tagLabels are the labels of the tags of the last scrapes. Making them takes most of
	// the time of a scrape.
	tagLabels labelCache
}

// NewCollector returns a collector. The caller registers it.
//
// # Waiting
//
// Reading the figures of a tree of managers stops its allocations meanwhile: the time grows
// with the number of tags.
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
	for _, m := range transferMetrics {
		to <- m.desc
	}
	for _, m := range kernelMetrics {
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
	s := c.recorder.Figures()
	tags := c.tagLabels.labelsOf(&s)
	c.mu.Unlock()
	for i := range s.Managers {
		collectManager(to, &s.Managers[i], tags[i].title)
		tags[i].collect(to, s.Managers[i].Tags)
	}
	for i := range s.Spills {
		for _, m := range spillMetrics {
			m.send(to, m.value(&s.Spills[i]), strconv.Itoa(i))
		}
	}
	for i := range s.Kernels {
		for _, m := range kernelMetrics {
			m.send(to, m.value(&s.Kernels[i]), s.Kernels[i].Device)
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
	waiting.send(to, float64(top.Waiting), top.Device, title)
	for _, m := range transferMetrics {
		m.send(to, m.value(top.Transfers), top.Device, title)
	}
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
