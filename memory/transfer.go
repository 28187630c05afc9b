package memory

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/internal/staging"
)

// Source is one piece of an upload: existing bytes, or bytes that are computed
// during the transfer.
type Source struct {
	// Offset is the position of the piece in the destination, in bytes.
	Offset uint64
	// Data is the piece. The device reads pinned memory directly.
	Data []byte
	// Fill, instead of Data, writes the bytes of the piece that begin at offset into
	// destination. It is called from several goroutines at a time for parts that do
	// not overlap. It must not start a transfer.
	Fill func(destination []byte, offset uint64)
	// Bytes is the length of the piece if Fill is set.
	Bytes uint64
}

// Upload copies pieces to one region of a device in one pipelined transfer. The
// pieces must be in ascending order and must not overlap; the gaps between and after
// them become zero. Several goroutines gather pieces of pageable memory into chunks
// of pinned memory while the device copies, so the number of pieces hardly affects
// the time.
//
// The transfer comes after the work that is pending on the destination's block on
// any stream, unless the destination is [Slice.Unordered]. A nil stream means the
// block's stream. Work that is enqueued on the stream afterwards sees the bytes.
//
// # Waiting
//
// Upload returns when the sources may be reused.
//
// # Errors
//
// After an error, or if the context is done, the destination's contents are
// undefined.
func Upload(ctx context.Context, stream *device.Stream, destination Slice[uint8], sources []Source) error {
	return UploadPadded(ctx, stream, destination, sources, 0)
}

// UploadPadded is Upload with a given byte instead of zero between and after the
// pieces. The device writes large paddings itself, for example the spare rows of a
// column; they are not transferred.
func UploadPadded(ctx context.Context, stream *device.Stream, destination Slice[uint8], sources []Source, padding byte) error {
	if destination.length == 0 && len(sources) == 0 {
		return nil
	}
	block := destination.block
	if err := block.checkWritable(); err != nil {
		return fmt.Errorf("memory: upload: %w", err)
	}
	if err := block.Retain(); err != nil {
		return fmt.Errorf("memory: upload: %w", err)
	}
	defer block.Release()
	if stream == nil {
		stream = block.Stream()
	}
	if !stream.Device().Same(block.Device()) {
		return fmt.Errorf("memory: upload to %s: the stream belongs to %s: %w", block.Device(), stream.Device(), device.ErrInvalidValue)
	}
	pieces, err := checkSources(sources, destination.Bytes())
	if err != nil {
		return fmt.Errorf("memory: upload: %w", err)
	}
	if err := destination.Order(stream); err != nil {
		return fmt.Errorf("memory: upload: %w", err)
	}
	spans := []staging.Span{{
		Base: destination.Pointer(), Bytes: destination.Bytes(), InPlace: block.Kind().HostAccessible(),
		Pieces: pieces, Pad: padding,
	}}
	begin := time.Now()
	err = block.manager.transfers.Upload(ctx, stream, spans)
	block.manager.tree.uploads.add(spans, begin, err)
	runtime.KeepAlive(sources)
	if err != nil {
		// Parts of the transfer may still be running.
		return errors.Join(fmt.Errorf("memory: upload %d bytes: %w", destination.Bytes(), err), block.RecordUse(stream))
	}
	return block.RecordUse(stream)
}

// checkSources checks the sources against the length of their destination.
func checkSources(sources []Source, bytes uint64) ([]staging.Piece, error) {
	pieces := make([]staging.Piece, 0, len(sources))
	var end uint64
	for i, source := range sources {
		p := staging.Piece{Offset: source.Offset, Bytes: source.Bytes, Data: source.Data, Fill: source.Fill}
		if p.Fill == nil && p.Bytes != 0 || p.Fill != nil && p.Data != nil {
			return nil, fmt.Errorf("source %d: want Data, or Fill and Bytes: %w", i, device.ErrInvalidValue)
		}
		if p.Fill == nil {
			p.Bytes = uint64(len(p.Data))
		}
		if p.Offset < end {
			return nil, fmt.Errorf("source %d begins at %d, before the one ahead of it ends at %d: %w", i, p.Offset, end, ErrRange)
		}
		if p.Offset > bytes || p.Bytes > bytes-p.Offset {
			return nil, fmt.Errorf("source %d: %d bytes at offset %d of a destination of %d: %w", i, p.Bytes, p.Offset, bytes, ErrRange)
		}
		end = p.Offset + p.Bytes
		if p.Bytes > 0 {
			pieces = append(pieces, p)
		}
	}
	return pieces, nil
}

// Destination is one piece of a download.
type Destination struct {
	// From is the device memory, Data the host memory. They have equal lengths.
	From Slice[uint8]
	Data []byte
}

// Download copies regions of one device into host memory in one pipelined transfer.
// The transfer comes after the work that is on the stream now and the work that is
// pending on the blocks of the regions; it does not wait for the blocks of regions
// that are [Slice.Unordered]. Neighbouring regions of a block are transferred together,
// so pass the regions in address order. A nil stream means the first block's stream.
//
// # Waiting
//
// Download returns when the bytes have arrived.
//
// # Errors
//
// After an error the destinations' contents are undefined, and nothing writes to
// them any more.
func Download(ctx context.Context, stream *device.Stream, destinations []Destination) error {
	regions := newGrouping(len(destinations), widestGap)
	defer regions.release()
	for i, d := range destinations {
		if d.From.Bytes() != uint64(len(d.Data)) {
			return fmt.Errorf("memory: download: destination %d: %d bytes into %d: %w", i, d.From.Bytes(), len(d.Data), ErrRange)
		}
		if err := regions.add(d.From, d.Data); err != nil {
			return fmt.Errorf("memory: download: destination %d: %w", i, err)
		}
	}
	if len(regions.spans) == 0 {
		return nil
	}
	first := regions.blocks[0]
	if stream == nil {
		stream = first.Stream()
	}
	for _, block := range regions.blocks {
		if !stream.Device().Same(block.Device()) {
			return fmt.Errorf("memory: download from %s: the stream belongs to %s: %w", block.Device(), stream.Device(), device.ErrInvalidValue)
		}
	}
	for i := range destinations {
		if err := destinations[i].From.orderRead(stream); err != nil {
			return fmt.Errorf("memory: download: destination %d: %w", i, err)
		}
	}
	begin := time.Now()
	err := first.manager.transfers.Download(ctx, stream, regions.spans)
	first.manager.tree.downloads.add(regions.spans, begin, err)
	runtime.KeepAlive(destinations)
	if err = errors.Join(err, regions.record((*Block).RecordRead, stream)); err != nil {
		return fmt.Errorf("memory: download: %w", err)
	}
	return nil
}
