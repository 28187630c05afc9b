package op_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// numbers makes a column of rows rows. Its memory belongs to the stream.
func numbers(t *testing.T, mgr *memory.Manager, stream *device.Stream, rows int) *column.Column {
	t.Helper()
	s, err := memory.NewSlice[int64](mgr, rows, memory.AllocateOptions{Stream: stream})
	require.NoError(t, err)
	c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Length: rows, Buffers: []column.Bytes{{}, s.AsBytes()}})
	require.NoError(t, err)
	require.NoError(t, s.Release())
	t.Cleanup(func() { require.NoError(t, c.Release()) })
	return c
}

func TestBeginChooses(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		child, err := mgr.Child("child", 0)
		require.NoError(t, err)
		defer func() { require.NoError(t, child.Close()) }()
		stream, err := dev.NewStream()
		require.NoError(t, err)
		defer func() { require.NoError(t, stream.Close()) }()
		first, second := numbers(t, mgr, stream, 3), numbers(t, mgr, nil, 3)

		call, err := op.Begin(t.Context(), kernels.Options{}, first, second)
		require.NoError(t, err)
		assert.Same(t, mgr, call.Manager)
		assert.Same(t, stream, call.Stream)
		assert.Equal(t, dev.Kind() == device.Host, call.OnHost())

		call, err = op.Begin(t.Context(), kernels.Options{Manager: child, Stream: mgr.Stream(), Tag: "tag"}, first)
		require.NoError(t, err)
		assert.Same(t, child, call.Manager)
		assert.Same(t, mgr.Stream(), call.Stream)
		block, slices, err := call.Allocate(10, 0, 300)
		require.NoError(t, err)
		assert.Equal(t, "tag", block.Tag())
		assert.EqualValues(t, []uint64{10, 0, 300}, []uint64{slices[0].Bytes(), slices[1].Bytes(), slices[2].Bytes()})
		assert.Zero(t, uint64(slices[2].Pointer())%256-uint64(block.Pointer())%256)
		require.NoError(t, block.Release())
	})
}

func TestBeginRefuses(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	_, err := op.Begin(t.Context(), kernels.Options{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "set Options.Manager")
	_, err = op.Begin(t.Context(), kernels.Options{Manager: mgr}, nil)
	require.ErrorIs(t, err, memory.ErrReleased)

	other := devicetest.OpenKernels(t)
	theirs := devicetest.Manager(t, other, memory.Options{})
	_, err = op.Begin(t.Context(), kernels.Options{Stream: theirs.Stream()}, numbers(t, mgr, nil, 1))
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = op.Begin(t.Context(), kernels.Options{Manager: theirs}, numbers(t, mgr, nil, 1))
	require.ErrorIs(t, err, device.ErrInvalidValue)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	input := numbers(t, mgr, nil, 1)
	release, err := dev.Driver().(interface {
		HoldStream(backend.Stream) (func(), error)
	}).HoldStream(mgr.Stream().Handle())
	require.NoError(t, err)
	_, err = op.Begin(ended, kernels.Options{}, input)
	require.ErrorIs(t, err, context.Canceled)
	release()

	call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr})
	require.NoError(t, err)
	_, _, err = call.Allocate(math.MaxInt64/2, math.MaxInt64/2, 1024)
	require.ErrorIs(t, err, memory.ErrOverflow)
	block, _, err := call.Allocate(0, 0)
	require.NoError(t, err)
	require.Nil(t, block)
}

// TestNewMemoryIsTheOperators checks that a resource's fill of new memory has completed
// when the operator gets the memory.
func TestNewMemoryIsTheOperators(t *testing.T) {
	dev := devicetest.Open(t, "host")
	poison := adaptor.NewPoison(memory.NewDriverResource(dev), adaptor.PoisonOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: poison})
	call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr})
	require.NoError(t, err)
	for range 100 {
		block, slices, err := call.Allocate(1 << 16)
		require.NoError(t, err)
		bytes, err := slices[0].Host()
		require.NoError(t, err)
		clear(bytes)
		require.NoError(t, call.WaitIdle(t.Context()))
		for i, b := range bytes {
			require.Zero(t, b, "byte %d", i)
		}
		require.NoError(t, block.Release())
	}
}

func Example() {
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()
	call, err := op.Begin(context.Background(), kernels.Options{Manager: mgr})
	if err != nil {
		fmt.Println(err)
		return
	}
	block, buffers, err := call.Allocate(13, 800)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer block.Release()
	fmt.Println(block.Bytes(), buffers[0].Len(), buffers[1].Len())
	// Output: 1280 13 800
}
