package backendtest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

func testConcurrency(t *testing.T, d backend.Device) {
	const workers = 16
	var group sync.WaitGroup
	failures := make([]error, workers)
	for i := range workers {
		group.Go(func() { failures[i] = hammer(d, uint32(i)) })
	}
	group.Wait()
	require.NoError(t, errors.Join(failures...))
}

// hammer makes, uses and frees one object of every kind, repeatedly.
func hammer(d backend.Device, seed uint32) error {
	for round := range uint32(10) {
		size := 1 + int(pattern(1, seed*100+round)[0])*1000
		if err := transfer(d, pattern(size, seed+round)); err != nil {
			return fmt.Errorf("worker %d, round %d, %d bytes: %w", seed, round, size, err)
		}
	}
	return nil
}

// transfer sends content through device memory on a new stream.
func transfer(d backend.Device, content []byte) (err error) {
	size := uint64(len(content))
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; i >= 0; i-- {
			err = errors.Join(err, undo[i]())
		}
	}()

	s, err := d.StreamCreate()
	if err != nil {
		return err
	}
	undo = append(undo, func() error { return d.StreamDestroy(s) })
	e, err := d.EventCreate(false)
	if err != nil {
		return err
	}
	undo = append(undo, func() error { return d.EventDestroy(e) })
	memory, err := d.HostAlloc(size)
	if err != nil {
		return err
	}
	undo = append(undo, func() error { return d.HostFree(memory) })
	fixed, err := d.Alloc(size)
	if err != nil {
		return err
	}
	undo = append(undo, func() error { return d.Free(fixed) })
	ordered, free, err := allocateOrdered(d, size, s)
	if err != nil {
		return err
	}
	undo = append(undo, free)

	host := unsafe.Slice((*byte)(memory), size)
	copy(host, content)
	for _, step := range []func() error{
		func() error { return d.CopyToDeviceAsync(fixed, memory, size, s) },
		func() error { return d.CopyOnDeviceAsync(ordered, fixed, size, s) },
		func() error { return d.MemsetAsync(fixed, 0, 1, size, s) },
		func() error { return d.CopyToHostAsync(memory, fixed, size, s) },
		func() error { return d.CopyToHostAsync(memory, ordered, size, s) },
		func() error { return d.EventRecord(e, s) },
		func() error { return d.EventSynchronize(e) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if !bytes.Equal(content, host) {
		return errors.New("contents differ")
	}
	done, err := d.StreamQuery(s)
	if err == nil && !done {
		err = errors.New("the stream has work after its last event was reached")
	}
	return err
}

// allocateOrdered allocates in stream order if the device can.
func allocateOrdered(d backend.Device, size uint64, s backend.Stream) (backend.Pointer, func() error, error) {
	p, err := d.AllocAsync(size, 0, s)
	if errors.Is(err, backend.ErrNotSupported) {
		p, err = d.Alloc(size)
		return p, func() error { return d.Free(p) }, err
	}
	return p, func() error { return d.FreeAsync(p, s) }, err
}
