package group

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
)

// histogramInstances returns the kernels of all number formats.
func histogramInstances() []*kernelset.Instance {
	var all []*kernelset.Instance
	for width := range wholeKernels {
		all = append(all, &wholeKernels[width])
		for class := range realKernels {
			if numbers.Class(class) != numbers.Float || width > 0 {
				all = append(all, &realKernels[class][width])
			}
		}
	}
	return all
}

func TestTemplates(t *testing.T) {
	names := map[string]bool{}
	for _, i := range histogramInstances() {
		text, err := i.Text(&set)
		require.NoError(t, err)
		require.Contains(t, text, ".entry "+i.Entry+"(")
		require.NotContains(t, text, "//@", i.Entry)
		require.False(t, names[i.Entry], i.Entry)
		names[i.Entry] = true
	}
	require.Len(t, names, 15)
}

// BenchmarkText measures what the first use of a kernel adds to the driver's work.
func BenchmarkText(b *testing.B) {
	for b.Loop() {
		if _, err := realKernels[numbers.Float][3].Text(&set); err != nil {
			b.Fatal(err)
		}
	}
}
