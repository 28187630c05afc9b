package join

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// Regions of the memory of a table, each a part of a spilled index if it is not empty.
const (
	slotRegion = iota
	listRegion
	spanRegion
	valueRegion
)

// indexMemory is the memory of an index for one call.
type indexMemory struct {
	right *buffer.Buffer
	keys  []*column.Column
	built *built
	// parts are the columns that the build side is made of.
	parts []*column.Column
}

// parts returns the memory of a build side as columns, in lists of columns of one length.
// The caller releases them.
func (b *built) parts(mgr *memory.Manager) (parts [][]*column.Column, err error) {
	if b == nil {
		return nil, nil
	}
	if s := b.sorted; s != nil {
		columns := append(columnsOf(s.table), s.rows)
		for i, c := range columns {
			if err := c.Retain(); err != nil {
				return nil, errors.Join(err, release.All(columns[:i]))
			}
		}
		return [][]*column.Column{columns}, nil
	}
	t := b.table
	t.sharesKey = t.keys != nil && t.keys.column != nil
	values := t.values
	if t.sharesKey {
		values = memory.Slice[uint8]{} // the column is among the keys
	}
	t.regions = nil
	for i, bytes := range []memory.Slice[uint8]{slotRegion: t.memory, listRegion: t.list.AsBytes(), spanRegion: t.spans.AsBytes(), valueRegion: values} {
		if bytes.Len() == 0 {
			continue
		}
		t.regions = append(t.regions, i)
		c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Uint8, Length: bytes.Len(), Buffers: []column.Bytes{{}, bytes}, Manager: mgr})
		if err != nil {
			for _, part := range parts {
				err = errors.Join(err, release.All(part))
			}
			return nil, err
		}
		parts = append(parts, []*column.Column{c})
	}
	return parts, nil
}

// withMemory returns a build side like b in other memory: that of parts and keys, which are held.
func (b *built) withMemory(held *release.Stack, parts [][]*column.Column, keys []*column.Column) (*built, error) {
	if b == nil {
		return nil, nil
	}
	if b.sorted != nil {
		last := len(parts[0]) - 1
		table, _, err := keyTable(held, parts[0][:last])
		return &built{sorted: &sortedRows{table: table, rows: parts[0][last]}}, err
	}
	from := b.table
	t := &table{
		size: from.size, seed: from.seed, factor: from.factor, least: from.least, places: from.places, room: from.room,
		sign: from.sign, mask: from.mask, rows: from.rows, wide: from.wide, filterBits: from.filterBits, decided: true, distinct: from.distinct,
	}
	var err error
	if from.sharesKey {
		if t.values, err = keys[0].ValuesRegion(); err != nil {
			return nil, err
		}
	}
	for i, part := range parts {
		bytes := part[0].Buffer(1)
		switch from.regions[i] {
		case slotRegion:
			t.memory = bytes
		case listRegion:
			t.list, err = memory.Reinterpret[uint32](bytes)
		case spanRegion:
			t.spans, err = memory.Reinterpret[uint64](bytes)
		case valueRegion:
			t.values = bytes
		}
		if err != nil {
			return nil, err
		}
	}
	return &built{table: t}, nil
}

// releaseMemory releases what a spiller has not taken over.
func (ix *Index) releaseMemory() error {
	var failures []error
	for _, part := range ix.parts {
		failures = append(failures, release.All(part))
	}
	failures = append(failures, ix.built.Release(), ix.encoding.Release(), ix.sides.Release())
	ix.parts, ix.encoding = nil, nil
	return errors.Join(failures...)
}
