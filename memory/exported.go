package memory

import (
	"sync"
	"weak"

	"github.com/tidwall/btree"

	"github.com/gpuframe/gpuframe/device"
)

// exported knows the blocks that other libraries hold or have held, by address.
// Addresses are unique in a process across devices and managers, so one table
// serves all; only what was exported once is in it, so that allocating stays cheap,
// and it stays until it ends, so that exporting it again does too. The table keeps
// nothing alive: a block that is lost is collected all the same.
var exported struct {
	sync.RWMutex
	blocks btree.Map[device.Pointer, weak.Pointer[Block]]
}

// beyond is past every address. A table that has held anything keeps an entry
// there, for the last entry to leave takes the tree's nodes with it.
const beyond = ^device.Pointer(0)

// FindExported returns the block that holds all the given bytes, if it is one of
// gpuframe's own that another library holds or has held. The caller releases it.
func FindExported(pointer device.Pointer, bytes uint64) (*Block, bool) {
	exported.RLock()
	defer exported.RUnlock()
	var found *Block
	exported.blocks.Descend(pointer, func(base device.Pointer, handle weak.Pointer[Block]) bool {
		block := handle.Value()
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
	b.state.exports.Add(1)
	if !b.state.listed.Load() {
		b.list()
	}
	return nil
}

// EndExport is called, from any goroutine, when the other library is done with
// the block. It releases what BeginExport retained, as [Block.ReleaseLater] does: it
// suits deleters. What the other library may still have enqueued, RecordUse or
// RecordForeignUse say before.
func (b *Block) EndExport() error {
	if !b.External() && b.Bytes() > 0 {
		b.endExport()
	}
	return b.ReleaseLater()
}

// endExport counts down, but not below zero for who ends an export too often.
func (b *Block) endExport() {
	for {
		exports := b.state.exports.Load()
		if exports == 0 || b.state.exports.CompareAndSwap(exports, exports-1) {
			return
		}
	}
}

func (b *Block) list() {
	exported.Lock()
	defer exported.Unlock()
	if b.state.listed.Load() {
		return
	}
	if exported.blocks.Len() == 0 {
		exported.blocks.Set(beyond, weak.Pointer[Block]{})
	}
	exported.blocks.Set(b.state.allocation.Pointer, weak.Make(b))
	b.state.listed.Store(true)
}

// forget takes a block that ends out of the table.
func (s *blockState) forget() {
	exported.Lock()
	defer exported.Unlock()
	exported.blocks.Delete(s.allocation.Pointer)
	s.exports.Store(0)
	s.listed.Store(false)
}
