package kernels_test

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// The functions here are the walk-through of docs/kernels.md.

//go:embed testdata/scale.ptx
var scalePTX string

// scale writes factor * in to out, on the stream.
func scale(stream *device.Stream, out, in memory.Slice[float64], factor float64) error {
	module, err := kernels.LoadCached(stream.Device(), scalePTX, kernels.LoadOptions{Strict: true})
	if err != nil {
		return err
	}
	f, err := module.Function("scale")
	if err != nil {
		return err
	}
	const threads, each = 256, 4
	grid, err := f.Grid(in.Len(), threads, each, 0)
	if err != nil {
		return err
	}
	return f.Launch(stream, grid, device.Dim3{X: threads}, 0, kernels.Output(out), in, uint64(in.Len()), factor)
}

// clamp keeps values within low and high, which the kernel takes as a struct.
func clamp(stream *device.Stream, values memory.Slice[float64], low, high float64) error {
	module, err := kernels.LoadCached(stream.Device(), scalePTX, kernels.LoadOptions{Strict: true})
	if err != nil {
		return err
	}
	f, err := module.Function("clamp")
	if err != nil {
		return err
	}
	return f.Launch(stream, kernels.GridFor(values.Len(), 256), device.Dim3{X: 256}, 0,
		values, uint64(values.Len()), kernels.Struct(low, high))
}

func TestWalkThrough(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		const n = 1000
		mgr := devicetest.Manager(t, dev, memory.Options{})
		in, out := newSlice[float64](t, mgr, n), newSlice[float64](t, mgr, n)
		require.NoError(t, in.Fill(nil, 1.5))
		require.NoError(t, scale(mgr.Stream(), out, in, 3))
		require.NoError(t, clamp(mgr.Stream(), out, -1, 4))
		assert.Equal(t, slices.Repeat([]float64{4}, n), download(t, out))
	})
}

// A pipeline is captured once and launched for each batch, which is copied into the
// graph's input. Without an Output comment the example is compiled and not run: it needs
// a GPU.
func ExampleCapture() {
	const n = 1_000_000
	ctx := context.Background()
	dev, err := device.Open("cuda:0")
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer mgr.Close()
	in, err := memory.NewSlice[float64](mgr, n, memory.AllocateOptions{Tag: "input"})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Release()

	var out memory.Slice[float64]
	graph, err := kernels.Capture(dev, func(stream *device.Stream) (err error) {
		if out, err = memory.NewSlice[float64](mgr, n, memory.AllocateOptions{Stream: stream, Tag: "result"}); err != nil {
			return err
		}
		if err := scale(stream, out, in, 3); err != nil {
			return err
		}
		return clamp(stream, out, 0, 100)
	})
	if err != nil {
		log.Fatal(err)
	}
	defer graph.Close()
	defer out.Release()

	batch, results := make([]float64, n), make([]float64, n)
	for range 10 {
		if err := in.Upload(ctx, mgr.Stream(), batch); err != nil {
			log.Fatal(err)
		}
		// On the input's stream, so after the upload; the download comes after it.
		if err := graph.Launch(mgr.Stream()); err != nil {
			log.Fatal(err)
		}
		if err := out.Download(ctx, mgr.Stream(), results); err != nil {
			log.Fatal(err)
		}
		fmt.Println(results[0])
	}
}

// Code that is loaded in many places is loaded once.
func ExampleLoadCached() {
	dev, err := device.Open("host")
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	_, err = kernels.LoadCached(dev, scalePTX, kernels.LoadOptions{CacheDirectory: "/var/cache/my-program/kernels"})
	fmt.Println(err != nil, "on", dev)
	// Output: true on host
}
