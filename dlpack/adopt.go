package dlpack

import (
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/memory"
)

// recognise returns the gpuframe block that the tensor is a view of, with a
// reference, or nil. It never recognises a read-only tensor, because the block may be
// written to.
func (f foreign) recognise(m *memory.Manager, c *claim) *memory.Block {
	if f.readOnly() {
		return nil
	}
	block := f.ownBlock(c)
	if block == nil {
		return nil
	}
	base := block.Pointer()
	within := c.pointer >= base && uint64(c.pointer-base) <= block.Bytes() && c.bytes <= block.Bytes()-uint64(c.pointer-base)
	if !within || !block.Device().Same(m.Device()) || deviceOf(block).Type != f.tensor().Device.Type {
		// The driver must check the claim. The tensor keeps the memory, so this is
		// not the last reference.
		_ = block.Release()
		return nil
	}
	return block
}

func (f foreign) ownBlock(c *claim) *memory.Block {
	handle, own := f.own()
	if !own {
		block, _ := memory.FindExported(c.pointer, c.bytes)
		return block
	}
	owner, ok := cabi.Find(handle)
	if !ok {
		return nil
	}
	block := owner.(*export).block
	if block == nil || block.Retain() != nil {
		return nil
	}
	return block
}

// adopt makes a block of the producer's memory. The block's release runs the deleter.
func (f foreign) adopt(m *memory.Manager, c *claim, o *ImportOptions, arrival memory.Arrival) (*memory.Block, error) {
	block, err := m.Adopt(memory.ForeignMemory{
		Pointer: c.pointer, Bytes: c.bytes, Kind: c.kind, Origin: memory.DLPack,
		ReadOnly: f.readOnly(), Arrival: arrival, Ordered: !o.NoSync,
		Release: func() error { f.release(nil); return nil },
	})
	if err != nil {
		return nil, faulty("data", "%w", err)
	}
	return block, nil
}
