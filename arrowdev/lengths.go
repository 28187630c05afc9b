package arrowdev

import (
	"fmt"

	"github.com/gpuframe/gpuframe/arrowdev/internal/hostread"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// deviceLengths are the lengths of one node's data buffers, in driver memory.
type deviceLengths struct {
	node   *node
	block  *memory.Block
	values memory.Slice[int64]
}

// readLengths gives the data buffers of views their lengths. Arrow C++ keeps the
// lengths in host memory; nanoarrow's copy to a GPU keeps them on the GPU. So
// readLengths queries the driver before it reads them. It fetches lengths in driver
// memory in one transfer, which waits for the producer's work.
func (i *importer) readLengths(root *node) error {
	var there []deviceLengths
	err := root.each(func(n *node) error {
		if n.lengths == 0 {
			return nil
		}
		kind, err := kindAt(i.manager.Device(), n.lengths)
		if err == nil && kind != device.MemoryUnknown && kind != device.MemoryHost {
			var onDevice deviceLengths
			if onDevice, err = i.adoptLengths(n, kind); err == nil {
				there = append(there, onDevice)
				return nil
			}
		}
		lengths := make([]int64, len(n.claims)-n.layout.Buffers())
		if err == nil {
			err = readHost(i.manager.Device(), lengths, n.lengths)
		}
		if err != nil {
			return faulty(n.lengthsPath(), "read the lengths of the data buffers: %w", err)
		}
		return n.claimData(lengths)
	})
	if err == nil && len(there) > 0 {
		err = i.fetchLengths(there)
	}
	for _, each := range there {
		err = also(err, each.block.Release())
	}
	return err
}

// kindAt returns the kind of memory at an address, by a driver query. The host's
// driver knows only its own allocations; on the host all memory is host memory.
func kindAt(dev *device.Device, at uintptr) (device.MemoryKind, error) {
	if dev.Kind() == device.Host {
		return device.MemoryHost, nil
	}
	info, err := dev.Driver().PointerInfo(device.Pointer(at))
	if err != nil {
		return 0, fmt.Errorf("query the driver for the address %#x: %w", at, err)
	}
	return info.Kind, nil
}

// readHost reads words of host memory. On a GPU it first checks that the driver does
// not report device memory at the address, and it fails if the operating system
// reports that the address is unmapped. On the host it cannot check the address.
func readHost(dev *device.Device, words []int64, at uintptr) error {
	kind, err := kindAt(dev, at)
	switch {
	case err != nil:
		return err
	case kind == device.MemoryHost:
		hostread.Trusted(words, at)
		return nil
	case kind == device.MemoryDevice:
		return fmt.Errorf("%#x is memory of the device: %w", at, ErrInvalid)
	}
	if !hostread.Words(words, at) {
		return fmt.Errorf("%#x is not memory of %s and is not mapped in this process: %w", at, dev, ErrInvalid)
	}
	return nil
}

// adoptLengths makes a block of a node's lengths. Adopt checks with the driver that
// all of them are there.
func (i *importer) adoptLengths(n *node, kind device.MemoryKind) (deviceLengths, error) {
	const width = 8
	count := len(n.claims) - n.layout.Buffers()
	block, err := i.manager.Adopt(memory.ForeignMemory{
		Pointer: device.Pointer(n.lengths), Bytes: uint64(count) * width, Kind: kind,
		Origin: memory.ArrowDevice, ReadOnly: true, Stream: i.stream, Arrival: i.arrival(), Ordered: true,
	})
	if err != nil {
		return deviceLengths{}, err
	}
	values, err := memory.View[int64](block, 0, count)
	if err != nil {
		return deviceLengths{}, also(err, block.Release())
	}
	return deviceLengths{node: n, block: block, values: values}, nil
}

// fetchLengths fetches lengths that are in driver memory.
func (i *importer) fetchLengths(there []deviceLengths) error {
	destinations := make([]memory.Destination, len(there))
	for k, each := range there {
		destinations[k] = memory.Destination{From: each.values.AsBytes(), Data: make([]byte, each.values.Bytes())}
	}
	if err := memory.Download(i.options.context(), i.stream, destinations); err != nil {
		return faulty(there[0].node.lengthsPath(), "fetch the lengths of the data buffers: %w", err)
	}
	for k, each := range there {
		if err := each.node.claimData(hostread.Int64s(destinations[k].Data)); err != nil {
			return err
		}
	}
	return nil
}

// lengthsPath names the buffer that holds the lengths of the node's data buffers.
func (n *node) lengthsPath() string { return n.bufferPath(len(n.claims)) }

// claimData gives the data buffers of views their lengths.
func (n *node) claimData(lengths []int64) error {
	first := n.layout.Buffers()
	for i, length := range lengths {
		if length < 0 {
			return faulty(n.lengthsPath(), "the length of data buffer %d is %d: %w", i, length, ErrInvalid)
		}
		if err := n.claimBytes(first+i, uint64(length), 1); err != nil {
			return err
		}
	}
	return nil
}
