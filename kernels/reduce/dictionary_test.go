package reduce_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// TestCountOfLongDictionaries counts rows in several parts, which goroutines on the
// host reduce concurrently. The race detector reports a race on the dictionary that
// arrow-go creates on the first read; without it the manager reports the lost reference
// in one of a thousand runs.
func TestCountOfLongDictionaries(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	of := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.Binary}
	in := arraytest.NewGenerator(1).Array(of, 20_000)
	defer in.Release()
	c, err := column.FromArray(t.Context(), mgr, in, column.UploadOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Release()) }()
	for range 50 {
		count, err := reduce.Column(t.Context(), c, reduce.Count)
		require.NoError(t, err)
		require.NoError(t, count.Release())
	}
}
