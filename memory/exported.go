package memory

import (
	"sync"

	"github.com/tidwall/btree"

	"github.com/gpuframe/gpuframe/device"
)

// exported knows the blocks that other libraries hold at the moment, by address.
// Addresses are unique in a process across devices and managers, so one table
// serves all; only what is exported is in it, so that allocating stays cheap.
var exported struct {
	sync.RWMutex
	blocks btree.Map[device.Pointer, *Block]
}

// beyond is past every address. A table that has held anything keeps an entry
// there, for the last entry to leave takes the tree's nodes with it.
const beyond = ^device.Pointer(0)

// FindExported returns the block that holds all the given bytes, if it is one of
// gpuframe's own that another library holds at the moment. The caller releases
// it.
func FindExported(pointer device.Pointer, bytes uint64) (*Block, bool) {
	exported.RLock()
	defer exported.RUnlock()
	var found *Block
	exported.blocks.Descend(pointer, func(base device.Pointer, block *Block) bool {
		if block == nil {
			return false
		}
		end := base.Add(block.Bytes())
		if pointer < end && bytes <= uint64(end-pointer) {
			found = block
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
	if b.External() || b.Bytes() == 0 {
		return nil
	}
	exported.Lock()
	defer exported.Unlock()
	if b.state.exports++; b.state.exports > 1 {
		return nil
	}
	if exported.blocks.Len() == 0 {
		exported.blocks.Set(beyond, nil)
	}
	exported.blocks.Set(b.state.allocation.Pointer, b)
	return nil
}

// EndExport is called, from any goroutine, when the other library is done with
// the block. It releases what BeginExport retained.
func (b *Block) EndExport() error {
	if !b.External() && b.Bytes() > 0 {
		b.forget()
	}
	return b.Release()
}

func (b *Block) forget() {
	exported.Lock()
	defer exported.Unlock()
	if b.state.exports == 0 {
		return
	}
	if b.state.exports--; b.state.exports == 0 {
		exported.blocks.Delete(b.state.allocation.Pointer)
	}
}
