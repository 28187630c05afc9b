package pages

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// LeafChunk is the column chunk of a leaf, of which Data has all bytes.
type LeafChunk struct {
	Data  []byte
	About Flat
}

// NestedDecoder decodes a column of lists and structs of a row group into arrays: each leaf by itself, and the lists and
// structs of which it is the first one. An entry of a leaf begins a list, a struct or a value where its repetition level
// is at most the number of lists around them, and its definition level shows that they exist.
type NestedDecoder struct {
	root   *nestedNode
	leaves []*leafDecoder
	mem    arrowmemory.Allocator
	// tree and chunks are the column with some rows, of which left were not returned.
	tree       *Nested
	chunks     []LeafChunk
	rows, left int64
	// most is the number of rows that are decoded at a time.
	most int64
}

// NewNestedDecoder returns a decoder of a column with some rows, of which leaves are the column chunks. Arrays have their
// memory from mem.
//
// # Ownership
//
// The decoder reads the column chunks until its last call. It holds no memory of mem between calls. Close keeps its other
// memory for other decoders.
//
// # Errors
//
// An error wraps [ErrOther] or [ErrDamaged].
func NewNestedDecoder(n *Nested, leaves []LeafChunk, rows int64, mem arrowmemory.Allocator) (*NestedDecoder, error) {
	d := &NestedDecoder{mem: mem, tree: n, chunks: leaves, rows: rows, most: mostRows}
	if err := d.open(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// open begins with the first row, again if the decoder was open.
func (d *NestedDecoder) open() (err error) {
	d.Close()
	d.left = d.rows
	d.root, err = d.node(d.tree, nil, d.chunks)
	return err
}

// node makes a part of the column, which is in lists that have elements from some definition levels on.
func (d *NestedDecoder) node(n *Nested, elements []uint32, leaves []LeafChunk) (*nestedNode, error) {
	part := &nestedNode{Nested: n, element: lastOf(elements)}
	if n.Leaf >= 0 {
		if n.Leaf >= len(leaves) || len(d.leaves) != n.Leaf {
			return nil, fmt.Errorf("leaf %d of %d: %w", n.Leaf, len(leaves), ErrOther)
		}
		part.leaf = &leafDecoder{leaf: n, elements: slices.Clone(elements), most: max(firstEntries, entriesOfByte*int64(len(leaves[n.Leaf].Data)))}
		d.leaves = append(d.leaves, part.leaf)
		about := leaves[n.Leaf].About
		if int(about.MaxDefinition) != n.Definition || int(about.MaxRepetition) != n.Depth || n.Depth != len(elements) {
			return nil, fmt.Errorf("leaf %d has levels up to %d and %d, not %d and %d: %w", n.Leaf, about.MaxDefinition, about.MaxRepetition, n.Definition, n.Depth, ErrOther)
		}
		if err := part.leaf.open(leaves[n.Leaf].Data, about, d.mem); err != nil {
			return nil, fmt.Errorf("leaf %d: %w", n.Leaf, err)
		}
		return part, nil
	}
	if n.Element > 0 {
		elements = append(slices.Clip(elements), uint32(n.Element))
	}
	first := len(d.leaves)
	for _, each := range n.Children {
		child, err := d.node(each, elements, leaves)
		if err != nil {
			return nil, err
		}
		part.children = append(part.children, child)
	}
	d.leaves[first].nodes = append(d.leaves[first].nodes, part)
	return part, nil
}

// Close ends the use of the decoder.
func (d *NestedDecoder) Close() {
	for _, leaf := range d.leaves {
		leaf.Close()
	}
	d.leaves = nil
}

// Next decodes an array of the next rows: fewer than requested if that are more than a million, or longer than an array
// may be. The caller releases it.
//
// # Errors
//
// An error wraps [ErrDamaged], or [ErrLong] about one row. The decoder must not be used after it.
func (d *NestedDecoder) Next(rows int64) (arrow.Array, error) {
	for left := d.left; ; {
		count := min(rows, d.left, d.most)
		if d.left > left {
			count = min(d.left-left, d.most) // rows that were returned before
		}
		before := d.left > left
		values, err := d.decode(count)
		switch {
		case errors.Is(err, ErrLong) && count > 1:
			d.most = count / 2
			if err := d.open(); err != nil {
				return nil, err
			}
		case err != nil || !before:
			return values, err
		default:
			values.Release()
		}
	}
}

// decode decodes an array of the next rows.
func (d *NestedDecoder) decode(rows int64) (values arrow.Array, err error) {
	nodes := d.nodes()
	defer func() {
		for _, n := range nodes {
			n.drop() // what the array has no use for
		}
		for _, leaf := range d.leaves {
			if values == nil && leaf.validity.mem != nil { // also after a panic
				leaf.drop()
			}
		}
	}()
	for _, n := range nodes {
		n.begin(d.mem)
	}
	left := d.left
	d.left -= rows
	for i, leaf := range d.leaves {
		leaf.begin(rows, left)
		if err = leaf.read(rows); err == nil && d.left == 0 && !leaf.ended() {
			err = fmt.Errorf("the levels are of more rows than the column has: %w", ErrDamaged)
		}
		if err != nil {
			return nil, fmt.Errorf("leaf %d: %w", i, err)
		}
	}
	values, err = d.root.array(int(rows))
	return values, err
}

// nodes returns the lists and structs.
func (d *NestedDecoder) nodes() (list []*nestedNode) {
	for _, leaf := range d.leaves {
		list = append(list, leaf.nodes...)
	}
	return list
}
