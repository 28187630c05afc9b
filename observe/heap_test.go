package observe_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe"
)

// newRecorder makes a manager and a recorder of it until the end of the test.
func newRecorder(t *testing.T, options observe.Options, budget uint64) (*observe.Recorder, *memory.Manager) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Name: "service", Budget: budget})
	options.Managers = []*memory.Manager{mgr}
	r, err := observe.New(options)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r, mgr
}

//go:noinline
func loadPrices(t *testing.T, m *memory.Manager, bytes uint64, tag string) *memory.Block {
	block, err := m.Allocate(bytes, memory.AllocateOptions{Tag: tag})
	require.NoError(t, err)
	t.Cleanup(func() {
		if block.References() > 0 {
			require.NoError(t, block.Release())
		}
	})
	return block
}

func readHeap(t *testing.T, r *observe.Recorder) *profile.Profile {
	var file bytes.Buffer
	require.NoError(t, r.WriteHeap(&file))
	made, err := profile.Parse(&file)
	require.NoError(t, err)
	require.NoError(t, made.CheckValid())
	return made
}

// totals sums the values of the samples with a label.
func totals(p *profile.Profile, label, value string) []int64 {
	sums := make([]int64, len(p.SampleType))
	for _, s := range p.Sample {
		if label == "" || len(s.Label[label]) == 1 && s.Label[label][0] == value {
			for i, v := range s.Value {
				sums[i] += v
			}
		}
	}
	return sums
}

func TestHeapProfile(t *testing.T) {
	r, mgr := newRecorder(t, observe.Options{SampleBytes: 1}, 0)
	child, err := mgr.Child("tenant", 0)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, loadPrices(t, mgr, 1000, "prices").Release())
	}
	held := loadPrices(t, child, 500, "prices")
	made := readHeap(t, r)
	assert.Equal(t, []int64{4, 3500, 1, 500}, totals(made, "tag", "prices"))
	assert.Equal(t, []int64{1, 500, 1, 500}, totals(made, "tenant", "tenant"))
	assert.Equal(t, []int64{4, 3500, 1, 500}, totals(made, "device", "host"))
	assert.Equal(t, "inuse_space", made.DefaultSampleType)
	for _, s := range made.Sample {
		assert.Equal(t, "github.com/gpuframe/gpuframe/observe_test.loadPrices", s.Location[0].Line[0].Function.Name, "the allocator is hidden")
	}
	require.NoError(t, held.Release())
	require.NoError(t, child.Close())
	assert.Equal(t, []int64{4, 3500, 0, 0}, totals(readHeap(t, r), "", ""))
	r.Close()
	r.Close()
	loadPrices(t, mgr, 10, "later")
	assert.Equal(t, []int64{4, 3500, 0, 0}, totals(readHeap(t, r), "", ""), "a closed recorder records nothing")
}

func TestHeapProfileIsEmptyWithoutSampling(t *testing.T) {
	r, mgr := newRecorder(t, observe.Options{}, 0)
	loadPrices(t, mgr, 1<<20, "")
	assert.Empty(t, readHeap(t, r).Sample)
}

// The profile that a server sends, as "go tool pprof URL" reads it.
func TestHeapProfileOfAServer(t *testing.T) {
	r, mgr := newRecorder(t, observe.Options{SampleBytes: 1}, 0)
	loadPrices(t, mgr, 3<<20, "prices")
	server := httptest.NewServer(r.HeapHandler())
	defer server.Close()
	reply, err := server.Client().Get(server.URL)
	require.NoError(t, err)
	defer reply.Body.Close()
	heap, err := profile.Parse(reply.Body)
	require.NoError(t, err)
	require.NoError(t, heap.CheckValid())
	inUse, err := heap.SampleIndexByName("inuse_space")
	require.NoError(t, err)
	byDefault, err := heap.SampleIndexByName("")
	require.NoError(t, err)
	assert.Equal(t, inUse, byDefault)
	require.Len(t, heap.Sample, 1)
	assert.EqualValues(t, 3<<20, heap.Sample[0].Value[inUse])
	assert.Equal(t, "bytes", heap.SampleType[inUse].Unit)
	assert.Equal(t, "github.com/gpuframe/gpuframe/observe_test.loadPrices", heap.Sample[0].Location[0].Line[0].Function.Name)
}

func get(t *testing.T, h http.Handler, url string) *http.Response {
	recorded := httptest.NewRecorder()
	h.ServeHTTP(recorded, httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
	return recorded.Result()
}

func TestHeapHandler(t *testing.T) {
	r, mgr := newRecorder(t, observe.Options{SampleBytes: 1}, 0)
	loadPrices(t, mgr, 1000, "prices")
	text, err := io.ReadAll(get(t, r.HeapHandler(), "/?debug=1").Body)
	require.NoError(t, err)
	assert.Contains(t, string(text), "loadPrices")
	for _, seconds := range []string{"0", "-1", "x", "99999999999999999999", "3601"} {
		assert.Equal(t, http.StatusBadRequest, get(t, r.HeapHandler(), "/?seconds="+seconds).StatusCode, seconds)
	}
	recorded := httptest.NewRecorder()
	r.HeapHandler().ServeHTTP(recorded, httptest.NewRequest(http.MethodPost, "/", nil))
	assert.Equal(t, http.StatusMethodNotAllowed, recorded.Code)

	// The difference has nothing that was allocated before the period.
	delta, err := profile.Parse(get(t, r.HeapHandler(), "/?seconds=1").Body)
	require.NoError(t, err)
	assert.Equal(t, []int64{0, 0, 0, 0}, totals(delta, "", ""))
	assert.Positive(t, delta.DurationNanos)
}

func TestListHeap(t *testing.T) {
	observe.ListHeap()
	observe.ListHeap()
	require.NotNil(t, pprof.Lookup("gpu_heap"))
}
