package memory

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
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
// Upload returns when the sources may be used again. Work on the stream that is
// enqueued afterwards finds the bytes. A nil stream is the block's own. After an
// error, or when the context is done, the destination's contents are undefined.
func Upload(ctx context.Context, stream *device.Stream, destination Slice[uint8], sources []Source) error {
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
	whole, err := uploadSpan(destination, sources)
	if err != nil {
		return fmt.Errorf("memory: upload: %w", err)
	}
	if block.Kind().HostAccessible() {
		err = whole.writeInPlace(ctx, stream, &block.manager.staging.crew)
	} else {
		err = block.manager.staging.upload(ctx, stream, whole)
	}
	runtime.KeepAlive(sources)
	if err != nil {
		// Parts of the transfer may be under way.
		return errors.Join(fmt.Errorf("memory: upload %d bytes: %w", destination.Bytes(), err), block.RecordUse(stream))
	}
	return block.RecordUse(stream)
}

// Destination is one piece of a download.
type Destination struct {
	// From is the device's memory, Data where it goes. They are equally long.
	From Slice[uint8]
	Data []byte
}

// Download copies regions of one device into the host's memory in one pipelined
// transfer, after the work that is on the stream now, and returns when the bytes
// are there. Regions of a block that follow one another closely travel together,
// so give them in the order of their addresses. A nil stream is the first
// block's own.
func Download(ctx context.Context, stream *device.Stream, destinations []Destination) error {
	spans, err := downloadSpans(destinations)
	if err != nil {
		return fmt.Errorf("memory: download: %w", err)
	}
	if len(spans) == 0 {
		return nil
	}
	if stream == nil {
		stream = spans[0].block.Stream()
	}
	for _, s := range spans {
		if !stream.Device().Same(s.block.Device()) {
			return fmt.Errorf("memory: download from %s: the stream belongs to %s: %w", s.block.Device(), stream.Device(), device.ErrInvalidValue)
		}
		if err := s.block.Retain(); err != nil {
			return fmt.Errorf("memory: download: %w", err)
		}
		defer s.block.Release()
	}
	var staged, direct []*span
	for _, s := range spans {
		if s.block.Kind().HostAccessible() {
			direct = append(direct, s)
		} else {
			staged = append(staged, s)
		}
	}
	for _, s := range direct {
		if err := s.readInPlace(ctx, stream, &s.block.manager.staging.crew); err != nil {
			return fmt.Errorf("memory: download: %w", err)
		}
	}
	if len(staged) > 0 {
		err = staged[0].block.manager.staging.download(ctx, stream, staged)
	}
	runtime.KeepAlive(destinations)
	for _, s := range staged {
		err = errors.Join(err, s.block.RecordUse(stream))
	}
	if err != nil {
		return fmt.Errorf("memory: download: %w", err)
	}
	return nil
}

// copyDirect enqueues copies between the device and pinned pieces, without
// staging.
func copyDirect(stream *device.Stream, toDevice bool, base device.Pointer, pieces []piece) error {
	driver := stream.Device().Driver()
	return stream.Enqueue(func(handle backend.Stream) error {
		for _, p := range pieces {
			host := unsafe.Pointer(unsafe.SliceData(p.data))
			var err error
			if toDevice {
				err = driver.CopyToDeviceAsync(base.Add(p.offset), host, p.bytes, handle)
			} else {
				err = driver.CopyToHostAsync(host, base.Add(p.offset), p.bytes, handle)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
