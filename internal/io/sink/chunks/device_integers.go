package chunks

import (
	"github.com/apache/arrow/go/v17/arrow"

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

	low, length uint64 // of the ranks
	most        int    // of distinct values, if the device looks for them
	// ids has the distance of each rank from the least, table a number for each such distance, list those that
	// occur, total their number.
	ids, table, list, total memory.Slice[uint8]
	distinct                [1]uint32
	places                  []uint32
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
	memories, err := g.scratch(converted, uint64(len(bytesOf(n.facts))))
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

// findIntegers finds the distinct integers of columns with a small range.
func (g *deviceGroup) findIntegers() error {
	var totals, lists []memory.Destination
	var candidates []*deviceColumn
	for _, c := range g.columns {
		if c.integers == nil || !c.plan(g.pageRows) {
			continue
		}
		if err := c.markIntegers(g); err != nil {
			return err
		}
		candidates = append(candidates, c)
		totals = append(totals, download(g, c.integers.total, c.integers.distinct[:]))
	}
	if err := g.downloads(totals); err != nil {
		return err
	}
	for _, c := range candidates {
		n := c.integers
		if count := int(n.distinct[0]); count <= n.most {
			n.places = make([]uint32, count)
			list, err := n.list.Slice(0, 4*count)
			if err != nil {
				return err
			}
			lists = append(lists, download(g, list, n.places))
		}
	}
	if err := g.downloads(lists); err != nil {
		return err
	}
	for _, c := range candidates {
		if c.integers.places != nil {
			c.useIntegers()
		}
	}
	return nil
}

// plan decides by the facts whether the device looks for a dictionary.
func (c *deviceColumn) plan(pageRows int) bool {
	n := c.integers
	if !c.leaf.dictionary || n.refused[0] != 0 {
		return false
	}
	n.low = ^uint64(0)
	high, delta := uint64(0), 0
	for _, f := range n.facts {
		n.low, high, delta = min(n.low, f.low), max(high, f.high), delta+int(f.length)
	}
	length := c.rows.valid * c.leaf.width
	if !c.leaf.plain && isShorter(delta, length) {
		length = delta
	}
	n.length = uint64(length)
	n.most = mostDistinct(c.rows.valid, c.leaf.width, length)
	return n.most > 0 && high-n.low < mostDirect
}

// markIntegers numbers the distinct integers.
func (c *deviceColumn) markIntegers(g *deviceGroup) error {
	n := c.integers
	high := uint64(0)
	for _, f := range n.facts {
		high = max(high, f.high)
	}
	length := high - n.low + 1
	memories, err := g.scratch(uint64(4*c.rows.valid), uint64(4*n.most), 4)
	if err != nil {
		return err
	}
	n.ids, n.list, n.total = memories[0], memories[1], memories[2]
	tables, err := g.zeros(4 * length)
	if err != nil {
		return err
	}
	n.table = tables[0]
	if err := g.launch("numbers", c.leaf.entryOf("mark_values"), blocksOf((c.rows.valid+7)/8), n.values, uint32(c.rows.valid), c.leaf.asWord(c.leaf.mask()), c.leaf.asWord(n.low), n.ids, n.table); err != nil {
		return err
	}
	return g.launch("numbers", "number_marks", 1, n.table, uint32(length), n.list, uint32(n.most), n.total)
}

// useIntegers gives the column a dictionary, if that is shorter.
func (c *deviceColumn) useIntegers() {
	n := c.integers
	d := &deviceDictionary{ids: n.ids, table: n.table, count: len(n.places)}
	if c.leaf.width == 4 {
		d.distinct = distinctNumbers(n.places, uint32(n.low), c.leaf.order)
	} else {
		d.distinct = distinctNumbers(n.places, n.low, c.leaf.order)
	}
	if d.distinct.length(0, d.count)+indicesLength(c.rows.valid, d.count) < int(n.length) {
		c.dictionary = d
	}
}

// distinctNumbers returns numbers by the distances of their ranks from the least one.
func distinctNumbers[T word](places []uint32, low T, o order) values {
	all := make([]T, len(places))
	for i, place := range places {
		all[i] = unrank(low+T(place), o)
	}
	return numbers[T]{all, o}
}
