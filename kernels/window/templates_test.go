package window

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
)

// foldInstances returns the kernels of all folds and storages.
func foldInstances() []*kernelset.Instance {
	var all []*kernelset.Instance
	add := func(f *fold, class layout.Class, bytes ...int) {
		for _, n := range bytes {
			all = append(all, &f.kernels.instanceFor(storage{class, n}).Instance)
		}
	}
	for _, f := range []*fold{&sum, &product, &minimum, &xor} {
		add(f, layout.Unsigned, 1, 2, 4, 8)
	}
	for _, f := range []*fold{&sum, &product, &minimum} {
		add(f, layout.Float, 2, 4, 8)
	}
	add(&sum, layout.Signed, 16)
	add(&minimum, layout.Signed, 16)
	return all
}

// TestTemplates fills all templates: each definition fits the holes of its template, and
// no two kernels share a name.
func TestTemplates(t *testing.T) {
	all := foldInstances()
	for i := range fillKernels {
		all = append(all, &fillKernels[i])
	}
	names, used := map[string]bool{"fill_1": true}, map[string]bool{"fill_1": true}
	for _, i := range all {
		require.False(t, names[i.Entry], i.Entry)
		names[i.Entry], used[i.Template] = true, true
		text, err := i.Text(&set)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(text, ".entry "+i.Entry+"("), i.Entry)
		require.NotContains(t, text, "//@", i.Entry)
	}
	for entry, file := range entries {
		require.True(t, used[entry] || file == "over" || file == "spread" || file == "heads" || file == "decimals", "the template %s is used", entry)
	}
}

// BenchmarkText measures what the first use of a kernel adds to the driver's work: the
// driver compiles such a text for 100 ms or more.
func BenchmarkText(b *testing.B) {
	for _, i := range []*kernelset.Instance{&sum.kernels.instanceFor(storage{layout.Signed, 8}).Instance, &minimum.kernels.instanceFor(storage{layout.Float, 2}).Instance} {
		b.Run(i.Entry, func(b *testing.B) {
			for b.Loop() {
				if _, err := i.Text(&set); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
