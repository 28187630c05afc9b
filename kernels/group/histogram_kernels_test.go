package group

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/kernelset"
	"github.com/gpuframe/gpuframe/internal/numbers"
	"github.com/gpuframe/gpuframe/internal/ptx"
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

func text(t testing.TB, i *kernelset.Instance) (filled string, lines int) {
	template, err := set.Entry(i.File, i.Template)
	require.NoError(t, err)
	filled, lines, err = ptx.Fill(template, i.Holes())
	require.NoError(t, err)
	return filled, lines
}

func TestTemplates(t *testing.T) {
	names := map[string]bool{}
	for _, i := range histogramInstances() {
		_, lines := text(t, i)
		require.Positive(t, lines, i.Entry)
		require.False(t, names[i.Entry], i.Entry)
		names[i.Entry] = true
	}
	require.Len(t, names, 15)
}

// BenchmarkText measures what the first use of a kernel adds to the driver's work.
func BenchmarkText(b *testing.B) {
	for b.Loop() {
		text(b, &realKernels[numbers.Float][3])
	}
}
