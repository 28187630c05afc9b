package share

import (
	"fmt"

	"github.com/gpuframe/gpuframe/column"
)

// description is a table without its memory.
type description struct {
	Name   string        `json:"name"`
	Rows   int64         `json:"rows"`
	Serial uint64        `json:"serial"`
	Device DeviceID      `json:"device"`
	Schema schemaMessage `json:"schema"`
	// Blocks are the bytes of each piece of memory.
	Blocks  []uint64             `json:"blocks,omitempty"`
	Columns []column.Description `json:"columns,omitempty"`
}

// largestBlock is larger than the memory of any device.
const largestBlock = 1 << 50

// check returns an error if a buffer reaches beyond its block. column.New checks later
// that the columns fit their types.
func (d *description) check() error {
	if err := checkName(d.Name); err != nil {
		return err
	}
	if d.Rows < 0 || d.Serial == 0 || len(d.Blocks) > mostBlocks {
		return fmt.Errorf("%d rows, serial %d, %d blocks", d.Rows, d.Serial, len(d.Blocks))
	}
	if (len(d.Blocks) > 0) != (d.Device != DeviceID{}) {
		return fmt.Errorf("%d blocks on %v", len(d.Blocks), d.Device)
	}
	for i, bytes := range d.Blocks {
		if bytes == 0 || bytes > largestBlock {
			return fmt.Errorf("block %d has %d bytes", i, bytes)
		}
	}
	for i := range d.Columns {
		if int64(d.Columns[i].Length) != d.Rows {
			return fmt.Errorf("column %d has %d elements for %d rows", i, d.Columns[i].Length, d.Rows)
		}
		for place := range d.Columns[i].Places {
			if err := d.checkPlace(place); err != nil {
				return fmt.Errorf("column %d: %w", i, err)
			}
		}
	}
	return nil
}

func (d *description) checkPlace(p *column.Place) error {
	if p.Block < 0 {
		if p.Offset != 0 || p.Bytes != 0 {
			return fmt.Errorf("an absent buffer has %d bytes at %d", p.Bytes, p.Offset)
		}
		return nil
	}
	if p.Block >= len(d.Blocks) || p.Bytes <= 0 || p.Offset > d.Blocks[p.Block] || uint64(p.Bytes) > d.Blocks[p.Block]-p.Offset {
		return fmt.Errorf("a buffer of %d bytes at offset %d of block %d", p.Bytes, p.Offset, p.Block)
	}
	return nil
}

func (d *description) bytes() uint64 {
	var total uint64
	for _, bytes := range d.Blocks {
		total += bytes
	}
	return total
}
