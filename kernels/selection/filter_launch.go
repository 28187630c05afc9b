package selection

import (
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
)

// values keeps the rows of the buffers that move in units of unit bytes.
func (c *compaction) values(f found, unit int) error {
	columns := takeWords()
	defer giveBackWords(columns)
	add := func(b *planBuffer) error {
		if b.unit != unit || b.units == 0 || b.fused {
			return nil
		}
		columns.AddAddress(b.source.Pointer(), b.source.Block())
		columns.AddAddress(b.out.Pointer(), b.out.Block())
		columns.Add(uint64(b.units))
		if len(columns.Values) == 3*columnsMost {
			return c.launch(compactValues(unit), f, columns)
		}
		return nil
	}
	for i := range c.plan.buffers {
		if err := add(&c.plan.buffers[i]); err != nil {
			return err
		}
	}
	if len(c.plan.gathered) > 0 {
		if err := add(&c.numbers); err != nil {
			return err
		}
	}
	return c.launch(compactValues(unit), f, columns)
}

// bitmaps keeps the bits of the bitmaps.
func (c *compaction) bitmaps(f found) error {
	columns := takeWords()
	defer giveBackWords(columns)
	for i := range c.plan.buffers {
		b := &c.plan.buffers[i]
		if b.unit != 0 {
			continue
		}
		addBits(columns, bits{b.source, b.at})
		columns.AddAddress(b.out.Pointer(), b.out.Block())
		if len(columns.Values) == 3*columnsMost {
			if err := c.launch(&compactBits, f, columns); err != nil {
				return err
			}
		}
	}
	return c.launch(&compactBits, f, columns)
}

// launch launches a kernel for the collected columns, and clears the collection.
func (c *compaction) launch(kernel *compactKernel, f found, columns *kernels.Words) error {
	if len(columns.Values) == 0 {
		return nil
	}
	function, err := kernel.function(c.call)
	if err != nil {
		return err
	}
	grid := kernels.GridFor(c.capacity, compactRows)
	grid.Y = uint32(len(columns.Values) / 3)
	for len(columns.Values) < 3*columnsMost {
		columns.Add(0)
	}
	mask, where := f.mask.words(), takeWords()
	defer giveBackWords(mask, where)
	where.AddAddress(f.bases.Pointer(), f.bases.Block())
	where.AddAddress(f.within.Pointer(), f.within.Block())
	where.Add(f.shift)
	err = function.Launch(c.call.Stream, grid, device.Dim3{X: compactThreads}, 0, mask, where, columns)
	columns.Reset()
	return err
}

// wordsPool reuses the memory of arguments, because a launch copies them.
var wordsPool = sync.Pool{New: func() any { return new(kernels.Words) }}

func takeWords() *kernels.Words { return wordsPool.Get().(*kernels.Words) }

func giveBackWords(words ...*kernels.Words) {
	for _, w := range words {
		w.Reset()
		wordsPool.Put(w)
	}
}

// words returns the arguments in the kernel's order. The caller gives them back.
func (m *maskArguments) words() *kernels.Words {
	w := takeWords()
	addBits(w, m.bits)
	addBits(w, m.valid)
	w.AddAddress(m.rows.Pointer(), m.rows.Block())
	w.Add(uint64(m.capacity))
	return w
}

// addBits adds the address of a bitmap and the number of the first bit in its first
// byte.
func addBits(w *kernels.Words, b bits) {
	if b.absent() {
		w.Add(0)
		w.Add(0)
		return
	}
	w.AddAddress(b.bytes.Pointer()+device.Pointer(b.at/8), b.bytes.Block())
	w.Add(b.at % 8)
}

// parts launches a kernel of compact_small.cuh per smallColumns buffers.
func (c *compaction) parts(launch func(parts *kernels.Words) error) error {
	all := make([]*planBuffer, 0, len(c.plan.buffers)+1)
	for i := range c.plan.buffers {
		if b := &c.plan.buffers[i]; b.unit == 0 || b.units > 0 {
			all = append(all, b)
		}
	}
	if len(c.plan.gathered) > 0 {
		all = append(all, &c.numbers)
	}
	parts := takeWords()
	defer giveBackWords(parts)
	for first := true; first || len(all) > 0; first = false {
		parts.Reset()
		now := all[:min(len(all), smallColumns)]
		for _, b := range now {
			addPart(parts, b)
		}
		for len(parts.Values) < 4*smallColumns {
			parts.Add(0)
		}
		parts.Add(uint64(len(now)))
		if err := launch(parts); err != nil {
			return err
		}
		all = all[len(now):]
	}
	return nil
}

func addPart(parts *kernels.Words, b *planBuffer) {
	at := uint64(b.units)
	address := b.source.Pointer()
	if b.unit == 0 {
		address, at = address+device.Pointer(b.at/8), b.at%8
	}
	parts.AddAddress(address, b.source.Block())
	parts.AddAddress(b.out.Pointer(), b.out.Block())
	parts.Add(uint64(b.unit))
	parts.Add(at)
}
