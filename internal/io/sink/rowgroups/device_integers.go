package rowgroups

import (
	"encoding/binary"
	"math/bits"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/memory"
)

// deviceIntegers are the integers of a column, without the nulls.
type deviceIntegers struct {
	// values are those of the file, isConverted whether they are not those of the column.
	values      memory.Slice[uint8]
	isConverted bool
	// outcome has the facts of parts of the values, status whether a value was refused.
	outcome, status memory.Slice[uint8]
	facts           []factsLayout
	refused         [1]uint32

	// encoding and length are those without a dictionary. most is the number of distinct values that a shorter
	// dictionary has at most.
	encoding, length, most int
	// ids has the slot of each value, entries the distinct ones.
	ids, slots, entries, totals memory.Slice[uint8]
	distinct                    [1]distinctLayout
	list                        []numberEntryLayout
	// deltas are set if the encoding is that.
	deltas *deviceDeltas
}

// formOf returns how kernels convert the integers of a type.
func formOf(c *leaf, t arrow.DataType) (form, bool) {
	if !c.isInteger() || hasSeconds(t) {
		return 0, false
	}
	switch t.ID() {
	case arrow.INT8:
		return signed1, true
	case arrow.INT16:
		return signed2, true
	case arrow.UINT8:
		return unsigned1, true
	case arrow.UINT16:
		return unsigned2, true
	case arrow.DECIMAL128:
		if c.width == 4 {
			return decimal4, true
		}
		return decimal8, true
	case arrow.INT32, arrow.UINT32, arrow.DATE32, arrow.TIME32:
		return same4, c.width == 4
	case arrow.INT64, arrow.UINT64, arrow.TIMESTAMP, arrow.TIME64, arrow.DURATION:
		return same8, c.width == 8
	}
	return 0, false
}

// mask returns what maps integers to ranks, and back.
func (c *leaf) mask() uint64 {
	if c.order == orderUnsigned {
		return 0
	}
	return 1 << (8*c.width - 1)
}

// asWord returns a number as an argument of the kernels of its width.
func (c *leaf) asWord(v uint64) any {
	if c.width == 4 {
		return uint32(v)
	}
	return v
}

// entryOf returns the kernel for numbers of the width of the column.
func (c *leaf) entryOf(name string) string {
	if c.width == 4 {
		return name + "_4"
	}
	return name + "_8"
}

// startIntegers converts the integers of a column and finds their facts.
func (c *deviceColumn) startIntegers(g *deviceGroup, f form) error {
	n := &deviceIntegers{isConverted: c.rows.validity != nil || f != same4 && f != same8}
	region, err := c.ValuesRegion()
	if err != nil {
		return err
	}
	parts := (c.rows.valid + g.pageRows - 1) / g.pageRows
	n.facts = make([]factsLayout, parts)
	converted := uint64(0)
	if n.isConverted {
		converted = uint64(c.leaf.width * c.rows.valid)
	}
	memories, err := g.scratch(converted, uint64(len(address.BytesOf(n.facts))))
	if err != nil {
		return err
	}
	status, err := g.zeros(4)
	if err != nil {
		return err
	}
	n.values, n.outcome, n.status = region, memories[1], status[0]
	if n.isConverted {
		n.values = memories[0]
		if err := g.launch("numbers", "convert", blocksOf(c.Len()), c.layout.asArgument(), region, n.values, n.status, uint32(f)); err != nil {
			return err
		}
	}
	c.integers = n
	return g.launch("numbers", c.leaf.entryOf("find_facts"), parts, n.values, uint32(c.rows.valid), uint32(g.pageRows), c.leaf.asWord(c.leaf.mask()), n.outcome)
}

// mostNumberSlotBits is the size of a table of slots: more than a dictionary has integers, and than threads add
// before they see the overflow.
const mostNumberSlotBits = 20

// findIntegers gives columns of few integers dictionaries.
func (g *deviceGroup) findIntegers() error {
	var totals, lists []memory.Destination
	for _, c := range g.columns {
		if c.integers == nil {
			continue
		}
		c.integers.plan(c)
		if c.integers.most == 0 {
			continue
		}
		if err := c.numberIntegers(g); err != nil {
			return err
		}
		totals = append(totals, download(g, c.integers.totals, c.integers.distinct[:]))
	}
	if err := g.downloads(totals); err != nil {
		return err
	}
	for _, c := range g.columns {
		if c.integers == nil || c.integers.most == 0 || c.integers.distinct[0].overflow != 0 {
			continue
		}
		n := c.integers
		count := int(n.distinct[0].count)
		if count*c.leaf.width+indicesLength(c.rows.valid, count) >= n.length {
			continue
		}
		n.list = make([]numberEntryLayout, count)
		entries, err := n.entries.Slice(0, len(address.BytesOf(n.list)))
		if err != nil {
			return err
		}
		lists = append(lists, download(g, entries, n.list))
	}
	if err := g.downloads(lists); err != nil {
		return err
	}
	for _, c := range g.columns {
		if c.integers == nil || c.integers.list == nil {
			continue
		}
		if err := c.useIntegers(g); err != nil {
			return err
		}
	}
	return nil
}

// plan decides by the facts about the encoding, and whether a dictionary can be shorter.
func (n *deviceIntegers) plan(c *deviceColumn) {
	if n.refused[0] != 0 {
		return
	}
	delta := 0
	for _, f := range n.facts {
		delta += int(f.length)
	}
	n.encoding, n.length = pages.Plain, c.rows.valid*c.leaf.width
	if !c.leaf.plain && isShorter(delta, n.length) {
		n.encoding, n.length = pages.DeltaBinaryPacked, delta
	}
	if c.leaf.dictionary {
		n.most = mostDistinct(c.rows.valid, c.leaf.width, n.length)
	}
}

// numberIntegers numbers the distinct integers.
func (c *deviceColumn) numberIntegers(g *deviceGroup) error {
	n := c.integers
	slotBits := min(mostNumberSlotBits, max(8, bits.Len(uint(c.rows.valid))))
	memories, err := g.scratch(uint64(4*c.rows.valid), uint64(n.most*entryBytes))
	if err != nil {
		return err
	}
	zeros, err := g.zeros(4<<slotBits, uint64(len(address.BytesOf(n.distinct[:]))))
	if err != nil {
		return err
	}
	n.ids, n.entries, n.slots, n.totals = memories[0], memories[1], zeros[0], zeros[1]
	return g.launch("numbers", c.leaf.entryOf("number_values"), blocksOf((c.rows.valid+3)/4), n.values, uint32(c.rows.valid), n.slots, uint32(slotBits), n.ids, n.totals, n.entries, uint32(n.most))
}

// useIntegers gives the column a dictionary of its sorted integers.
func (c *deviceColumn) useIntegers(g *deviceGroup) error {
	n := c.integers
	d := &deviceDictionary{ids: n.ids, table: n.slots, count: len(n.list)}
	var indices []uint32
	if c.leaf.width == 4 {
		d.distinct, indices = sortedEntries[uint32](n.list, c.leaf.order)
	} else {
		d.distinct, indices = sortedEntries[uint64](n.list, c.leaf.order)
	}
	c.dictionary = d
	slots, err := n.entries.Slice(numberSlot, n.entries.Len())
	if err != nil {
		return err
	}
	return g.rankSlots(slots, indices, n.slots)
}

// numberSlot is the offset of the slot in an entry.
const numberSlot = 8

// sortedEntries returns the numbers of entries in their order, and the index of each there.
func sortedEntries[T word](list []numberEntryLayout, o order) (values, []uint32) {
	all := make([]T, len(list))
	for i, e := range list {
		all[i] = T(e.value)
	}
	sorted, indices := sortedNumbers(all, o)
	return numbers[T]{sorted, o}, indices
}

// rankSlots writes the indices of entries into their slots.
func (g *deviceGroup) rankSlots(entries memory.Slice[uint8], indices []uint32, slots memory.Slice[uint8]) error {
	uploaded, err := g.scratch(uint64(4 * len(indices)))
	if err != nil {
		return err
	}
	if err := uploaded[0].Upload(g.call.Context(), g.call.Stream, address.BytesOf(indices)); err != nil {
		return err
	}
	return g.launch("numbers", "rank_slots", blocksOf(len(indices)), entries, uint32(entryBytes), uploaded[0], uint32(len(indices)), slots)
}

// deviceDeltas are the pages of a column in DELTA_BINARY_PACKED.
type deviceDeltas struct {
	pages    []deltaPageLayout
	to       []int // places among the memory
	memory   memory.Slice[uint8]
	outcomes []deltaOutcomeLayout
	// bytes are those of the pages, at the places of the memory.
	bytes []byte
	order order
	width int
}

// writeDeltas encodes integers without a dictionary.
func (g *deviceGroup) writeDeltas() error {
	var outcomes, bodies []memory.Destination
	var all []*deviceDeltas
	for _, c := range g.columns {
		// A Bloom filter needs the values.
		if c.integers == nil || c.dictionary != nil || c.integers.encoding != pages.DeltaBinaryPacked || c.leaf.bloom {
			continue
		}
		outcome, err := c.startDeltas(g)
		if err != nil {
			return err
		}
		d := c.integers.deltas
		outcomes, all = append(outcomes, download(g, outcome, d.outcomes)), append(all, d)
	}
	if err := g.downloads(outcomes); err != nil {
		return err
	}
	for _, d := range all {
		length := 0
		for i := range d.pages {
			length += int(d.outcomes[i].length)
		}
		d.bytes = g.host.AllocateUninitialized(length)
		at := 0
		for i := range d.pages {
			n := int(d.outcomes[i].length)
			body, err := d.memory.Slice(d.to[i], d.to[i]+n)
			if err != nil {
				return err
			}
			bodies = append(bodies, download(g, body, d.bytes[at:at+n]))
			d.to[i] = at
			at += n
		}
	}
	return g.downloads(bodies)
}

// startDeltas begins to encode the integers of a column, and returns the memory of the outcomes.
func (c *deviceColumn) startDeltas(g *deviceGroup) (outcomes memory.Slice[uint8], err error) {
	n := c.integers
	d := &deviceDeltas{order: c.leaf.order, width: c.leaf.width}
	n.deltas = d
	bytes, at := 0, 0
	length := func(from, end int) int { return c.rows.validIn(from, end) * c.leaf.width }
	dividePages(c.rows.count, g.pageRows, length, func(from, end int) {
		valid := c.rows.validIn(from, end)
		if valid > 0 {
			d.pages, d.to = append(d.pages, deltaPageLayout{first: uint32(at), count: uint32(valid)}), append(d.to, bytes)
			bytes += longestDelta(valid, c.leaf.width)
		}
		at += valid
	})
	d.outcomes = make([]deltaOutcomeLayout, len(d.pages))
	memories, err := g.scratch(uint64(bytes), uint64(len(address.BytesOf(d.pages))), uint64(len(address.BytesOf(d.outcomes))))
	if err != nil {
		return outcomes, err
	}
	d.memory = memories[0]
	for i := range d.pages {
		d.pages[i].to = uint64(d.memory.Pointer()) + uint64(d.to[i])
	}
	if err := memories[1].Upload(g.call.Context(), g.call.Stream, address.BytesOf(d.pages)); err != nil {
		return outcomes, err
	}
	if err := g.launch("numbers", c.leaf.entryOf("write_deltas"), len(d.pages), n.values, memories[1], memories[2], c.leaf.asWord(c.leaf.mask())); err != nil {
		return outcomes, err
	}
	// The kernel finds the memory of the pages by addresses in the list.
	return memories[2], d.memory.Block().RecordUse(g.call.Stream)
}

// longestDelta is the length of values in DELTA_BINARY_PACKED at most.
func longestDelta(values, width int) int {
	blocks := (values + deltaValues - 1) / deltaValues
	return 4*binary.MaxVarintLen64 + blocks*(binary.MaxVarintLen64+deltaParts+deltaValues*width)
}

// length implements pageValues.
func (d *deviceDeltas) length(from, end int) int { return (end - from) * d.width }

// appendDelta implements deltaPages.
func (d *deviceDeltas) appendDelta(to []byte, from, end int) []byte {
	if from == end {
		return appendDelta[uint32](to, nil)
	}
	i := d.page(from)
	return append(to, d.bytes[d.to[i]:][:d.outcomes[i].length]...)
}

// bounds implements pageValues.
func (d *deviceDeltas) bounds(from, end int) bounds {
	if from == end {
		return bounds{}
	}
	o := d.outcomes[d.page(from)]
	if d.width == 4 {
		return rankBounds(uint32(o.low), uint32(o.high), d.order)
	}
	return rankBounds(o.low, o.high, d.order)
}

// page returns the number of the page that begins with a value.
func (d *deviceDeltas) page(from int) int {
	return sort.Search(len(d.pages), func(i int) bool { return int(d.pages[i].first) >= from })
}
