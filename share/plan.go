package share

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// largeColumn is from what size on a column gets a block of its own. Smaller ones
// share blocks: each takes 2 MiB at least, a descriptor, and time to map.
const largeColumn = 64 << 20

// alignment is that of the buffers in a copy.
const alignment = 256

// plan says where the buffers of a table go.
type plan struct {
	columns []column.Description
	// blocks are those that the columns' places are numbered by.
	blocks []*memory.Block
	// groups are the bytes of each new block, which the places are numbered by once
	// they are laid out, moves what is copied there.
	groups []uint64
	moves  []move
}

type move struct {
	from, to column.Place
}

// describeTable lists what the table's columns consist of.
func describeTable(table *buffer.Buffer) (*plan, error) {
	p := new(plan)
	numbers := make(map[*memory.Block]int)
	number := func(block *memory.Block) int {
		n, met := numbers[block]
		if !met {
			n = len(p.blocks)
			numbers[block], p.blocks = n, append(p.blocks, block)
		}
		return n
	}
	for i := range table.NumColumns() {
		described, err := table.Column(i).Describe(number)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", table.Schema().Field(i).Name, err)
		}
		p.columns = append(p.columns, described)
	}
	return p, nil
}

// inPlace reports whether the table can be shared where it lies.
func (p *plan) inPlace() bool {
	if len(p.blocks) > mostBlocks {
		return false
	}
	for _, block := range p.blocks {
		if !block.Shareable() || !block.Device().Same(p.blocks[0].Device()) {
			return false
		}
	}
	return true
}

// settle waits for all work on the blocks.
func (p *plan) settle(ctx context.Context) error {
	for _, block := range p.blocks {
		if err := block.Synchronize(ctx); err != nil {
			return err
		}
	}
	return nil
}

// layOut gives every buffer a place in new blocks, and each large column a block of
// its own; columns that are smaller share one. What several columns have in common
// stays so.
func (p *plan) layOut(large uint64) {
	var total uint64
	for i := range p.columns {
		total += bytesOf(&p.columns[i])
	}
	// Blocks that are filled, and those that a large column cuts short, are at most
	// this many each.
	large = max(large, total/(mostBlocks/3))
	moved := make(map[column.Place]column.Place)
	begin := true
	for i := range p.columns {
		begin = begin || bytesOf(&p.columns[i]) >= large
		for place := range p.columns[i].Places {
			if place.Block < 0 {
				continue
			}
			to, met := moved[*place]
			if !met {
				if begin {
					p.groups, begin = append(p.groups, 0), false
				}
				last := len(p.groups) - 1
				to = column.Place{Block: last, Offset: p.groups[last], Bytes: place.Bytes}
				p.groups[last] += roundUp(uint64(place.Bytes), alignment)
				moved[*place] = to
				p.moves = append(p.moves, move{from: *place, to: to})
			}
			*place = to
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

// copyTo copies the buffers into new memory of the manager and waits until they are
// there. The caller releases the blocks.
func (p *plan) copyTo(ctx context.Context, m *memory.Manager) (blocks []*memory.Block, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, releaseBlocks(blocks))
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
	for _, move := range p.moves {
		if err := p.enqueue(move, blocks); err != nil {
			return blocks, err
		}
	}
	for _, block := range blocks {
		if err := block.Synchronize(ctx); err != nil {
			return blocks, err
		}
	}
	return blocks, nil
}

// allocate makes a block that can be shared and that is zero. Between the buffers
// clients would else find what this process had there before.
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

func (p *plan) enqueue(m move, blocks []*memory.Block) error {
	source, target := p.blocks[m.from.Block], blocks[m.to.Block]
	from, err := memory.View[uint8](source, m.from.Offset, m.from.Bytes)
	if err != nil {
		return err
	}
	to, err := memory.View[uint8](target, m.to.Offset, m.to.Bytes)
	if err != nil {
		return err
	}
	if err := source.OrderBefore(target.Stream()); err != nil {
		return err
	}
	return to.CopyFrom(nil, from)
}

func releaseBlocks(blocks []*memory.Block) error {
	var failures []error
	for _, block := range blocks {
		failures = append(failures, block.Release())
	}
	return errors.Join(failures...)
}
