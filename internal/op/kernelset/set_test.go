package kernelset_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/op/kernelset/archive"
	"github.com/gpuframe/gpuframe/internal/testing/allocations"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
)

// files are two files of kernels, as far as a device of launchtest looks at them.
var files = fstest.MapFS{
	"cuda/one.ptx":  {Data: []byte(".version 7.0\n.visible .entry alpha(\n)\n{\n\tret;\n}\n.visible .entry beta(\n)\n{\n\tret;\n}\n")},
	"cuda/two.ptx":  {Data: []byte(".version 7.0\n.visible .entry gamma(\n)\n{\n\tret;\n}\n")},
	"elsewhere.ptx": {Data: []byte(".version 7.0\n.visible .entry alpha(\n)\n{\n\tret;\n}\n")},
}

func open(t testing.TB) (*launchtest.GPU, *device.Device) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"alpha": {}, "beta": {}, "gamma": {}}}
	return gpu, launchtest.Open(t, gpu)
}

// TestArchives compares a file with its archive.
func TestArchives(t *testing.T) {
	packed, err := archive.Pack(string(files["cuda/one.ptx"].Data))
	require.NoError(t, err)
	sets := []*kernelset.Set{
		{Files: files, Directory: "cuda"},
		{Files: fstest.MapFS{"cuda/one.ptx.packed": {Data: packed}}, Directory: "cuda"},
	}
	var texts, entries [2]string
	for i, set := range sets {
		texts[i], err = set.Text("one")
		require.NoError(t, err)
		entries[i], err = set.Entry("one", "beta")
		require.NoError(t, err)
	}
	require.Equal(t, texts[0], texts[1])
	require.Equal(t, entries[0], entries[1])
	require.NotContains(t, entries[1], "alpha")
	_, err = (&kernelset.Set{Files: fstest.MapFS{"cuda/one.ptx.packed": {Data: packed[:20]}}, Directory: "cuda"}).Text("one")
	require.ErrorContains(t, err, `archive: member 0`)
}

func TestKernelIsCompiledOnce(t *testing.T) {
	for _, apart := range []bool{false, true} {
		t.Run(fmt.Sprint("apart ", apart), func(t *testing.T) {
			set := kernelset.Set{Files: files, Directory: "cuda", Apart: apart}
			gpu, dev := open(t)
			var callers sync.WaitGroup
			got := make([]*kernels.Function, 16)
			for i := range got {
				callers.Go(func() {
					f, err := set.Kernel(t.Context(), dev, "one", []string{"alpha", "beta"}[i%2])
					assert.NoError(t, err)
					got[i] = f
				})
			}
			callers.Wait()
			for i, f := range got {
				assert.Same(t, got[i%2], f)
			}
			images := gpu.Images()
			if apart {
				require.Len(t, images, 2)
				for _, image := range images {
					assert.Equal(t, 1, strings.Count(image, ".entry"))
				}
			} else {
				require.Len(t, images, 1)
			}
			_, other := open(t)
			f, err := set.Kernel(t.Context(), other, "one", "alpha")
			require.NoError(t, err)
			assert.NotSame(t, got[0], f, "another device has its own")
		})
	}
}

func TestErrorsNameFileAndEntry(t *testing.T) {
	set := kernelset.Set{Files: files, Directory: "cuda"}
	_, dev := open(t)
	for _, of := range []struct {
		file, entry string
		wraps       error
	}{{"elsewhere", "alpha", fs.ErrNotExist}, {"one", "delta", backend.ErrNotFound}} {
		_, err := set.Kernel(t.Context(), dev, of.file, of.entry)
		require.ErrorIs(t, err, of.wraps)
		require.ErrorContains(t, err, "kernel "+of.entry+" of "+of.file+".ptx")
	}
	_, err := set.Kernel(t.Context(), nil, "one", "alpha")
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = set.Kernel(t.Context(), devicetest.Open(t, "host"), "one", "alpha")
	require.ErrorIs(t, err, device.ErrNotSupported)
}

// TestWaitingEndsWithTheContext has one caller compile while another one, whose context
// ends, waits. The compiler goes on and its kernel is kept.
func TestWaitingEndsWithTheContext(t *testing.T) {
	dev := devicetest.Open(t, "host")
	var kept kernelset.Generated[int]
	building, finish := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		_, err := kept.Get(t.Context(), dev, []byte("key"), func() (int, error) {
			close(building)
			<-finish
			return 7, nil
		})
		first <- err
	}()
	<-building
	cause := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	second := make(chan error, 1)
	go func() {
		_, err := kept.Get(ctx, dev, []byte("key"), func() (int, error) { return 0, errors.New("built twice") })
		second <- err
	}()
	cancel(cause)
	err := <-second
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, cause)
	close(finish)
	require.NoError(t, <-first)
	// A value that is there is not waited for.
	value, err := kept.Get(ctx, dev, []byte("key"), nil)
	require.NoError(t, err)
	require.Equal(t, 7, value)
	_, err = kept.Get(ctx, dev, []byte("another key"), nil)
	require.ErrorIs(t, err, context.Canceled)
}

// TestLookUpAllocatesNothing keeps the launch path free of allocations.
func TestLookUpAllocatesNothing(t *testing.T) {
	set := kernelset.Set{Files: files, Directory: "cuda"}
	_, dev := open(t)
	ctx := t.Context()
	require.Zero(t, allocations.PerRun(func() {
		if _, err := set.Kernel(ctx, dev, "one", "alpha"); err != nil {
			t.Fatal(err)
		}
	}))
}

func BenchmarkKernel(b *testing.B) {
	set := kernelset.Set{Files: files, Directory: "cuda"}
	_, dev := open(b)
	ctx := b.Context()
	for b.Loop() {
		if _, err := set.Kernel(ctx, dev, "one", "alpha"); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleSet() {
	set := kernelset.Set{Files: files, Directory: "cuda"}
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	_, err = set.Kernel(context.Background(), dev, "three", "delta")
	fmt.Println(err)
	// Output: kernel delta of three.ptx: open cuda/three.ptx: file does not exist
}
