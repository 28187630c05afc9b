package memory

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/internal/staging"
)

// Source is one piece of an upload: bytes that exist, or bytes that are computed
// while they travel.
type Source struct {
	// Offset is where in the destination the piece goes.
	Offset uint64
	// Data is the piece. Where it is pinned memory the device reads it directly.
	Data []byte
	// Fill, in place of Data, writes the piece's bytes from offset on into
	// destination. It is called from several goroutines at a time, for parts
	// that do not overlap, and starts no transfer itself.
	Fill func(destination []byte, offset uint64)
	// Bytes is the length of what Fill makes.
	Bytes uint64
}

// Upload copies pieces to one region of a device in one pipelined transfer. The
// pieces lie in ascending order and do not overlap; what lies between and after
// them becomes zero. Pieces of ordinary memory are gathered into chunks of
// pinned memory by several goroutines while the device copies, so that their
// number hardly matters.
//
// The transfer comes after the work that is pending on the destination's block, on
// whatever stream, unless the destination is [Slice.Unordered]. Upload returns when the
// sources may be used again. Work on the stream that is enqueued afterwards finds the
// bytes. A nil stream is the block's own. After an error, or when the context is done, the destination's contents are undefined.
func Upload(ctx context.Context, stream *device.Stream, destination Slice[uint8], sources []Source) error {
	return UploadPadded(ctx, stream, destination, sources, 0)
}

// UploadPadded is Upload with another byte than zero between and after the
// pieces. Where there is much of it, as in a column with room for more rows, the
// device writes it and nothing of it travels.
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
	err = block.manager.transfers.Upload(ctx, stream, []staging.Span{{
		Base: destination.Pointer(), Bytes: destination.Bytes(), InPlace: block.Kind().HostAccessible(),
		Pieces: pieces, Pad: padding,
	}})
	runtime.KeepAlive(sources)
	if err != nil {
		// Parts of the transfer may be under way.
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
	// From is the device's memory, Data where it goes. They are equally long.
	From Slice[uint8]
	Data []byte
}

// Download copies regions of one device into the host's memory in one pipelined
// transfer, after the work that is on the stream now and the work that is pending on
// their blocks, and returns when the bytes are there. The blocks of regions that are
// [Slice.Unordered] are not waited for. Regions of a block that follow one another closely travel together,
// so give them in the order of their addresses. A nil stream is the first
// block's own. After an error the destinations' contents are undefined, and
// nothing writes to them any more.
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
		if err := destinations[i].From.Order(stream); err != nil {
			return fmt.Errorf("memory: download: destination %d: %w", i, err)
		}
	}
	err := first.manager.transfers.Download(ctx, stream, regions.spans)
	runtime.KeepAlive(destinations)
	if err = errors.Join(err, regions.recordUse(stream)); err != nil {
		return fmt.Errorf("memory: download: %w", err)
	}
	return nil
}
