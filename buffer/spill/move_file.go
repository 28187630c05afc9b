package spill

import (
	"context"
	"errors"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// stagingBytes is the size of a piece of a table between device and file, packed or not.
const stagingBytes = 2 << 20

// files moves tables between the device and a file. Pieces of a table pass through one block of
// host memory, so that no move needs more.
type files struct {
	file file
	// mu serializes the use of staging. Whoever holds it allocates nothing.
	mu      sync.Mutex
	staging *memory.Block
}

// openFiles prepares moves to files in a directory, with memory of a manager. The caller closes the result also after an
// error.
func openFiles(directory string, host *memory.Manager) (f *files, err error) {
	f = &files{file: file{directory: directory, create: createFile}}
	f.staging, err = host.Allocate(stagingBytes, memory.AllocateOptions{Tag: "staging"})
	return f, err
}

// close releases the memory.
func (f *files) close() error {
	if f == nil {
		return nil
	}
	return f.staging.Release()
}

// toFile copies idle blocks of a table to a region of the file, packed if it becomes much smaller so, and waits.
func (s *Spiller) toFile(ctx context.Context, t *Table) (reserved *region, f *form, err error) {
	if f, err = s.measure(ctx, t); err != nil {
		return nil, nil, err
	}
	if f == nil || !f.divide(stagingBytes) {
		f = t.wholeForm()
	}
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	if err := s.waitForStreams(t.blocks); err != nil {
		return nil, nil, err
	}
	if reserved, err = s.files.file.reserve(f.bytes); err != nil {
		return nil, nil, err
	}
	if err = s.write(ctx, f, reserved, t.blocks); err != nil {
		return nil, nil, errors.Join(err, reserved.release())
	}
	return reserved, f, nil
}

// write writes blocks on the device to a region of the file.
func (s *Spiller) write(ctx context.Context, f *form, to *region, blocks []*memory.Block) error {
	staging, at := s.files.staging.Pointer(), uint64(0)
	for _, piece := range f.pieces {
		if err := piece.Pack(ctx, s.out, staging); err != nil {
			return err
		}
		if err := to.write(address.Bytes(staging, piece.Bytes()), at); err != nil {
			return err
		}
		at += piece.Bytes()
	}
	driver := s.out.Device().Driver()
	return f.eachPlain(ctx, blocks, at, func(onDevice device.Pointer, at, bytes uint64) error {
		err := s.out.Enqueue(func(handle backend.Stream) error {
			return driver.CopyToHostAsync(address.Pointer(staging), onDevice, bytes, handle)
		})
		// The copy uses staging, so its end is awaited also if the context ends.
		if err := errors.Join(err, s.out.Synchronize(context.WithoutCancel(ctx))); err != nil {
			return err
		}
		return to.write(address.Bytes(staging, bytes), at)
	})
}

// fromFile copies a table from the file to new blocks on the device, and waits.
func (s *Spiller) fromFile(ctx context.Context, t *Table) (blocks []*memory.Block, err error) {
	if blocks, err = allocateHomes(ctx, t.homes); err != nil {
		return nil, err
	}
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	if err = s.inWaitsFor(blocks); err == nil {
		err = s.fill(ctx, t.form, t.region, blocks)
	}
	if err != nil {
		return nil, errors.Join(err, release.All(blocks))
	}
	return arrived(blocks), nil
}

// fill reads a region of the file into blocks on the device.
func (s *Spiller) fill(ctx context.Context, f *form, from *region, blocks []*memory.Block) error {
	staging := s.files.staging.Pointer()
	at, err := s.eachPiece(f, from, func(piece Packing) error { return piece.Unpack(ctx, s.in, staging, f.pointers(blocks)) })
	if err != nil {
		return err
	}
	driver := s.in.Device().Driver()
	return f.eachPlain(ctx, blocks, at, func(onDevice device.Pointer, at, bytes uint64) error {
		if err := from.read(address.Bytes(staging, bytes), at); err != nil {
			return err
		}
		err := s.in.Enqueue(func(handle backend.Stream) error {
			return driver.CopyToDeviceAsync(onDevice, address.Pointer(staging), bytes, handle)
		})
		return errors.Join(err, s.in.Synchronize(context.WithoutCancel(ctx)))
	})
}

// eachPiece reads each packed piece of a region into staging and calls unpack with it. It returns the place behind them.
func (s *Spiller) eachPiece(f *form, from *region, unpack func(Packing) error) (at uint64, err error) {
	for _, piece := range f.pieces {
		if err := from.read(address.Bytes(s.files.staging.Pointer(), piece.Bytes()), at); err != nil {
			return at, err
		}
		if err := unpack(piece); err != nil {
			return at, err
		}
		at += piece.Bytes()
	}
	return at, nil
}

// eachPlain calls move for each piece of the parts that are not packed, which follow each other in a region from a place
// on.
func (f *form) eachPlain(ctx context.Context, blocks []*memory.Block, at uint64, move func(onDevice device.Pointer, at, bytes uint64) error) error {
	for _, p := range f.plain {
		for from := uint64(0); from < p.bytes; {
			if ctx.Err() != nil {
				return cancel.Error(ctx)
			}
			bytes := min(p.bytes-from, stagingBytes)
			if err := move(p.pointer(blocks)+device.Pointer(from), at, bytes); err != nil {
				return err
			}
			from, at = from+bytes, at+bytes
		}
	}
	return nil
}

// load reads a region of the file into host memory.
func (s *Spiller) load(ctx context.Context, t *Table) (blocks []*memory.Block, err error) {
	if blocks, err = s.allocateBeyond(t.homes); err == nil {
		err = s.loadInto(ctx, t, blocks)
	}
	if err != nil {
		return nil, errors.Join(err, release.All(blocks))
	}
	return blocks, nil
}

func (s *Spiller) loadInto(ctx context.Context, t *Table, blocks []*memory.Block) error {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	at, err := s.eachPiece(t.form, t.region, func(piece Packing) error {
		return piece.UnpackOnHost(ctx, s.files.staging.Pointer(), t.form.memory(blocks))
	})
	for _, p := range t.form.plain {
		if err == nil && p.bytes > 0 {
			err = t.region.read(p.memory(blocks), at)
			at += p.bytes
		}
	}
	return err
}

// allocateBeyond allocates host memory beyond the budget for blocks of a table. After an error it returns those before.
func (s *Spiller) allocateBeyond(homes []home) (blocks []*memory.Block, err error) {
	for _, home := range homes {
		block, err := s.beyond.Allocate(home.bytes, memory.AllocateOptions{Tag: home.tag})
		if err != nil {
			return blocks, err
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
}
