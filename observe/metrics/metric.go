package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpuframe/gpuframe/observe"
)

// metric describes a metric.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func gauge(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("gpuframe_"+name, help, labels, nil), prometheus.GaugeValue}
}

func counter(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("gpuframe_"+name, help, labels, nil), prometheus.CounterValue}
}

// send sends a value with the values of its labels.
func (m metric) send(to chan<- prometheus.Metric, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...)
}

// sendDistribution sends a histogram.
func sendDistribution(to chan<- prometheus.Metric, desc *prometheus.Desc, d observe.Distribution, labels ...string) {
	buckets := make(map[float64]uint64, len(d.Bounds))
	below := uint64(0)
	for i, bound := range d.Bounds {
		below += d.Counts[i]
		buckets[bound] = below
	}
	to <- prometheus.MustNewConstHistogram(desc, d.Count(), d.Sum, buckets, labels...)
}

// The labels of a manager: its device, the name of the topmost manager, and the path below it.
var managerLabels = []string{"device", "manager", "tenant"}

// managerMetrics are metrics of every manager of a tree.
var managerMetrics = []struct {
	metric
	value func(*observe.Manager) uint64
}{
	{gauge("memory_budget_bytes", "Budget of the manager.", managerLabels...), func(m *observe.Manager) uint64 { return m.Budget }},
	{gauge("memory_in_use_bytes", "Memory in use, that of the managers below included.", managerLabels...), func(m *observe.Manager) uint64 { return m.InUse }},
	{gauge("memory_own_in_use_bytes", "Memory in use, without that of the managers below.", managerLabels...), func(m *observe.Manager) uint64 { return m.Own }},
	{gauge("memory_peak_bytes", "Most memory in use at a time since the peak was reset.", managerLabels...), func(m *observe.Manager) uint64 { return m.Peak }},
	{gauge("memory_external_bytes", "Memory of other libraries that is adopted.", managerLabels...), func(m *observe.Manager) uint64 { return m.External }},
	{gauge("memory_blocks", "Blocks in use.", managerLabels...), func(m *observe.Manager) uint64 { return m.Blocks }},
	{counter("memory_allocations_total", "Blocks that were allocated.", managerLabels...), func(m *observe.Manager) uint64 { return m.Allocations }},
	{counter("memory_frees_total", "Blocks that were freed.", managerLabels...), func(m *observe.Manager) uint64 { return m.Frees }},
	{counter("memory_failures_total", "Requests that got no memory.", managerLabels...), func(m *observe.Manager) uint64 { return m.Failures }},
	{counter("memory_leaks_total", "Blocks that were collected without being released.", managerLabels...), func(m *observe.Manager) uint64 { return m.Leaks }},
	{counter("memory_double_releases_total", "Releases of blocks that were already released.", managerLabels...), func(m *observe.Manager) uint64 { return m.DoubleReleases }},
}

var topLabels = managerLabels[:2]

// cacheMetrics are metrics of topmost managers with a caching resource.
var cacheMetrics = []struct {
	metric
	value func(*observe.Cache) uint64
}{
	{gauge("cache_reserved_bytes", "Memory that the cache holds from the driver.", topLabels...), func(c *observe.Cache) uint64 { return c.Reserved }},
	{gauge("cache_cached_bytes", "Memory of the cache that is free.", topLabels...), func(c *observe.Cache) uint64 { return c.Cached }},
	{gauge("cache_held_bytes", "Memory of the cache that is freed and that streams still use.", topLabels...), func(c *observe.Cache) uint64 { return c.Held }},
	{gauge("cache_largest_free_bytes", "Longest free piece of the cache.", topLabels...), func(c *observe.Cache) uint64 { return c.LargestFree }},
	{gauge("cache_segments", "Segments of the cache.", topLabels...), func(c *observe.Cache) uint64 { return uint64(c.Segments) }},
	{counter("cache_hits_total", "Requests that the cache served.", topLabels...), func(c *observe.Cache) uint64 { return c.Hits }},
	{counter("cache_misses_total", "Requests that made the cache grow.", topLabels...), func(c *observe.Cache) uint64 { return c.Misses }},
	{counter("cache_trimmed_bytes_total", "Memory that the cache returned to the driver.", topLabels...), func(c *observe.Cache) uint64 { return c.Trimmed }},
}

// transferMetrics are metrics of topmost managers.
var transferMetrics = []struct {
	metric
	value func(*observe.Transfers) float64
}{
	{counter("transfer_uploads_total", "Copies from host memory to the device.", topLabels...), func(t *observe.Transfers) float64 { return float64(t.Uploads) }},
	{counter("transfer_uploaded_bytes_total", "Bytes that were copied to the device.", topLabels...), func(t *observe.Transfers) float64 { return float64(t.UploadedBytes) }},
	{counter("transfer_upload_seconds_total", "Durations of copies to the device.", topLabels...), func(t *observe.Transfers) float64 { return t.UploadSeconds }},
	{counter("transfer_downloads_total", "Copies from the device to host memory.", topLabels...), func(t *observe.Transfers) float64 { return float64(t.Downloads) }},
	{counter("transfer_downloaded_bytes_total", "Bytes that were copied to the host.", topLabels...), func(t *observe.Transfers) float64 { return float64(t.DownloadedBytes) }},
	{counter("transfer_download_seconds_total", "Durations of copies to the host.", topLabels...), func(t *observe.Transfers) float64 { return t.DownloadSeconds }},
	{counter("transfer_failures_total", "Copies that failed, in both directions.", topLabels...), func(t *observe.Transfers) float64 { return float64(t.Failures) }},
}

// kernelMetrics are metrics of devices.
var kernelMetrics = []struct {
	metric
	value func(*observe.Kernels) float64
}{
	{counter("kernel_launches_total", "Kernels that were enqueued.", "device"), func(k *observe.Kernels) float64 { return float64(k.Launches) }},
	{counter("kernel_graph_launches_total", "Graphs of kernels that were enqueued.", "device"), func(k *observe.Kernels) float64 { return float64(k.GraphLaunches) }},
	{counter("kernel_modules_total", "Loads of device code.", "device"), func(k *observe.Kernels) float64 { return float64(k.Modules) }},
	{counter("kernel_load_seconds_total", "Durations of loads of device code, nearly all of it compilation.", "device"), func(k *observe.Kernels) float64 { return k.LoadSeconds }},
}

// spillMetrics are metrics of spillers, by their number in Options.Spillers.
var spillMetrics = []struct {
	metric
	value func(*observe.Spills) float64
}{
	{gauge("spill_tables", "Open tables of the spiller.", "spiller"), func(s *observe.Spills) float64 { return float64(s.Tables) }},
	{gauge("spill_host_bytes", "Host memory of spilled tables.", "spiller"), func(s *observe.Spills) float64 { return float64(s.HostBytes) }},
	{counter("spill_spills_total", "Tables that were moved to the host.", "spiller"), func(s *observe.Spills) float64 { return float64(s.Spills) }},
	{counter("spill_restores_total", "Tables that were moved back.", "spiller"), func(s *observe.Spills) float64 { return float64(s.Restores) }},
	{counter("spill_spilled_bytes_total", "Bytes that were copied to the host.", "spiller"), func(s *observe.Spills) float64 { return float64(s.SpilledBytes) }},
	{counter("spill_restored_bytes_total", "Bytes that were copied back.", "spiller"), func(s *observe.Spills) float64 { return float64(s.RestoredBytes) }},
	{counter("spill_seconds_total", "Time of moves to the host.", "spiller"), func(s *observe.Spills) float64 { return s.SpillSeconds }},
	{counter("spill_restore_seconds_total", "Time of moves back.", "spiller"), func(s *observe.Spills) float64 { return s.RestoreSeconds }},
	{counter("spill_failures_total", "Moves that failed.", "spiller"), func(s *observe.Spills) float64 { return float64(s.Failures) }},
}

var (
	waiting  = gauge("memory_waiting_requests", "Requests that wait for memory.", topLabels...)
	tagInUse = gauge("memory_tag_in_use_bytes", "Memory in use with the tag, in the whole tree of managers.", "device", "manager", "tag")
	tagPeak  = gauge("memory_tag_peak_bytes", "Peak of the memory with the tag.", "device", "manager", "tag")

	queriesNow   = gauge("queries", "Queries that have begun and not ended.", "manager", "state")
	queriesEnded = counter("queries_ended_total", "Queries that have ended.", "manager", "result")
	queryWaits   = counter("query_wait_seconds_total", "Time for which queries waited for memory of other queries.", "manager")

	queryDurations = prometheus.NewDesc("gpuframe_query_duration_seconds", "Durations of the queries that have ended.", []string{"manager"}, nil)
	memoryWaits    = prometheus.NewDesc("gpuframe_memory_wait_seconds", "Waits of requests for memory.", nil, nil)
)
