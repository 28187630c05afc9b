package arrowdev

import (
	"hash/maphash"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// ownExport returns the export of the array if the array is the root of a gpuframe
// export, is unaltered, and is on the device.
func (i *importer) ownExport() *export {
	owner, root, own := i.lease.array.OwnerOf()
	x, ours := owner.(*export)
	if !own || !root || !ours || !x.unaltered(&i.lease.array) {
		return nil
	}
	return x
}

// seal records the contents of the structs, to detect changes by a consumer later.
func (x *export) seal(root cabi.Array, structs []byte) {
	x.root, x.structs, x.seed = root, structs, maphash.MakeSeed()
	x.sum = maphash.Bytes(x.seed, structs)
}

// unaltered reports whether the structs are unchanged and no part of them was moved.
func (x *export) unaltered(root *cabi.Array) bool {
	return *root == x.root && maphash.Bytes(x.seed, x.structs) == x.sum
}

// here reports whether a column's device, which may be nil, is the manager's.
func (i *importer) here(dev *device.Device) bool {
	return dev == nil || dev.Same(i.manager.Device())
}

// recogniseColumn returns the exported column itself, with a new reference.
func (i *importer) recogniseColumn(t arrow.DataType) (*column.Column, bool) {
	x := i.ownExport()
	if x == nil || x.column == nil || !i.here(x.column.Device()) || !arrow.TypeEqual(t, x.column.Type()) {
		return nil, false
	}
	c, err := x.column.WithHostRows(i.options.context()) // the export fetched the count
	return c, err == nil
}

// recogniseTable returns a table of the exported columns themselves.
func (i *importer) recogniseTable(schema *arrow.Schema) (*buffer.Buffer, bool) {
	x := i.ownExport()
	if x == nil || x.table == nil || !i.here(x.table.Device()) || x.table.Capacity() != x.root.Length {
		return nil, false
	}
	columns := make([]*column.Column, x.table.NumColumns())
	for k := range columns {
		columns[k] = x.table.Column(k)
	}
	table, err := buffer.New(schema, columns, buffer.Rows{Count: x.root.Length})
	return table, err == nil
}

// recogniseClaim finds the gpuframe block that contains a claim.
func (i *importer) recogniseClaim(c *claim) bool {
	if i.last != nil && within(i.last, c) {
		return c.in(i.last) == nil
	}
	block, ok := memory.FindExported(c.pointer, c.bytes)
	if !ok {
		return false
	}
	if !i.here(block.Device()) || locationOfBlock(block).deviceType != i.location.deviceType || i.keep(block) != nil {
		// The driver must check the claim. The array keeps the memory, so this is not
		// the last reference.
		_ = block.Release()
		return false
	}
	i.last = block
	return c.in(block) == nil
}

// within reports whether a claim lies in a block.
func within(block *memory.Block, c *claim) bool {
	base, bytes := block.Pointer(), block.Bytes()
	return c.pointer >= base && uint64(c.pointer-base) <= bytes && c.bytes <= bytes-uint64(c.pointer-base)
}
