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

// stagingBytes is the size of a piece of a table between device and file.
const stagingBytes = 1 << 20

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

// toFile copies idle blocks of a table to a region of the file, and waits.
func (s *Spiller) toFile(ctx context.Context, t *Table) (reserved *region, err error) {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	if err := s.waitForStreams(t.blocks); err != nil {
		return nil, err
	}
	reserved, err = s.files.file.reserve(t.bytes)
	if err != nil {
		return nil, err
	}
	driver := s.out.Device().Driver()
	err = s.files.pieces(ctx, t.blocks, func(device device.Pointer, at, bytes uint64) error {
		err := s.out.Enqueue(func(handle backend.Stream) error {
			return driver.CopyToHostAsync(address.Pointer(s.files.staging.Pointer()), device, bytes, handle)
		})
		// The copy uses staging, so its end is awaited also if the context ends.
		if err := errors.Join(err, s.out.Synchronize(context.WithoutCancel(ctx))); err != nil {
			return err
		}
		return reserved.write(address.Bytes(s.files.staging.Pointer(), bytes), at)
	})
	if err != nil {
		return nil, errors.Join(err, reserved.release())
	}
	return reserved, nil
}

// fromFile copies a table from the file to new blocks on the device, and waits.
func (s *Spiller) fromFile(ctx context.Context, t *Table) (blocks []*memory.Block, err error) {
	if blocks, err = allocateHomes(ctx, t.homes); err != nil {
		return nil, err
	}
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	if err = s.inWaitsFor(blocks); err == nil {
		err = s.fill(ctx, t.region, blocks)
	}
	if err != nil {
		return nil, errors.Join(err, release.All(blocks))
	}
	return arrived(blocks), nil
}

// fill reads a region of the file into blocks on the device.
func (s *Spiller) fill(ctx context.Context, from *region, blocks []*memory.Block) error {
	driver := s.in.Device().Driver()
	return s.files.pieces(ctx, blocks, func(device device.Pointer, at, bytes uint64) error {
		if err := from.read(address.Bytes(s.files.staging.Pointer(), bytes), at); err != nil {
			return err
		}
		err := s.in.Enqueue(func(handle backend.Stream) error {
			return driver.CopyToDeviceAsync(device, address.Pointer(s.files.staging.Pointer()), bytes, handle)
		})
		return errors.Join(err, s.in.Synchronize(context.WithoutCancel(ctx)))
	})
}

// pieces calls move for each piece of blocks that follow each other in a file.
func (f *files) pieces(ctx context.Context, blocks []*memory.Block, move func(piece device.Pointer, at, bytes uint64) error) error {
	at := uint64(0)
	for _, block := range blocks {
		for from := uint64(0); from < block.Bytes(); {
			if ctx.Err() != nil {
				return cancel.Error(ctx)
			}
			bytes := min(block.Bytes()-from, f.staging.Bytes())
			if err := move(block.Pointer()+device.Pointer(from), at, bytes); err != nil {
				return err
			}
			from, at = from+bytes, at+bytes
		}
	}
	return nil
}

// load reads a region of the file into host memory.
func (s *Spiller) load(from *region, homes []home) (blocks []*memory.Block, err error) {
	blocks, err = s.allocateBeyond(homes)
	at := uint64(0)
	for _, block := range blocks {
		if err == nil && block.Bytes() > 0 {
			err = from.read(address.Bytes(block.Pointer(), block.Bytes()), at)
			at += block.Bytes()
		}
	}
	if err != nil {
		return nil, errors.Join(err, release.All(blocks))
	}
	return blocks, nil
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
