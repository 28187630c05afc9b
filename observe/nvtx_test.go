//go:build cgo && linux && (amd64 || arm64)

package observe_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

const profiledQueries = 4

// TestQueriesForAProfiler runs queries at the same time, in a process with a profiler that
// TestProfilerSeesQueries starts.
func TestQueriesForAProfiler(t *testing.T) {
	if os.Getenv("GPUFRAME_NVTX_LOG") == "" {
		t.Skip("TestProfilerSeesQueries runs this test in its own process")
	}
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<30))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	var queries sync.WaitGroup
	for i := range profiledQueries {
		queries.Go(func() {
			name := fmt.Sprint("column", i)
			b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Int64}}, nil))
			defer b.Release()
			b.Field(0).(*array.Int64Builder).AppendValues([]int64{3, 1, 2}, nil)
			record := b.NewRecord()
			defer record.Release()
			f, err := e.Records(record.Schema(), record).Sort(gpuframe.Col(name)).Collect(t.Context(), gpuframe.Tag(fmt.Sprint("number ", i)))
			if assert.NoError(t, err) {
				assert.NoError(t, f.Release())
			}
		})
	}
	queries.Wait()
}

// A profiler sees each query as a range, and its operations as ranges inside.
func TestProfilerSeesQueries(t *testing.T) {
	library, log := filepath.Join(t.TempDir(), "injection.so"), filepath.Join(t.TempDir(), "log")
	compiler := cmp.Or(os.Getenv("CC"), "cc")
	out, err := exec.Command(compiler, "-O1", "-shared", "-fPIC", "-pthread", "-o", library, "../internal/driver/nvtx/testdata/injection.c").CombinedOutput()
	require.NoError(t, err, string(out))
	command := exec.Command(os.Args[0], "-test.run=^TestQueriesForAProfiler$")
	command.Env = append(os.Environ(), "NVTX_INJECTION64_PATH="+library, "GPUFRAME_NVTX_LOG="+log)
	out, err = command.CombinedOutput()
	require.NoError(t, err, string(out))
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Equal(t, "domain gpuframe", lines[0])
	assert.NotContains(t, string(text), "WRONG")
	// begins and ends are the lines of each range.
	begins, ends, names := make(map[string]int), make(map[string]int), make(map[string]string)
	for i, line := range lines[1:] {
		word, rest, _ := strings.Cut(line, " ")
		id, name, _ := strings.Cut(rest, " ")
		if word == "start" {
			begins[id], names[id] = i, name
			continue
		}
		require.Equal(t, "end", word)
		require.Contains(t, begins, id)
		require.NotContains(t, ends, id)
		ends[id] = i
	}
	require.Len(t, ends, len(begins))
	for i := range profiledQueries {
		query, inside := "", 0
		for id, name := range names {
			if name == fmt.Sprint("query number ", i) {
				require.Empty(t, query)
				query = id
			}
		}
		require.NotEmpty(t, query, "%v", names)
		for id, name := range names {
			if id != query && strings.Contains(name, fmt.Sprint("column", i)) {
				assert.Less(t, begins[query], begins[id], name)
				assert.Less(t, ends[id], ends[query], name)
				inside++
			}
		}
		assert.Positive(t, inside, "%v", names)
	}
}
