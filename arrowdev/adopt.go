package arrowdev

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// adopted is the memory that an import holds until its columns hold it.
type adopted struct {
	held   []*memory.Block
	groups []group
	// last is the gpuframe block that the last claim lay in.
	last *memory.Block
	// drop is the release function of adopted blocks.
	drop func() error
}

// group is the part of one driver allocation that a producer's buffers use. It
// becomes one block, because a driver query for each buffer would dominate the cost
// of an import.
type group struct {
	// base and end bound the allocation.
	base, end device.Pointer
	// low and high bound the buffers in it.
	low, high device.Pointer
	block     *memory.Block
	// node and buffer are one of the buffers, for messages.
	node   *node
	buffer int
}

// release drops the references that the import holds.
func (a *adopted) release() error {
	var failures []error
	for _, block := range a.held {
		if err := block.Release(); err != nil {
			failures = append(failures, err)
		}
	}
	a.held = nil
	return errors.Join(failures...)
}

// each calls f for a node and all below it.
func (n *node) each(f func(n *node) error) error {
	if err := f(n); err != nil {
		return err
	}
	for _, child := range n.children {
		if err := child.each(f); err != nil {
			return err
		}
	}
	if n.dictionary != nil {
		return n.dictionary.each(f)
	}
	return nil
}

// claimsMemory reports whether any buffer of a node, or below it, has bytes.
func (n *node) claimsMemory() bool {
	for i := range n.claims {
		if n.claims[i].bytes > 0 {
			return true
		}
	}
	for _, child := range n.children {
		if child.claimsMemory() {
			return true
		}
	}
	return n.dictionary != nil && n.dictionary.claimsMemory()
}

// adopt makes regions of the non-empty claims that have no region yet.
func (i *importer) adopt(root *node) error {
	if i.held == nil {
		i.held = make([]*memory.Block, 0, i.buffers+1)
	}
	if err := root.each(i.find); err != nil {
		return err
	}
	for g := range i.groups {
		if i.groups[g].block == nil {
			if err := i.adoptGroup(&i.groups[g]); err != nil {
				return err
			}
		}
	}
	return root.each(i.view)
}

// find finds the blocks and the allocations that a node's claims lie in.
func (i *importer) find(n *node) error {
	for k := range n.claims {
		c := &n.claims[k]
		if c.bytes == 0 || c.region.Block() != nil || i.recogniseClaim(c) {
			continue
		}
		if i.manager.Device().Kind() == device.Host {
			// The host's driver does not record allocations.
			i.groups = append(i.groups, group{low: c.pointer, high: c.pointer.Add(c.bytes), node: n, buffer: k})
			c.group = len(i.groups)
			continue
		}
		i.join(n, k)
	}
	return nil
}

// join finds the group that claim k of a node belongs to.
func (i *importer) join(n *node, k int) {
	c := &n.claims[k]
	low, high := c.pointer, c.pointer.Add(c.bytes)
	own := group{base: low, end: high, low: low, high: high, node: n, buffer: k}
	known := false
	for number := len(i.groups) - 1; number >= 0; number-- {
		g := &i.groups[number]
		switch {
		case low < g.base || high > g.end:
			continue
		case g.block == nil:
			g.low, g.high = min(g.low, low), max(g.high, high)
		case low < g.low || high > g.high:
			// The group became a block before the length of this buffer was known.
			own.base, own.end, known = g.base, g.end, true
			continue
		}
		c.group = number + 1
		return
	}
	if !known {
		// A buffer that does not lie in one allocation gets its own group. Adopt
		// reports the error, if it is one.
		base, length, err := i.manager.Device().Driver().AddressRange(low)
		if err == nil && low >= base && high <= base.Add(length) {
			own.base, own.end = base, base.Add(length)
		}
	}
	i.groups = append(i.groups, own)
	c.group = len(i.groups)
}

// adoptGroup makes a block of a group. Adopt checks the memory with the driver.
func (i *importer) adoptGroup(g *group) error {
	if i.drop == nil {
		i.drop = i.lease.drop
	}
	i.lease.hold()
	block, err := i.manager.Adopt(memory.ForeignMemory{
		Pointer: g.low, Bytes: uint64(g.high - g.low), Kind: i.kind, Origin: memory.ArrowDevice,
		Stream: i.stream, Arrival: i.arrival(), Ordered: true, Release: i.drop,
	})
	if err != nil {
		return also(faulty(g.node.bufferPath(g.buffer), "%w", err), i.lease.drop())
	}
	g.block = block
	i.hold(block)
	return nil
}

// hold holds a block until the import is over.
func (i *importer) hold(block *memory.Block) {
	i.lease.inBlocks = true
	i.held = append(i.held, block)
}

// arrival states when the contents of the array are ready.
func (i *importer) arrival() memory.Arrival {
	switch {
	case i.waiting:
		return memory.AfterStream
	case i.lease.device != nil:
		return memory.AfterDefaultStreams
	}
	return memory.Arrived
}

// keep holds a block of gpuframe until the import is over. If the stream waits for the
// producer's event, work on the block waits too.
func (i *importer) keep(block *memory.Block) error {
	i.hold(block)
	if i.waiting {
		return block.RecordUse(i.stream)
	}
	return nil
}

// view makes regions of a node's claims in the blocks that were found.
func (i *importer) view(n *node) error {
	for k := range n.claims {
		c := &n.claims[k]
		if c.group == 0 || c.region.Block() != nil {
			continue
		}
		if err := c.in(i.groups[c.group-1].block); err != nil {
			return faulty(n.bufferPath(k), "%w", err)
		}
	}
	return nil
}

// in makes the claim a region of a block.
func (c *claim) in(block *memory.Block) (err error) {
	c.region, err = memory.View[uint8](block, uint64(c.pointer-block.Pointer()), int(c.bytes))
	return err
}
