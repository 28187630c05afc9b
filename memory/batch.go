package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/gpuframe/gpuframe/device"
)

// Batch moves many small things at the cost of few. Each transfer by itself waits
// for the device and takes the driver several calls; the uploads of a Batch share
// one chunk of pinned memory and its event, and so do the downloads, and there is
// one wait for all. Regions that lie side by side in a block are copied as one;
// others take a call each, from or to the shared chunk.
//
// The zero value is an empty batch. All blocks belong to one [Manager] and its
// children. A Batch holds no references: the blocks must live until Run returns.
// It is not safe for concurrent use.
type Batch struct {
	manager            *Manager
	uploads, downloads []region
}

// region is memory of the device and the host's memory that goes with it.
type region struct {
	device Slice[uint8]
	host   []byte
}

// AddUpload adds the upload of source, which must be as long as destination. The
// source is read when the batch is run. The uploads of a batch do not overlap.
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
	b.uploads = append(b.uploads, region{destination.AsBytes(), asBytes(source)})
	return nil
}

// AddDownload adds the download of source into destination, which must be as
// long and is written when the batch is run.
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
	b.downloads = append(b.downloads, region{source.AsBytes(), asBytes(destination)})
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

// Len returns how many transfers were added.
func (b *Batch) Len() int { return len(b.uploads) + len(b.downloads) }

// Reset empties the batch, so that it can be filled anew without allocating.
func (b *Batch) Reset() {
	clear(b.uploads)
	clear(b.downloads)
	b.uploads, b.downloads, b.manager = b.uploads[:0], b.downloads[:0], nil
}

// Run makes the transfers: after the work that is on the stream now all uploads,
// and after these all downloads, which see what was uploaded. It does not matter
// in which order they were added. A nil stream is that of the manager whose block
// was added first. The work that is pending on the blocks comes before it, on whatever stream,
// unless a slice is [Slice.Unordered].
//
// Run returns when the sources may be used again and the downloads are there.
// Work on the stream that is enqueued afterwards finds the uploads. After an
// error, or when the context is done, the contents of every destination are
// undefined and nothing touches the host's memory any more. The batch keeps its
// transfers and may be run again.
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
	for _, regions := range [][]region{b.uploads, b.downloads} {
		for i := range regions {
			if err := regions[i].device.Order(stream); err != nil {
				return err
			}
		}
	}
	engine := b.manager.transfers
	if len(uploads.spans) > 0 {
		err := engine.Upload(ctx, stream, uploads.spans)
		if err = errors.Join(err, uploads.recordUse(stream)); err != nil {
			return err
		}
	}
	if len(downloads.spans) == 0 {
		return nil
	}
	err := engine.Download(ctx, stream, downloads.spans)
	return errors.Join(err, downloads.recordUse(stream))
}

// group puts the regions in the order of their addresses.
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
