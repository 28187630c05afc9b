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
	// host accounts for host memory without a budget: staging, and tables while their
	// records are made.
	host *memory.Manager

	// mu serializes the use of staging. Whoever holds it allocates nothing.
	mu      sync.Mutex
	staging *memory.Block
}

// openFiles prepares moves to files in a directory. The caller closes the result also after an
// error.
func openFiles(directory string, resource memory.Resource, stream *device.Stream) (*files, error) {
	f := &files{file: file{directory: directory, create: createFile}}
	var err error
	f.host, err = memory.NewManager(stream.Device(), memory.Options{Name: "files of spilled tables", Resource: resource, Stream: stream})
	if err == nil {
		f.staging, err = f.host.Allocate(stagingBytes, memory.AllocateOptions{Tag: "staging"})
	}
	return f, err
}

// close releases the memory.
func (f *files) close() error {
	if f == nil || f.host == nil {
		return nil
	}
	var err error
	if f.staging != nil {
		err = f.staging.Release()
	}
	return errors.Join(err, f.host.Close())
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
	for _, home := range t.homes {
		block, err := home.allocate(ctx)
		if err != nil {
			return nil, errors.Join(err, release.All(blocks))
		}
		blocks = append(blocks, block)
	}
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	if err = s.inWaitsFor(blocks); err == nil {
		err = s.fill(ctx, t.region, blocks)
	}
	if err != nil {
		return nil, errors.Join(err, release.All(blocks))
	}
	for _, block := range blocks {
		_ = isBusy(block) // as in toDevice
	}
	return blocks, nil
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
func (f *files) load(from *region, homes []home) (blocks []*memory.Block, err error) {
	at := uint64(0)
	for _, home := range homes {
		block, err := f.host.Allocate(home.bytes, memory.AllocateOptions{Tag: home.tag})
		if err != nil {
			return nil, errors.Join(err, release.All(blocks))
		}
		blocks = append(blocks, block)
		if home.bytes == 0 {
			continue
		}
		if err := from.read(address.Bytes(block.Pointer(), home.bytes), at); err != nil {
			return nil, errors.Join(err, release.All(blocks))
		}
		at += home.bytes
	}
	return blocks, nil
}
