package memory

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
)

// SharedOptions configure [Manager.OpenShared].
type SharedOptions struct {
	// Stream is the stream of the block. Nil means the manager's stream.
	Stream *device.Stream
	// Writable maps the memory for reading and writing. Otherwise the block is
	// read-only.
	Writable bool
	// Release is called exactly once, after the last reference is released and the
	// memory is unmapped. It runs on an unspecified goroutine. It may be nil.
	Release func() error
}

// OpenShared returns a block of memory that this or another process has shared with
// [Block.Share]. It checks that the descriptor refers to shared memory of the given
// length; the descriptor must come from a process on the same device. The memory
// must already contain its data, because nothing orders the work of two processes.
//
// The memory counts as external and is in no budget. OpenShared maps it at a new
// address range; on the host the time does not depend on its size. The memory is
// unmapped after the last reference is released and the recorded work has completed.
//
// The mapping is read-only if the device supports read-only mappings. Otherwise only
// gpuframe's own checks prevent writes.
//
// # Ownership
//
// The caller keeps the descriptor and may close it after the call. After an error
// Release is not called.
func (m *Manager) OpenShared(shared Shared, options SharedOptions) (*Block, error) {
	fail := func(err error) (*Block, error) {
		return nil, fmt.Errorf("memory: open %s of shared memory: %w", humanize.IBytes(shared.Bytes), err)
	}
	if m.account.ended.Load() {
		return fail(fmt.Errorf("manager %q, or one above it: %w", m.account.name, ErrClosed))
	}
	if options.Stream == nil {
		options.Stream = m.stream
	}
	if !options.Stream.Device().Same(m.device) {
		return fail(fmt.Errorf("the stream belongs to %s, the manager to %s: %w", options.Stream.Device(), m.device, device.ErrInvalidValue))
	}
	if shared.Descriptor < 0 || shared.Bytes == 0 {
		return fail(fmt.Errorf("the descriptor is %d: %w", shared.Descriptor, device.ErrInvalidValue))
	}
	pointer, err := m.mapShared(shared, options.Writable)
	if err != nil {
		return fail(err)
	}
	block, err := m.adopt(ForeignMemory{
		Pointer: pointer, Bytes: shared.Bytes, Kind: m.device.MemoryKind(), Origin: OtherProcess,
		ReadOnly: !options.Writable, Stream: options.Stream, Arrival: Arrived, Ordered: true,
		Release: func() error {
			err := unmapWhole(m.device.Driver(), pointer, shared.Bytes)
			if options.Release != nil {
				err = errors.Join(err, options.Release())
			}
			return err
		},
	})
	if err != nil {
		return fail(errors.Join(err, unmapWhole(m.device.Driver(), pointer, shared.Bytes)))
	}
	return block, nil
}

func (m *Manager) mapShared(shared Shared, writable bool) (device.Pointer, error) {
	driver := m.device.Driver()
	physical, err := driver.PhysicalImport(shared.Descriptor, shared.Bytes)
	if err != nil {
		return 0, err
	}
	access := m.readAccess
	if writable {
		access = driver.SetAccess
	}
	pointer, err := mapWhole(driver, physical, shared.Bytes, access)
	// The mapping keeps the memory alive.
	if failure := driver.PhysicalRelease(physical); failure != nil && err == nil {
		return 0, errors.Join(failure, unmapWhole(driver, pointer, shared.Bytes))
	} else if err != nil {
		return 0, errors.Join(err, failure)
	}
	return pointer, nil
}

// readAccess grants read access. If the driver does not support read-only access it
// grants read and write access.
func (m *Manager) readAccess(at device.Pointer, bytes uint64) error {
	driver := m.device.Driver()
	err := driver.SetAccessReadOnly(at, bytes)
	if !errors.Is(err, device.ErrNotSupported) && !errors.Is(err, device.ErrInvalidValue) {
		return err
	}
	if otherwise := driver.SetAccess(at, bytes); otherwise != nil {
		return errors.Join(err, otherwise)
	}
	return nil
}
