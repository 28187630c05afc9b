package rowgroups

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/memory"
)

// deviceDictionary are the values of a column as indices of a dictionary.
type deviceDictionary struct {
	// ids has a number for each value, table the index for each such number.
	ids, table memory.Slice[uint8]
	distinct   values
	count      int
	// pages are those with values, to is the place of their bits among packed.
	pages  []packedPageLayout
	to     []int
	bounds []pageBoundsLayout
	packed []byte
}

// pack packs the indices of all dictionaries.
func (g *deviceGroup) pack() error {
	var all []memory.Destination
	for _, c := range g.columns {
		if c.dictionary == nil {
			continue
		}
		copied, err := c.packIndices(g)
		if err != nil {
			return err
		}
		all = append(all, copied...)
	}
	return g.downloads(all)
}

// packIndices packs the indices of a column.
func (c *deviceColumn) packIndices(g *deviceGroup) ([]memory.Destination, error) {
	d := c.dictionary
	width := indexWidth(d.count)
	bytes, values := 0, 0
	dividePages(c.rows.count, g.pageRows, func(int, int) int { return 0 }, func(from, end int) {
		n := c.rows.validIn(from, end)
		if n > 0 {
			d.pages = append(d.pages, packedPageLayout{first: uint32(values), count: uint32(n)})
			d.bounds = append(d.bounds, pageBoundsLayout{low: math.MaxUint32})
			d.to = append(d.to, bytes)
			bytes += (packedBytes(n, width) + 3) &^ 3
		}
		values += n
	})
	memories, err := g.scratch(uint64(bytes), uint64(len(address.BytesOf(d.pages))), uint64(len(address.BytesOf(d.bounds))))
	if err != nil {
		return nil, err
	}
	packed, list, bounds := memories[0], memories[1], memories[2]
	for i := range d.pages {
		d.pages[i].to = uint64(packed.Pointer()) + uint64(d.to[i])
	}
	if err := list.Upload(g.call.Context(), g.call.Stream, address.BytesOf(d.pages)); err != nil {
		return nil, err
	}
	if err := bounds.Upload(g.call.Context(), g.call.Stream, address.BytesOf(d.bounds)); err != nil {
		return nil, err
	}
	d.packed = g.host.AllocateUninitialized(bytes)
	if err := g.launch("numbers", "pack_indices", len(d.pages)*pageBlocks, d.ids, d.table, list, bounds, uint32(width)); err != nil {
		return nil, err
	}
	// The kernel finds the packed memory by addresses in the list.
	if err := packed.Block().RecordUse(g.call.Stream); err != nil {
		return nil, err
	}
	return []memory.Destination{download(g, packed, d.packed), download(g, bounds, d.bounds)}, nil
}

// page returns the number of the page that begins with a value.
func (d *deviceDictionary) page(from int) int {
	return sort.Search(len(d.pages), func(i int) bool { return int(d.pages[i].first) >= from })
}

// appendPage implements indices.
func (d *deviceDictionary) appendPage(to []byte, from, end, width int) []byte {
	to = append(to, byte(width))
	if from == end {
		return to
	}
	i, n := d.page(from), end-from
	if d.bounds[i].low == d.bounds[i].high {
		return appendRun(to, n, d.bounds[i].low, width)
	}
	to = binary.AppendUvarint(to, packedHead(n))
	return append(to, d.packed[d.to[i]:d.to[i]+packedBytes(n, width)]...)
}

// extremes implements indices.
func (d *deviceDictionary) extremes(from, _ int) (low, high uint32) {
	b := d.bounds[d.page(from)]
	return b.low, b.high
}
