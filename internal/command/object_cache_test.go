package command

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/objectstore"
)

// What a command has read of a web server, a later one reads from the folder.
func TestObjectCache(t *testing.T) {
	defer objectstore.SetCache(nil)
	var ranges atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") != "" {
			ranges.Add(1)
		}
		w.Header().Set("ETag", `"one"`)
		http.ServeContent(w, r, "sales.csv", time.Time{}, strings.NewReader("city,price\nOslo,3\nBergen,5\n"))
	}))
	defer server.Close()
	folder := filepath.Join(t.TempDir(), "cache")
	var first int64
	for i := range 2 {
		output, messages, err := command(t.Context(), "query", server.URL+"/sales.csv", "--to", "csv", "--object-cache", folder, "--object-cache-size", "1MiB", "--profile")
		require.NoError(t, err)
		require.Equal(t, "city,price\nOslo,3\nBergen,5\n", output)
		if i == 0 {
			first = ranges.Load()
			require.Positive(t, first)
			continue
		}
		require.Equal(t, first, ranges.Load())
		require.Contains(t, messages, "from the cache")
	}
}
