package rowgroups

import (
	"math/bits"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/memory"
)

// mostSlotBits is the size of a table of slots: more than a dictionary has texts, which take six bytes
// each, and than threads add before they see the overflow.
const mostSlotBits = 19

// deviceTexts are the texts of a column, without the nulls.
type deviceTexts struct {
	// outcome is that of the kernel: the totals.
	outcome memory.Slice[uint8]
	totals  [1]totalsLayout
	// ids has the slot of each text, entries and bytes the distinct ones.
	ids, slots, entries, bytes memory.Slice[uint8]

	list []entryLayout
	data []byte
}

// startTexts looks for the distinct texts of a column.
func (c *deviceColumn) startTexts(g *deviceGroup) error {
	x := &deviceTexts{}
	most := min(c.rows.valid/2, mostDictionary/4)
	slotBits := min(mostSlotBits, max(8, bits.Len(uint(c.rows.valid))))
	memories, err := g.scratch(uint64(4*c.rows.valid), uint64(most)*entryBytes, mostDictionary)
	if err != nil {
		return err
	}
	zeros, err := g.zeros(4<<slotBits, uint64(len(address.BytesOf(x.totals[:]))))
	if err != nil {
		return err
	}
	x.ids, x.entries, x.bytes, x.slots, x.outcome = memories[0], memories[1], memories[2], zeros[0], zeros[1]
	width := offsetWidth(c.Type())
	offsets, err := c.Buffer(1).Slice(width*c.Offset(), width*(c.Offset()+c.Len()+1))
	if err != nil {
		return err
	}
	layout := textsLayout{offsets: offsets, data: c.Buffer(2), wide: uint32(width / 8)}
	c.texts = x
	return g.launch("texts", "number_texts", blocksOf(c.Len()), c.layout.asArgument(), layout.asArgument(), x.slots, uint32(slotBits), x.ids, x.outcome, x.entries, x.bytes,
		uint32(most), uint32(mostDictionary))
}

const entryBytes = 16

// findTexts gives columns of few texts dictionaries.
func (g *deviceGroup) findTexts() error {
	var all []memory.Destination
	for _, c := range g.columns {
		if c.texts == nil || c.texts.totals[0].overflow != 0 {
			continue
		}
		x := c.texts
		totals := x.totals[0]
		if int(totals.bytes)+indicesLength(c.rows.valid, int(totals.count)) >= int(totals.all)+c.rows.valid {
			continue
		}
		x.list, x.data = make([]entryLayout, totals.count), make([]byte, totals.bytes)
		entries, err := x.entries.Slice(0, len(address.BytesOf(x.list)))
		if err != nil {
			return err
		}
		texts, err := x.bytes.Slice(0, len(x.data))
		if err != nil {
			return err
		}
		all = append(all, download(g, entries, x.list), download(g, texts, x.data))
	}
	if err := g.downloads(all); err != nil {
		return err
	}
	for _, c := range g.columns {
		if c.texts == nil || c.texts.list == nil {
			continue
		}
		if err := c.useTexts(g); err != nil {
			return err
		}
	}
	return nil
}

// useTexts gives the column a dictionary of its sorted texts.
func (c *deviceColumn) useTexts(g *deviceGroup) error {
	x := c.texts
	list := make([]string, len(x.list))
	for i, e := range x.list {
		list[i] = string(x.data[e.at : e.at+uint64(e.length)])
	}
	distinct, indices := sortedTexts(list, &texts{order: c.leaf.order, isUTF8: c.leaf.isUTF8}, true)
	c.dictionary = &deviceDictionary{ids: x.ids, table: x.slots, distinct: distinct, count: len(list)}
	return g.rankSlots(x.entries, indices, x.slots)
}
