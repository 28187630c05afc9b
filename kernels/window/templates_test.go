package window

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/kernelset"
	"github.com/gpuframe/gpuframe/internal/layout"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// foldInstances returns the kernels of all folds and storages.
func foldInstances() []*kernelset.Instance {
	var all []*kernelset.Instance
	add := func(f *fold, class layout.Class, bytes ...int) {
		for _, n := range bytes {
			all = append(all, &f.kernels.of(storage{class, n}).Instance)
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

// text returns the text that the driver compiles for an instance, but for its name.
func text(t testing.TB, i *kernelset.Instance) string {
	template, err := set.Entry(i.File, i.Template)
	require.NoError(t, err)
	filled, lines, err := ptx.Fill(template, i.Holes())
	require.NoError(t, err)
	require.Positive(t, lines)
	return filled
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
		require.Equal(t, 1, strings.Count(text(t, i), ".entry "+i.Template+"("), i.Entry)
	}
	entries := 0
	for _, name := range []string{"cumulative", "fill"} {
		file, err := set.Text(name)
		require.NoError(t, err)
		entries += strings.Count(file, ".entry ")
	}
	require.Equal(t, entries, len(used), "each template is used")
}

// BenchmarkText measures what the first use of a kernel adds to the driver's work: the
// driver compiles such a text for 100 ms or more.
func BenchmarkText(b *testing.B) {
	for _, i := range []*kernelset.Instance{&sum.kernels.of(storage{layout.Signed, 8}).Instance, &minimum.kernels.of(storage{layout.Float, 2}).Instance} {
		b.Run(i.Entry, func(b *testing.B) {
			for b.Loop() {
				text(b, i)
			}
		})
	}
}
