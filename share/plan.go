package share

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// largeColumn is the size from which a column gets a separate block. Smaller columns
// share blocks: each block takes at least 2 MiB, a descriptor, and time to map.
const largeColumn = 64 << 20

// alignment is the alignment of buffers in a copy.
const alignment = 256

// plan is the description of a table and the place of each buffer.
type plan struct {
	columns []column.Description
	// blocks contain the table's buffers.
	blocks []*memory.Block
	// contents are the buffers of a copy.
	contents []content
	// groups are the bytes of each new block, places the positions of the contents in
	// them.
	groups []uint64
	places []column.Place
}

// numbering numbers blocks.
type numbering struct {
	blocks  []*memory.Block
	numbers map[*memory.Block]int
}

func (n *numbering) number(block *memory.Block) int {
	i, met := n.numbers[block]
	if !met {
		if n.numbers == nil {
			n.numbers = make(map[*memory.Block]int)
		}
		i = len(n.blocks)
		n.numbers[block], n.blocks = i, append(n.blocks, block)
	}
	return i
}

// planTable plans the publication of a table: in place, if mayStay is set and its blocks
// contain only the table, otherwise as a copy. It waits for all work on the table.
func planTable(ctx context.Context, table *buffer.Buffer, mayStay bool) (p *plan, inPlace bool, err error) {
	var n numbering
	p = new(plan)
	for i := range table.NumColumns() {
		described, err := table.Column(i).Describe(n.number)
		if err != nil {
			return nil, false, fmt.Errorf("column %q: %w", table.Schema().Field(i).Name, err)
		}
		p.columns = append(p.columns, described)
	}
	if err := waitForWork(ctx, n.blocks); err != nil {
		return nil, false, err
	}
	c, copied, err := collect(ctx, table, n.number)
	if err != nil {
		return nil, false, err
	}
	if p.blocks = n.blocks; mayStay && canShare(p.blocks) {
		showsAll, err := c.showsAll(p.blocks)
		if err != nil || showsAll {
			return p, showsAll, err
		}
	}
	p.columns, p.contents = copied, c.contents
	return p, false, nil
}

// canShare reports whether the blocks can be shared as they are.
func canShare(blocks []*memory.Block) bool {
	if len(blocks) > mostBlocks {
		return false
	}
	for _, block := range blocks {
		if !block.Shareable() || !block.Device().Same(blocks[0].Device()) {
			return false
		}
	}
	return true
}

// waitForWork waits for all work on the blocks.
func waitForWork(ctx context.Context, blocks []*memory.Block) error {
	for _, block := range blocks {
		if err := block.Synchronize(ctx); err != nil {
			return err
		}
	}
	return nil
}

// layOut assigns every content a place in new blocks. A large column gets a separate
// block; smaller columns share one. Contents that several columns have in common stay
// shared.
func (p *plan) layOut(large uint64) {
	var total uint64
	for i := range p.columns {
		total += bytesOf(&p.columns[i])
	}
	// Full blocks, and blocks that a large column ends early, number at most mostBlocks/3
	// each.
	large = max(large, total/(mostBlocks/3))
	p.places = make([]column.Place, len(p.contents))
	placed := make([]bool, len(p.contents))
	begin := true
	for i := range p.columns {
		begin = begin || bytesOf(&p.columns[i]) >= large
		for place := range p.columns[i].Places {
			n := place.Block
			if n < 0 {
				continue
			}
			if !placed[n] {
				if begin {
					p.groups, begin = append(p.groups, 0), false
				}
				last := len(p.groups) - 1
				p.places[n] = column.Place{Block: last, Offset: p.groups[last], Bytes: place.Bytes}
				p.groups[last] += roundUp(uint64(place.Bytes), alignment)
				placed[n] = true
			}
			*place = p.places[n]
		}
		begin = begin || len(p.groups) > 0 && p.groups[len(p.groups)-1] >= large
	}
}

func bytesOf(d *column.Description) (bytes uint64) {
	for place := range d.Places {
		bytes += roundUp(uint64(place.Bytes), alignment)
	}
	return bytes
}

func roundUp(value, multiple uint64) uint64 { return (value + multiple - 1) / multiple * multiple }

// copyTo copies the buffers into new memory of the manager and waits for the copies. The
// caller releases the blocks.
func (p *plan) copyTo(ctx context.Context, m *memory.Manager) (blocks []*memory.Block, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, release.All(blocks))
			blocks = nil
		}
	}()
	unit, err := m.Device().Driver().PhysicalGranularity()
	if err != nil {
		return nil, err
	}
	for _, bytes := range p.groups {
		block, err := allocate(m, roundUp(bytes, unit))
		if err != nil {
			return blocks, err
		}
		blocks = append(blocks, block)
	}
	for i, content := range p.contents {
		for _, f := range content.fragments {
			if err := p.fill(ctx, blocks, p.places[i], f); err != nil {
				return blocks, err
			}
		}
	}
	return blocks, waitForWork(ctx, blocks)
}

// allocate makes a zeroed block that can be shared. Without zeroing, clients would find
// old contents of this process between the buffers.
func allocate(m *memory.Manager, bytes uint64) (*memory.Block, error) {
	block, err := m.Allocate(bytes, memory.AllocateOptions{Tag: "shared tables"})
	if err != nil {
		return nil, err
	}
	if !block.Shareable() {
		err = fmt.Errorf("ServerOptions.Manager must allocate from a memory.SharedResource: %w", device.ErrInvalidValue)
		return nil, errors.Join(err, block.Release())
	}
	if m.Device().Kind() == device.Host {
		return block, nil // a new file in memory is zero
	}
	all, err := memory.View[uint8](block, 0, int(bytes))
	if err == nil {
		err = all.Fill(nil, 0)
	}
	if err != nil {
		return nil, errors.Join(err, block.Release())
	}
	return block, nil
}

// fill copies one fragment of a content to its place in the new blocks.
func (p *plan) fill(ctx context.Context, blocks []*memory.Block, place column.Place, f fragment) error {
	target, bytes := blocks[place.Block], f.from.Bytes
	if f.host != nil {
		bytes = len(f.host)
	}
	to, err := memory.View[uint8](target, place.Offset+uint64(f.at), bytes)
	if err != nil {
		return err
	}
	if f.host != nil {
		return to.Upload(ctx, nil, f.host)
	}
	source := p.blocks[f.from.Block]
	from, err := memory.View[uint8](source, f.from.Offset, bytes)
	if err != nil {
		return err
	}
	if err := source.OrderBefore(target.Stream()); err != nil {
		return err
	}
	return to.CopyFrom(nil, from)
}
