package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// Batch groups small transfers to reduce their fixed cost. A single transfer waits for
// the device and takes several driver calls. The uploads of a Batch share one chunk of
// pinned memory and one event, as do the downloads, and the batch waits once for all of
// them. Adjacent regions of a block are copied by one call; other regions take one call
// each, from or to the shared chunk.
//
// The zero value is an empty batch. All blocks belong to one [Manager] and its
// children. A Batch holds no references: the blocks must live until Run returns.
// It is not safe for concurrent use.
type Batch struct {
	manager            *Manager
	uploads, downloads []region
}

// region is a region of device memory and the host memory that it is copied from or to.
type region struct {
	device Slice[uint8]
	host   []byte
}

// AddUpload adds an upload of source, which must be as long as destination. Run reads
// the source. The uploads of a batch must not overlap.
func AddUpload[T Element](b *Batch, destination Slice[T], source []T) error {
	if len(source) != destination.length {
		return fmt.Errorf("memory: add to batch: upload %d elements to a slice of %d: %w", len(source), destination.length, ErrRange)
	}
	if len(source) == 0 {
		return nil
	}
	if err := b.adopt(destination.block); err != nil {
		return fmt.Errorf("memory: add upload to batch: %w", err)
	}
	if err := destination.block.checkWritable(); err != nil {
		return fmt.Errorf("memory: add upload to batch: %w", err)
	}
	b.uploads = append(b.uploads, region{destination.AsBytes(), address.BytesOf(source)})
	return nil
}

// AddDownload adds a download of source into destination, which must be as long as
// source. Run writes the destination.
func AddDownload[T Element](b *Batch, source Slice[T], destination []T) error {
	if len(destination) != source.length {
		return fmt.Errorf("memory: add to batch: download a slice of %d elements into %d: %w", source.length, len(destination), ErrRange)
	}
	if len(destination) == 0 {
		return nil
	}
	if err := b.adopt(source.block); err != nil {
		return fmt.Errorf("memory: add download to batch: %w", err)
	}
	b.downloads = append(b.downloads, region{source.AsBytes(), address.BytesOf(destination)})
	return nil
}

// adopt checks that a block belongs to the batch's manager.
func (b *Batch) adopt(block *Block) error {
	if err := block.Check(); err != nil {
		return err
	}
	if b.manager == nil {
		b.manager = block.manager
	}
	if b.manager.transfers != block.manager.transfers {
		return fmt.Errorf("%v belongs to a manager that shares nothing with the others': %w", block, device.ErrInvalidValue)
	}
	return nil
}

// Len returns the number of transfers in the batch.
func (b *Batch) Len() int { return len(b.uploads) + len(b.downloads) }

// Reset empties the batch and keeps its memory for further transfers.
func (b *Batch) Reset() {
	clear(b.uploads)
	clear(b.downloads)
	b.uploads, b.downloads, b.manager = b.uploads[:0], b.downloads[:0], nil
}

// Run makes all uploads, after the work that is on the stream now, and then all
// downloads, which see the uploaded contents. The order in which transfers were added
// does not matter. A nil stream means the stream of the manager of the first block
// added. Pending work on the blocks, on any stream, comes before the transfers unless a
// slice is [Slice.Unordered].
//
// The batch keeps its transfers and may be run again.
//
// # Errors
//
// After an error, or when the context is done, the contents of every destination are
// undefined, and nothing accesses the host memory any more.
//
// # Waiting
//
// Run returns when the sources may be reused and the downloads are complete. Work that
// is enqueued on the stream afterwards sees the uploads.
func (b *Batch) Run(ctx context.Context, stream *device.Stream) error {
	if b.Len() == 0 {
		return nil
	}
	if stream == nil {
		stream = b.manager.stream
	}
	if !stream.Device().Same(b.manager.device) {
		return fmt.Errorf("memory: run batch on %s: the stream belongs to %s: %w", b.manager.device, stream.Device(), device.ErrInvalidValue)
	}
	uploads, downloads := newGrouping(len(b.uploads), 0), newGrouping(len(b.downloads), widestGap)
	defer uploads.release()
	defer downloads.release()
	if err := b.group(&uploads, &downloads); err != nil {
		return fmt.Errorf("memory: run batch: %w", err)
	}
	if err := b.transfer(ctx, stream, &uploads, &downloads); err != nil {
		return fmt.Errorf("memory: run batch of %d uploads and %d downloads: %w", len(b.uploads), len(b.downloads), err)
	}
	return nil
}

func (b *Batch) transfer(ctx context.Context, stream *device.Stream, uploads, downloads *grouping) error {
	defer runtime.KeepAlive(b)
	for i := range b.uploads {
		if err := b.uploads[i].device.Order(stream); err != nil {
			return err
		}
	}
	for i := range b.downloads {
		if err := b.downloads[i].device.orderRead(stream); err != nil {
			return err
		}
	}
	engine := b.manager.transfers
	if len(uploads.spans) > 0 {
		err := engine.Upload(ctx, stream, uploads.spans)
		if err = errors.Join(err, uploads.record((*Block).RecordUse, stream)); err != nil {
			return err
		}
	}
	if len(downloads.spans) == 0 {
		return nil
	}
	err := engine.Download(ctx, stream, downloads.spans)
	return errors.Join(err, downloads.record((*Block).RecordRead, stream))
}

// group sorts the regions by address and adds them to the groupings.
func (b *Batch) group(uploads, downloads *grouping) error {
	sortRegions(b.uploads)
	sortRegions(b.downloads)
	var end device.Pointer
	for _, r := range b.uploads {
		if err := uploads.add(r.device, r.host); err != nil {
			return err
		}
		at := r.device.Pointer()
		if at < end {
			return fmt.Errorf("the upload of %d bytes to %v overlaps another one: %w", len(r.host), at, ErrRange)
		}
		end = at.Add(uint64(len(r.host)))
	}
	for _, r := range b.downloads {
		if err := downloads.add(r.device, r.host); err != nil {
			return err
		}
	}
	return nil
}

func sortRegions(regions []region) {
	byAddress := func(a, b region) int { return cmp.Compare(a.device.Pointer(), b.device.Pointer()) }
	if !slices.IsSortedFunc(regions, byAddress) {
		slices.SortFunc(regions, byAddress)
	}
}
