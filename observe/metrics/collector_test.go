package metrics_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer/spill"
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
}

// TestDashboard checks that the metrics of the dashboard exist.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	require.True(t, json.Valid(text))
	c, _ := service(t)
	known := make(map[string]bool)
	described := make(chan *prometheus.Desc, 100)
	c.Describe(described)
	close(described)
	for d := range described {
		name := regexp.MustCompile(`fqName: "([a-z_]+)"`).FindStringSubmatch(d.String())[1]
		known[name], known[name+"_bucket"], known[name+"_sum"], known[name+"_count"] = true, true, true, true
	}
	used := regexp.MustCompile(`gpuframe_[a-z_]+`).FindAllString(string(text), -1)
	require.NotEmpty(t, used)
	for _, name := range used {
		assert.True(t, known[name], name)
	}
}
