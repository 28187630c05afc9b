package kernelset_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/ptx"
	"github.com/gpuframe/gpuframe/internal/testing/allocations"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
)

// templates is a file of two templates, each with a hole.
var templates = fstest.MapFS{
	"cuda/fold.ptx": {Data: []byte(".version 7.0\n.visible .entry fold_32(\n)\n{\n\t//@fold %r1 = %r2 %r3\n\tret;\n}\n" +
		".visible .entry fold_64(\n)\n{\n\t//@fold %rd1 = %rd2 %rd3\n\tret;\n}\n")},
}

var foldEntries = kernelset.Entries{"fold_32": "fold", "fold_64": "fold", "stale": "fold", "absent": "scan"}

func instance(template, entry, instruction string) *kernelset.Instance {
	return &kernelset.Instance{Template: template, Entry: entry, Holes: func() map[string]ptx.Hole {
		return map[string]ptx.Hole{
			"fold": ptx.Function{Results: 1, Arguments: 2, Code: func(b *ptx.Builder, results, arguments []ptx.Register) {
				b.Move(instruction, results[0], arguments...)
			}}.Hole(),
		}
	}}
}

// TestInstances makes two kernels from one template. Each is compiled alone, under its
// own name, and once.
func TestInstances(t *testing.T) {
	set := kernelset.Set{Files: templates, Directory: "cuda", Entries: foldEntries}
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"sum": {}, "least": {}}}
	dev := launchtest.Open(t, gpu)
	sum, least := instance("fold_32", "sum", "add.u32"), instance("fold_32", "least", "min.u32")
	first, err := set.Instance(t.Context(), dev, sum)
	require.NoError(t, err)
	second, err := set.Instance(t.Context(), dev, least)
	require.NoError(t, err)
	require.NotSame(t, first, second)
	again, err := set.Instance(t.Context(), dev, sum)
	require.NoError(t, err)
	require.Same(t, first, again)
	images := gpu.Images()
	require.Len(t, images, 2)
	for i, want := range []string{".entry sum(\n)\n{\n\tadd.u32 %r1, %r2, %r3;", ".entry least(\n)\n{\n\tmin.u32 %r1, %r2, %r3;"} {
		require.Contains(t, images[i], want)
		require.Equal(t, 1, strings.Count(images[i], ".entry"))
	}
	require.Zero(t, allocations.PerRun(func() {
		if _, err := set.Instance(t.Context(), dev, sum); err != nil {
			t.Fatal(err)
		}
	}))
}

func TestInstanceErrors(t *testing.T) {
	set := kernelset.Set{Files: templates, Directory: "cuda", Entries: foldEntries}
	dev := launchtest.Open(t, &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"sum": {}}})
	missing := instance("fold_32", "sum", "add.u32")
	missing.Holes = func() map[string]ptx.Hole { return nil }
	_, err := set.Instance(t.Context(), dev, missing)
	require.ErrorContains(t, err, "kernel sum, an instance of fold_32: the line //@fold %r1 = %r2 %r3 names no hole")
	_, err = set.Instance(t.Context(), dev, instance("fold_16", "sum", "add.u32"))
	require.ErrorIs(t, err, backend.ErrNotFound)
	require.ErrorContains(t, err, "the set has no entry fold_16")
	_, err = set.Instance(t.Context(), dev, instance("stale", "sum", "add.u32"))
	require.ErrorIs(t, err, backend.ErrNotFound)
	require.ErrorContains(t, err, "its file has no entry stale")
	_, err = set.Instance(t.Context(), dev, instance("absent", "sum", "add.u32"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
