package memory_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// Any sequence of transfers has the same effect, on the device and on the host, as
// the same copies in ordinary memory.
func TestTransfersMatchAModel(t *testing.T) {
	eachTransferDevice(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Staging: memory.StagingOptions{ChunkBytes: 100_000, Workers: 2, Chunks: 3}})
		allocator := memory.NewPinnedAllocator(dev, 0)
		defer func() { require.NoError(t, allocator.Close()) }()
		property.Check(t, func(t *rapid.T) {
			w := newTransferModel(t, mgr, allocator)
			defer w.end()
			t.Repeat(map[string]func(*rapid.T){
				"upload":   w.upload,
				"padded":   w.padded,
				"range":    w.uploadRange,
				"read":     w.downloadRange,
				"download": w.download,
				"batch":    w.batch,
				"trim":     w.trim,
			})
		})
	})
}

// transferModel holds blocks on the device and their expected contents.
type transferModel struct {
	mgr       *memory.Manager
	allocator *memory.PinnedAllocator
	slices    []memory.Slice[uint8]
	want      [][]byte
	pinned    [][]byte
	stamp     byte
}

func newTransferModel(t *rapid.T, mgr *memory.Manager, allocator *memory.PinnedAllocator) *transferModel {
	w := &transferModel{mgr: mgr, allocator: allocator}
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		n := rapid.SampledFrom([]int{1, 100, 9_000, 250_000, 900_000}).Draw(t, "bytes")
		slice, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, slice.Fill(nil, 0))
		w.slices, w.want = append(w.slices, slice), append(w.want, make([]byte, n))
	}
	return w
}

func (w *transferModel) end() {
	for _, slice := range w.slices {
		_ = slice.Release() // the manager reports blocks that are still held
	}
	w.unpin()
}

func (w *transferModel) unpin() {
	for _, each := range w.pinned {
		w.allocator.Free(each)
	}
	w.pinned = nil
}

// memory returns n bytes of host memory, pinned or pageable, valid until the next
// unpin.
func (w *transferModel) memory(t *rapid.T, n int) []byte {
	if !rapid.Bool().Draw(t, "pinned") {
		return make([]byte, n)
	}
	made := w.allocator.Allocate(n)
	w.pinned = append(w.pinned, made)
	return made
}

// bytes returns memory with contents that differ from those of earlier calls.
func (w *transferModel) bytes(t *rapid.T, n int) []byte {
	made := w.memory(t, n)
	w.stamp++
	for i := range made {
		made[i] = w.stamp + byte(i*7)
	}
	return made
}

// extent draws a block and a part of it.
func (w *transferModel) extent(t *rapid.T) (which, from, to int) {
	which = rapid.IntRange(0, len(w.slices)-1).Draw(t, "which")
	n := len(w.want[which])
	from = rapid.IntRange(0, n).Draw(t, "from")
	to = rapid.IntRange(from, n).Draw(t, "to")
	if most := 40; rapid.Bool().Draw(t, "few") {
		to = min(to, from+most)
	}
	return which, from, to
}

func (w *transferModel) part(t *rapid.T, which, from, to int) memory.Slice[uint8] {
	part, err := w.slices[which].Slice(from, to)
	require.NoError(t, err)
	return part
}

func (w *transferModel) upload(t *rapid.T) {
	defer w.unpin()
	which, from, to := w.extent(t)
	padding := rapid.Byte().Draw(t, "padding")
	want := bytes.Repeat([]byte{padding}, to-from)
	var sources []memory.Source
	for at := 0; ; {
		at += rapid.SampledFrom([]int{0, 0, 1, 64, 5000, 140_000}).Draw(t, "gap")
		n := rapid.SampledFrom([]int{0, 1, 63, 4096, 70_000, 300_000}).Draw(t, "bytes")
		if at+n > len(want) {
			break
		}
		data := w.bytes(t, n)
		copy(want[at:], data)
		source := memory.Source{Offset: uint64(at), Data: data}
		if rapid.Bool().Draw(t, "computed") {
			source.Data, source.Bytes = nil, uint64(n)
			source.Fill = func(destination []byte, offset uint64) { copy(destination, data[offset:]) }
		}
		sources = append(sources, source)
		if at += n; rapid.IntRange(0, 4).Draw(t, "last") == 0 {
			break
		}
	}
	require.NoError(t, memory.UploadPadded(context.Background(), nil, w.part(t, which, from, to), sources, padding))
	copy(w.want[which][from:], want)
}

func (w *transferModel) padded(t *rapid.T) {
	defer w.unpin()
	which, from, to := w.extent(t)
	source := w.bytes(t, rapid.IntRange(0, to-from).Draw(t, "length"))
	padding := rapid.Byte().Draw(t, "padding")
	require.NoError(t, w.part(t, which, from, to).UploadPadded(context.Background(), nil, source, padding))
	copy(w.want[which][from:to], source)
	copy(w.want[which][from+len(source):], bytes.Repeat([]byte{padding}, to-from-len(source)))
}

func (w *transferModel) uploadRange(t *rapid.T) {
	defer w.unpin()
	which, from, to := w.extent(t)
	source := w.bytes(t, to-from)
	require.NoError(t, w.slices[which].UploadRange(context.Background(), nil, from, source))
	copy(w.want[which][from:], source)
}

func (w *transferModel) downloadRange(t *rapid.T) {
	defer w.unpin()
	which, from, to := w.extent(t)
	const border = 3
	got := w.memory(t, to-from+2*border)
	require.NoError(t, w.slices[which].DownloadRange(context.Background(), nil, from, got[border:border+to-from]))
	require.True(t, bytes.Equal(w.want[which][from:to], got[border:border+to-from]))
	require.Zero(t, bytes.Count(got, []byte{0})-bytes.Count(w.want[which][from:to], []byte{0})-2*border, "nothing beside it is written")
}

func (w *transferModel) download(t *rapid.T) {
	defer w.unpin()
	var destinations []memory.Destination
	var want [][]byte
	for range rapid.IntRange(0, 20).Draw(t, "regions") {
		which, from, to := w.extent(t)
		destinations = append(destinations, memory.Destination{From: w.part(t, which, from, to), Data: w.memory(t, to-from)})
		want = append(want, w.want[which][from:to])
	}
	require.NoError(t, memory.Download(context.Background(), nil, destinations))
	for i := range want {
		require.True(t, bytes.Equal(want[i], destinations[i].Data))
	}
}

func (w *transferModel) batch(t *rapid.T) {
	defer w.unpin()
	var batch memory.Batch
	taken := make([][][2]int, len(w.slices))
	for range rapid.IntRange(0, 20).Draw(t, "uploads") {
		which, from, to := w.extent(t)
		if slices.ContainsFunc(taken[which], func(other [2]int) bool { return from < other[1] && other[0] < to }) {
			continue
		}
		taken[which] = append(taken[which], [2]int{from, to})
		source := w.bytes(t, to-from)
		require.NoError(t, memory.AddUpload(&batch, w.part(t, which, from, to), source))
		copy(w.want[which][from:], source)
	}
	var want, got [][]byte
	for range rapid.IntRange(0, 20).Draw(t, "downloads") {
		which, from, to := w.extent(t)
		got, want = append(got, w.memory(t, to-from)), append(want, w.want[which][from:to])
		require.NoError(t, memory.AddDownload(&batch, w.part(t, which, from, to), got[len(got)-1]))
	}
	require.NoError(t, batch.Run(context.Background(), nil))
	for i := range want {
		require.True(t, bytes.Equal(want[i], got[i]))
	}
}

func (w *transferModel) trim(t *rapid.T) {
	_, err := w.mgr.TrimStaging(uint64(rapid.IntRange(0, 400_000).Draw(t, "keep")))
	require.NoError(t, err)
	require.Zero(t, w.mgr.StagingStats().InUse)
}

// A cancelled transfer returns a cancellation error for any cause of the context.
func TestCancelledTransfers(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{Budget: 1 << 20})
		s, err := memory.NewSlice[int32](m, 10, memory.AllocateOptions{})
		require.NoError(t, err)
		cause := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		for name, err := range map[string]error{
			"upload":   s.Upload(ctx, nil, make([]int32, 10)),
			"download": s.Download(ctx, nil, make([]int32, 10)),
		} {
			require.ErrorIs(t, err, context.Canceled, name)
			require.ErrorIs(t, err, cause, name)
		}
		require.NoError(t, s.Release())
	})
}
