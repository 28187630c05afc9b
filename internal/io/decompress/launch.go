package decompress

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// Batch is pages and their memory.
type Batch struct {
	// Pages has the [Words] of the pages, Size is their [Measure].
	Pages memory.Slice[uint64]
	Size  Size
	// Input and Output have the bytes at the offsets of pages.
	Input, Output memory.Slice[uint8]
	// Status receives the [Status] of each page.
	Status memory.Slice[uint32]
}

// Launch enqueues the decompression of pages on the stream of a call. It reads nothing back: on
// a GPU, the statuses are there after the work of the stream. The output of a page with another status
// than [Complete] is undefined. No page is read outside of its part of the input, or
// written outside of its part of the output. A page of length 0 may have no bytes.
//
// # Waiting
//
// On the host Launch waits for earlier work of the stream, and decompresses before it returns.
//
// # Errors
//
// Damaged pages are no error of Launch. A codec without kernels is device.ErrNotSupported.
func Launch(call *op.Call, codec Codec, batch Batch) error {
	if err := launch(call, codec, batch); err != nil {
		return fmt.Errorf("decompress: %d pages of %v: %w", batch.Size.Pages, codec, err)
	}
	return nil
}

func launch(call *op.Call, codec Codec, batch Batch) error {
	switch n := batch.Size.Pages; {
	case int(codec) >= len(decoders):
		return fmt.Errorf("the codec is not known: %w", device.ErrInvalidValue)
	case n < 0 || n > math.MaxInt32 || batch.Pages.Len() != n*PageWords || batch.Status.Len() != n:
		return fmt.Errorf("%d words of pages and %d statuses, expected %d and %d: %w", batch.Pages.Len(), batch.Status.Len(), n*PageWords, n, device.ErrInvalidValue)
	case n == 0:
		return nil
	}
	d := decoders[codec]
	switch {
	case call.OnHost() && d.host != nil:
		return onHost(call, d.host, batch)
	case !call.OnHost() && d.launch != nil:
		return d.launch(call, batch)
	}
	return fmt.Errorf("%s does not decompress it: %w", call.Stream.Device(), device.ErrNotSupported)
}
