package column

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// DownloadOptions configure a copy of columns to the host. The zero value is right
// for most programs.
type DownloadOptions struct {
	// Stream is the stream that the transfer is enqueued on. It waits for all work
	// that was recorded on the columns' memory. Nil means the stream that the first
	// column's memory belongs to.
	Stream *device.Stream
	// Allocator makes the buffers of the arrays. Nil means arrow-go's default. A
	// memory.PinnedAllocator saves the copy from staging memory.
	Allocator arrowmemory.Allocator
}

// Array copies the column to the host. The caller releases the array. See [ToArrays].
func (c *Column) Array(ctx context.Context) (arrow.Array, error) {
	arrays, err := ToArrays(ctx, []*Column{c}, DownloadOptions{})
	if err != nil {
		return nil, err
	}
	return arrays[0], nil
}

// ToArrays copies columns of one device to the host. The arrays begin at offset zero
// and hold copies; the caller releases every one of them.
//
// # Waiting
//
// ToArrays fetches a row count that only the device has, as [Column.NumRows] does;
// the array has that number of elements. All buffers with a known extent are copied
// in one transfer. For sliced columns of strings or lists the offsets are copied
// first, and the parts that they refer to in one further transfer for each nesting
// level.
//
// # Errors
//
// References from the device to other positions are checked on the host: offsets,
// sizes, views, indices, type ids and run ends out of range give an error that wraps
// [ErrInvalid]. After an error nothing stays allocated.
func ToArrays(ctx context.Context, columns []*Column, options DownloadOptions) (arrays []arrow.Array, err error) {
	for i, c := range columns {
		if err := c.Retain(); err != nil {
			return nil, errors.Join(fmt.Errorf("column: download column %d: %w", i, err), releaseAll(nil, columns[:i]))
		}
	}
	defer func() {
		if err = errors.Join(err, releaseAll(nil, columns)); err != nil {
			release.Arrow(arrays)
			arrays = nil
		}
	}()

	rows := make([]int, len(columns))
	for i, c := range columns {
		if rows[i], err = c.NumRows(ctx); err != nil {
			return nil, fmt.Errorf("column: download column %d: %w", i, err)
		}
	}
	stream, err := orderAfter(columns, options.Stream)
	if err != nil {
		return nil, fmt.Errorf("column: download: %w", err)
	}
	d := downloader{allocator: outputAllocator(options.Allocator)}
	defer d.release()
	roots := make([]*fetched, len(columns))
	for i, c := range columns {
		if roots[i], err = d.fetch(nil, i, c, c.data.Offset, rows[i]); err != nil {
			return nil, fmt.Errorf("column: download: %w", err)
		}
	}
	for len(d.destinations)+len(d.then) > 0 {
		if err := d.round(ctx, stream); err != nil {
			return nil, fmt.Errorf("column: download: %w", err)
		}
	}
	for _, root := range roots {
		array, err := root.array()
		if err != nil {
			return arrays, fmt.Errorf("column: download: %w", err)
		}
		arrays = append(arrays, array)
	}
	return arrays, nil
}

// orderAfter makes the stream wait for all work on the columns. If stream is nil, it
// uses the stream of the first block.
func orderAfter(columns []*Column, stream *device.Stream) (*device.Stream, error) {
	var seen []*memory.Block
	for _, c := range columns {
		for block := range c.Blocks {
			if slices.Contains(seen, block) {
				continue
			}
			seen = append(seen, block)
			if stream == nil {
				stream = block.WorkStream()
			}
			if !stream.Device().Same(block.Device()) {
				return nil, fmt.Errorf("a column is on %v, the stream or another column on %v, expected one device: %w",
					block.Device(), stream.Device(), device.ErrInvalidValue)
			}
			if err := block.OrderRead(stream); err != nil {
				return nil, err
			}
		}
	}
	return stream, nil
}

// downloader holds the remaining work of a download.
type downloader struct {
	allocator arrowmemory.Allocator
	// allocated holds a reference to every buffer until the arrays hold theirs.
	allocated []*arrowmemory.Buffer
	// destinations are the transfers of the next round. then holds the functions to
	// call after it; they may add transfers for the following round.
	destinations []memory.Destination
	then         []func() error
}

func (d *downloader) release() {
	release.Arrow(d.allocated)
}

// round makes one transfer and calls the functions that wait for it.
func (d *downloader) round(ctx context.Context, stream *device.Stream) error {
	destinations, then := d.destinations, d.then
	d.destinations, d.then = nil, nil
	byAddress := func(a, b memory.Destination) int { return cmp.Compare(a.From.Pointer(), b.From.Pointer()) }
	if !slices.IsSortedFunc(destinations, byAddress) {
		slices.SortFunc(destinations, byAddress)
	}
	if err := memory.Download(ctx, stream, destinations); err != nil {
		return err
	}
	for _, follow := range then {
		if err := follow(); err != nil {
			return err
		}
	}
	return nil
}

// buffer returns a new host buffer.
func (d *downloader) buffer(bytes int) *arrowmemory.Buffer {
	buffer := arrowmemory.NewResizableBuffer(d.allocator)
	d.allocated = append(d.allocated, buffer)
	buffer.Resize(bytes)
	clear(buffer.Buf()[bytes:]) // the padding
	return buffer
}

// take adds a transfer of a buffer's bytes from position from up to position to.
func (d *downloader) take(source Bytes, from, to int) (*arrowmemory.Buffer, error) {
	part, err := source.Slice(from, to)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	buffer := d.buffer(to - from)
	if to > from {
		d.destinations = append(d.destinations, memory.Destination{From: part, Data: buffer.Bytes()})
	}
	return buffer, nil
}

// takeElements adds a transfer of length elements of a width.
func (d *downloader) takeElements(source Bytes, offset, length, width int) (*arrowmemory.Buffer, error) {
	count, ok := add(offset, length)
	end, fits := multiply(count, width)
	if !ok || !fits {
		return nil, fmt.Errorf("%d elements of %d bytes at offset %d: %w", length, width, offset, memory.ErrOverflow)
	}
	if length == 0 {
		return d.buffer(0), nil
	}
	return d.take(source, offset*width, end)
}

// takeBits adds a transfer of bits. The result begins with the first bit of a byte.
func (d *downloader) takeBits(source Bytes, offset, length int) (*arrowmemory.Buffer, error) {
	if length == 0 {
		return d.buffer(0), nil
	}
	buffer, err := d.take(source, offset/8, bitmapBytes(offset+length))
	if err != nil {
		return nil, err
	}
	d.then = append(d.then, func() error {
		shiftBits(buffer.Bytes(), offset%8, length)
		buffer.ResizeNoShrink(bitmapBytes(length))
		return nil
	})
	return buffer, nil
}
