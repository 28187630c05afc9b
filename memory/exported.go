package memory

import (
	"sync"

	"github.com/tidwall/btree"

	"github.com/gpuframe/gpuframe/device"
)

// exported knows the blocks that other libraries hold at the moment, by address.
// Addresses are unique in a process across devices and managers, so one table
// serves all; only what is exported is in it, so that allocating stays cheap.
var exported = struct {
	sync.RWMutex
	blocks btree.Map[device.Pointer, *exportedBlock]
}{}

type exportedBlock struct {
	block *Block
	count int
}

// FindExported returns the block that holds all the given bytes, if it is one of
// gpuframe's own that another library holds at the moment. The caller releases
// it.
func FindExported(pointer device.Pointer, bytes uint64) (*Block, bool) {
	exported.RLock()
	defer exported.RUnlock()
	var found *Block
	exported.blocks.Descend(pointer, func(base device.Pointer, entry *exportedBlock) bool {
		end := base.Add(entry.block.allocation.Bytes)
		if pointer < end && bytes <= uint64(end-pointer) {
			found = entry.block
		}
		return false
	})
	if found == nil || found.Retain() != nil {
		return nil, false
	}
	return found, true
}

// BeginExport retains the block for another library and makes it known to
// [FindExported]. Each is ended by one EndExport.
func (b *Block) BeginExport() error {
	if err := b.Retain(); err != nil {
		return err
	}
	if b.External() || b.allocation.Bytes == 0 {
		return nil
	}
	exported.Lock()
	defer exported.Unlock()
	if entry, ok := exported.blocks.Get(b.allocation.Pointer); ok {
		entry.count++
		return nil
	}
	exported.blocks.Set(b.allocation.Pointer, &exportedBlock{block: b, count: 1})
	return nil
}

// EndExport is called, from any goroutine, when the other library is done with
// the block. It releases what BeginExport retained.
func (b *Block) EndExport() error {
	if !b.External() && b.allocation.Bytes > 0 {
		b.forget()
	}
	return b.Release()
}

func (b *Block) forget() {
	exported.Lock()
	defer exported.Unlock()
	entry, ok := exported.blocks.Get(b.allocation.Pointer)
	if !ok || entry.block != b {
		return
	}
	if entry.count--; entry.count == 0 {
		exported.blocks.Delete(b.allocation.Pointer)
	}
}
