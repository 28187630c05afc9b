package memory_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// Uploads of pinned memory that are enqueued by parts, two at the same time on one stream, arrive as they are; with a
// context that ends, one returns its error and a later one succeeds.
func TestLongUploads(t *testing.T) {
	eachTransferDevice(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		allocator := memory.NewPinnedAllocator(dev, 0)
		defer func() { require.NoError(t, allocator.Close()) }()
		const length = 40<<20 + 3
		host := allocator.Allocate(length)
		defer allocator.Free(host)
		r := rand.New(rand.NewPCG(1, 2))
		for i := 0; i < len(host); i += 1 + r.IntN(40) {
			host[i] = byte(r.Uint32())
		}
		var pieces []memory.Source
		for at := 0; at < length; {
			n := min(1+r.IntN(12<<20), length-at)
			pieces = append(pieces, memory.Source{Offset: uint64(at), Data: host[at : at+n]})
			at += n
		}
		stream, err := dev.NewStream()
		require.NoError(t, err)
		defer func() { require.NoError(t, stream.Close()) }()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		var uploads sync.WaitGroup
		for range 2 {
			uploads.Go(func() {
				s, err := memory.NewSlice[uint8](m, length, memory.AllocateOptions{Stream: stream})
				if !assert.NoError(t, err) {
					return
				}
				assert.ErrorIs(t, memory.Upload(ended, stream, s, pieces), context.Canceled)
				assert.NoError(t, memory.Upload(t.Context(), stream, s, pieces))
				got := make([]byte, length)
				assert.NoError(t, s.Download(t.Context(), stream, got))
				assert.True(t, bytes.Equal(host, got))
				assert.NoError(t, s.Release())
			})
		}
		uploads.Wait()
	})
}
