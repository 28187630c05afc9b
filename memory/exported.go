package memory

import (
	"sync"
	"weak"

	"github.com/tidwall/btree"

	"github.com/gpuframe/gpuframe/device"
)

// exported is the table of blocks that other libraries hold or have held, by address.
// Addresses are unique in the process across devices and managers, so one table
// suffices. A block enters the table at its first export, so allocating stays cheap,
// and stays until it is freed, so exporting it again is cheap too. The table holds weak
// pointers: a leaked block is still collected.
var exported struct {
	sync.RWMutex
	blocks btree.Map[device.Pointer, weak.Pointer[Block]]
}

// beyond is greater than every address. A table that was ever used keeps an entry
// there, because removing its last entry would free the tree's nodes.
const beyond = ^device.Pointer(0)

// FindExported returns the block that contains all the given bytes, if it is one of
// gpuframe's own blocks that another library holds or has held. The caller releases it.
func FindExported(pointer device.Pointer, bytes uint64) (*Block, bool) {
	exported.RLock()
	defer exported.RUnlock()
	var owner *Block
	exported.blocks.Descend(pointer, func(base device.Pointer, handle weak.Pointer[Block]) bool {
		block := handle.Value()
		if block == nil {
			return false
		}
		end := base.Add(block.Bytes())
		if pointer < end && bytes <= uint64(end-pointer) {
			owner = block
		}
		return false
	})
	if owner == nil || owner.Retain() != nil {
		return nil, false
	}
	return owner, true
}

// BeginExport retains the block for another library and makes [FindExported] find it.
// Each call is matched by one EndExport.
func (b *Block) BeginExport() error {
	if err := b.Retain(); err != nil {
		return err
	}
	if b.External() || b.Bytes() == 0 {
		return nil
	}
	b.state.exports.Add(1)
	b.state.exported.Store(b.generation + 1)
	if !b.state.listed.Load() {
		b.list()
	}
	return nil
}

// EndExport ends one export when the other library is done with the block. It may run
// on any goroutine and suits deleters: it drops the reference of BeginExport as
// [Block.ReleaseLater] does. If the other library may still have work enqueued on the
// memory, call RecordUse or RecordForeignUse first.
func (b *Block) EndExport() error {
	if !b.External() && b.Bytes() > 0 {
		b.endExport()
	}
	return b.ReleaseLater()
}

// endExport decrements the count of exports, which stays at zero if an export is ended
// too often.
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

// forget removes a block that is being freed from the table.
func (s *blockState) forget() {
	exported.Lock()
	defer exported.Unlock()
	exported.blocks.Delete(s.allocation.Pointer)
	s.exports.Store(0)
	s.listed.Store(false)
}
