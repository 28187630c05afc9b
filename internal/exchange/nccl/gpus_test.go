//go:build cgo && linux && (amd64 || arm64)

package nccl

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// The library itself moves bytes between the GPUs of the machine, a rank on each. A single GPU
// sends to itself.
func TestNCCL(t *testing.T) {
	var devices []*device.Device
	for _, name := range devicetest.GPUs(t) {
		devices = append(devices, devicetest.Open(t, name))
	}
	if err := Load(); errors.Is(err, ErrNotAvailable) && os.Getenv(PathVariable) == "" {
		t.Skipf("there is no NCCL here: %v", err)
	}
	version, err := Version()
	require.NoError(t, err)
	t.Logf("NCCL %s, all-to-all %t, %d ranks", version, HasAllToAll(), len(devices))

	const length = 3 << 20
	size := len(devices)
	id, err := NewID()
	require.NoError(t, err)
	comms := make([]*Comm, size)
	for rank, dev := range devices {
		comms[rank], err = Init(dev.Info().Ordinal, id, rank, size)
		require.NoError(t, err)
	}
	var managers []*memory.Manager
	var streams []*device.Stream
	var out, in []memory.Slice[uint8]
	for rank, dev := range devices {
		require.NoError(t, comms[rank].Wait(t.Context()))
		mgr := devicetest.Manager(t, dev, memory.Options{})
		stream, err := dev.NewStream()
		require.NoError(t, err)
		options := memory.AllocateOptions{Stream: stream}
		from, err := memory.NewSlice[uint8](mgr, length*size, options)
		require.NoError(t, err)
		to, err := memory.NewSlice[uint8](mgr, length*size, options)
		require.NoError(t, err)
		managers, streams, out, in = append(managers, mgr), append(streams, stream), append(out, from), append(in, to)
	}

	// check starts the work on all ranks and compares what arrived: block i of rank j has the byte
	// seed + i + 16 j.
	check := func(seed byte, start func(rank int) error) {
		for rank := range devices {
			for other := range size {
				part, err := out[rank].Slice(other*length, (other+1)*length)
				require.NoError(t, err)
				require.NoError(t, part.Fill(streams[rank], seed+byte(other+16*rank)))
			}
			require.NoError(t, in[rank].Fill(streams[rank], 0xff))
		}
		for rank := range devices {
			require.NoError(t, start(rank))
		}
		for rank := range devices {
			require.NoError(t, comms[rank].Wait(t.Context()))
			got := make([]byte, length*size)
			require.NoError(t, in[rank].DownloadRange(t.Context(), streams[rank], 0, got))
			for other := range size {
				want := bytes.Repeat([]byte{seed + byte(rank+16*other)}, length)
				require.True(t, bytes.Equal(want, got[other*length:(other+1)*length]), "from %d to %d", other, rank)
			}
		}
	}
	check(1, func(rank int) error {
		var transfers []Transfer
		for other := range size {
			at := uintptr(other * length)
			transfers = append(transfers,
				Transfer{Rank: other, Send: true, Pointer: uintptr(out[rank].Pointer()) + at, Bytes: length},
				Transfer{Rank: other, Pointer: uintptr(in[rank].Pointer()) + at, Bytes: length})
		}
		return comms[rank].Exchange(uintptr(streams[rank].Handle()), transfers)
	})
	if HasAllToAll() {
		check(7, func(rank int) error {
			return comms[rank].AllToAll(uintptr(streams[rank].Handle()), uintptr(out[rank].Pointer()), uintptr(in[rank].Pointer()), length)
		})
	}
	require.ErrorContains(t, comms[0].Exchange(uintptr(streams[0].Handle()), []Transfer{{Rank: size, Send: true, Pointer: uintptr(out[0].Pointer()), Bytes: 1}}), "nccl: ")
	for rank := range devices {
		require.NoError(t, comms[rank].Abort())
		out[rank].Release()
		in[rank].Release()
		require.NoError(t, streams[rank].Close())
		require.Zero(t, managers[rank].Stats().InUse)
	}
}
