package metrics_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe"
	"github.com/gpuframe/gpuframe/observe/metrics"
)

// service is an engine with a tenant, a spiller, a query that has ended and a failure.
func service(t *testing.T) (*metrics.Collector, *gpuframe.Engine) {
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<20))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	tenant, err := e.Tenant("tenant", 1<<16)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tenant.Close()) })
	spiller, err := spill.NewSpiller(e.Manager(), spill.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, spiller.Close()) })
	r, err := observe.New(observe.Options{Engines: []*gpuframe.Engine{e, tenant}, Spillers: []*spill.Spiller{spiller}})
	require.NoError(t, err)
	t.Cleanup(r.Close)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2}, nil)
	record := b.NewRecord()
	defer record.Release()
	f, err := tenant.Records(record.Schema(), record).Collect(t.Context())
	require.NoError(t, err)
	require.NoError(t, f.Release())
	_, err = tenant.Manager().Allocate(1<<17, memory.AllocateOptions{})
	require.ErrorIs(t, err, memory.ErrBudget)
	return metrics.NewCollector(r), e
}

func TestMetrics(t *testing.T) {
	c, e := service(t)
	// Hostile names are labels like any other.
	block, err := e.Manager().Allocate(4000, memory.AllocateOptions{Tag: "</script>\"\n\\"})
	require.NoError(t, err)
	defer func() { require.NoError(t, block.Release()) }()
	// A registry refuses metrics that do not fit their descriptions, or that are there twice.
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(c))
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	assert.Empty(t, problems)
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP gpuframe_memory_budget_bytes Budget of the manager.
# TYPE gpuframe_memory_budget_bytes gauge
gpuframe_memory_budget_bytes{device="host",manager="host",tenant=""} 1.048576e+06
gpuframe_memory_budget_bytes{device="host",manager="host",tenant="tenant"} 65536
# HELP gpuframe_memory_failures_total Requests that got no memory.
# TYPE gpuframe_memory_failures_total counter
gpuframe_memory_failures_total{device="host",manager="host",tenant=""} 1
gpuframe_memory_failures_total{device="host",manager="host",tenant="tenant"} 1
# HELP gpuframe_queries_ended_total Queries that have ended.
# TYPE gpuframe_queries_ended_total counter
gpuframe_queries_ended_total{manager="tenant",result="cancelled"} 0
gpuframe_queries_ended_total{manager="tenant",result="completed"} 1
gpuframe_queries_ended_total{manager="tenant",result="failed"} 0
`), "gpuframe_memory_budget_bytes", "gpuframe_memory_failures_total", "gpuframe_queries_ended_total"))
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP gpuframe_memory_own_in_use_bytes Memory in use, without that of the managers below.
# TYPE gpuframe_memory_own_in_use_bytes gauge
gpuframe_memory_own_in_use_bytes{device="host",manager="host",tenant=""} 4000
gpuframe_memory_own_in_use_bytes{device="host",manager="host",tenant="tenant"} 0
`), "gpuframe_memory_own_in_use_bytes"))
	// The service has collected 16 bytes of values, with their row count and validity.
	assert.GreaterOrEqual(t, value(t, registry, "gpuframe_transfer_uploaded_bytes_total"), 16.0)
	assert.GreaterOrEqual(t, value(t, registry, "gpuframe_transfer_uploads_total"), 1.0)
	assert.Positive(t, value(t, registry, "gpuframe_transfer_upload_seconds_total"))
	assert.Zero(t, value(t, registry, "gpuframe_transfer_failures_total"))
	assert.Zero(t, value(t, registry, "gpuframe_kernel_launches_total"), "the host launches no kernels")
}

// TestDashboard checks that the metrics of the dashboard exist.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	require.True(t, json.Valid(text))
	c, _ := service(t)
	known, all := make(map[string]bool), make(map[string]bool)
	described := make(chan *prometheus.Desc, 100)
	c.Describe(described)
	close(described)
	for d := range described {
		name := regexp.MustCompile(`fqName: "([a-z_]+)"`).FindStringSubmatch(d.String())[1]
		all[name] = true
		known[name], known[name+"_bucket"], known[name+"_sum"], known[name+"_count"] = true, true, true, true
	}
	used := regexp.MustCompile(`gpuframe_[a-z_]+`).FindAllString(string(text), -1)
	require.NotEmpty(t, used)
	for _, name := range used {
		assert.True(t, known[name], name)
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			used = append(used, strings.TrimSuffix(name, suffix))
		}
	}
	for name := range all {
		assert.Contains(t, used, name, "the dashboard shows every metric")
	}
}

// Names of any bytes and any length are labels, and do not fail the scrape.
func TestHostileLabels(t *testing.T) {
	c, e := service(t)
	for _, tag := range []string{"\xff", "\xfe", "\uFFFD", strings.Repeat("long", 1<<16), strings.Repeat("long", 1<<16) + "er", "\x00"} {
		block, err := e.Manager().Allocate(100, memory.AllocateOptions{Tag: tag})
		require.NoError(t, err)
		defer func() { require.NoError(t, block.Release()) }()
	}
	child, err := e.Manager().Child("tenant \xff", 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, child.Close()) }()
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(c))
	for range 2 { // the second scrape has the labels of the first
		families, err := registry.Gather()
		require.NoError(t, err)
		tags := make(map[string]float64)
		for _, family := range families {
			for _, m := range family.GetMetric() {
				for _, label := range m.GetLabel() {
					require.Less(t, len(label.GetValue()), 300)
					if family.GetName() == "gpuframe_memory_tag_in_use_bytes" && label.GetName() == "tag" {
						tags[label.GetValue()] = m.GetGauge().GetValue()
					}
				}
			}
		}
		hundreds := 0
		for _, bytes := range tags {
			if bytes == 100 {
				hundreds++
			}
		}
		require.Equal(t, 6, hundreds, "%v", tags)
	}
}

// value returns the value of a counter that has one set of labels.
func value(t *testing.T, registry *prometheus.Registry, name string) float64 {
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == name {
			require.Len(t, family.GetMetric(), 1)
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	require.Fail(t, "there is no metric "+name)
	return 0
}

// BenchmarkScrape reads all metrics of 100,000 blocks with 1,000 tags while another
// goroutine allocates. It reports the median scrape, and the longest time and the 99.99 %
// quantile that a pair of an allocation and a release took meanwhile, and without scrapes.
func BenchmarkScrape(b *testing.B) {
	for _, name := range []string{"host", "cuda:0"} {
		b.Run(name, func(b *testing.B) {
			mgr, err := memory.NewManager(devicetest.Open(b, name), memory.Options{})
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, mgr.Close()) })
			for i := range 100_000 {
				block, err := mgr.Allocate(512, memory.AllocateOptions{Tag: fmt.Sprint("tag ", i%1000)})
				require.NoError(b, err)
				b.Cleanup(func() { require.NoError(b, block.Release()) })
			}
			r, err := observe.New(observe.Options{Managers: []*memory.Manager{mgr}, SampleBytes: observe.DefaultSampleBytes, Events: 10_000})
			require.NoError(b, err)
			b.Cleanup(r.Close)
			registry := prometheus.NewRegistry()
			registry.MustRegister(metrics.NewCollector(r))
			quiet := pairsDuring(b, mgr, func() { time.Sleep(time.Second) })
			var scrapes []time.Duration
			scraped := pairsDuring(b, mgr, func() {
				for b.Loop() {
					begin := time.Now()
					_, err := registry.Gather()
					require.NoError(b, err)
					scrapes = append(scrapes, time.Since(begin))
				}
			})
			slices.Sort(scrapes)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(scrapes[len(scrapes)/2].Microseconds()), "µs/scrape")
			for name, times := range map[string][]time.Duration{"quiet": quiet, "scraped": scraped} {
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)-1].Microseconds()), "µs-max/"+name)
				b.ReportMetric(float64(times[len(times)-1-len(times)/10000].Nanoseconds())/1000, "µs-p99.99/"+name)
			}
		})
	}
}

// pairsDuring returns the times of allocations and releases while a function runs.
func pairsDuring(b *testing.B, mgr *memory.Manager, f func()) (times []time.Duration) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
			}
			begin := time.Now()
			block, err := mgr.Allocate(4096, memory.AllocateOptions{Tag: "pair"})
			if err == nil {
				err = block.Release()
			}
			times = append(times, time.Since(begin))
			if err != nil {
				b.Error(err)
				return
			}
		}
	}()
	f()
	close(done)
	<-ended
	return times
}
