package source

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// A GPU decodes lists, maps and structs if it decodes the column chunks of all their leaves. The host decodes the others.

// rawLeaf is the column chunk of a leaf, which has the bytes of the column from one to another.
type rawLeaf struct {
	about      pages.Flat
	plan       pages.Plan
	begin, end int64
}

// openNested reads the column chunks of a column of lists or structs, or returns nil if the host has to decode it.
func (d *groupDecoder) openNested(i int) (c *columnChunk, err error) {
	tree := d.deviceNested(i)
	if tree == nil {
		return nil, nil
	}
	t := &rawChunk{about: pages.Flat{Type: d.schema.Field(i).Type}, nested: tree, rows: d.group.all(), source: d.source, group: d.group}
	part, leaves := d.nestedPart(tree)
	t.leaves = leaves
	bytes := uninitialized(d.allocator, int(part.length))
	defer func() {
		if c == nil {
			bytes.Release()
		}
	}()
	if err := part.read(d.from, bytes.Bytes()); err != nil {
		return nil, err
	}
	for n := range t.leaves {
		leaf := &t.leaves[n]
		own := bytes.Bytes()[leaf.begin:leaf.end]
		if leaf.plan, err = pages.NewPlan(own, leaf.about.Column); err != nil {
			return nil, fmt.Errorf("leaf %d: %w", n, err)
		}
		if !chunks.DecodableLeaf(leaf.about, leaf.plan) {
			return nil, nil
		}
	}
	d.count(part)
	return &columnChunk{t, part, bytes}, nil
}

// nestedPart returns the bytes of the column chunks of all leaves.
func (d *groupDecoder) nestedPart(tree *pages.Nested) (part *chunkPart, leaves []rawLeaf) {
	part = &chunkPart{}
	tree.Leaves(func(leaf *pages.Nested) {
		begin := part.length
		length := d.group.footer.about(d.group.index, leaf.Column).Compressed
		part.add(span{d.group.footer.startOf(d.group.index, leaf.Column), length})
		leaves = append(leaves, rawLeaf{about: d.group.footer.chunk(d.group.index, leaf.Column, leaf.Type), begin: begin, end: part.length})
	})
	return part, leaves
}

// nested describes a column of lists or structs.
func (d *groupDecoder) nested(i int) (*pages.Nested, error) {
	field := d.group.footer.column(d.leaves[i][0]).Field
	return pages.NewNested(d.group.footer.fields[field], d.fileType(i))
}

// deviceNested describes a column of lists or structs that the device may decode, or returns nil.
func (d *groupDecoder) deviceNested(i int) *pages.Nested {
	field := d.schema.Field(i)
	if !d.device || !arrow.IsNested(field.Type.ID()) || len(d.leaves[i]) == 0 || d.group.footer.converts(field.Name) {
		return nil
	}
	tree, err := d.nested(i)
	if err != nil || tree.HasFixedLists() {
		return nil
	}
	tree.Leaves(func(leaf *pages.Nested) {
		about := d.group.footer.chunk(d.group.index, leaf.Column, leaf.Type)
		if !about.DecodableValues() || d.checkLeaf(leaf.Column) != nil {
			tree = nil
		}
		// Nanoseconds do not hold all of these.
		leaf.Nullable = leaf.Nullable || about.Physical == parquetformat.Int96
	})
	return tree
}

// leavesOf returns the column chunks of the leaves in the bytes of the column.
func (c *rawChunk) leavesOf(bytes []byte) (leaves []chunks.Chunk) {
	for _, leaf := range c.leaves {
		leaves = append(leaves, chunks.Chunk{About: leaf.about, Plan: leaf.plan, Bytes: bytes[leaf.begin:leaf.end]})
	}
	return leaves
}

// sameLevels reports whether columns of lists and structs of two records have the same levels.
func sameLevels(a, b arrow.Record) bool {
	for i := range int(a.NumCols()) {
		first, ok := rawAs[levelled](a.Column(i).DataType())
		other, also := rawAs[levelled](b.Column(i).DataType())
		if ok && also && first.levels() != nil && other.levels() != nil && !first.levels().Equal(other.levels()) {
			return false
		}
	}
	return true
}

// levelled is a raw column that may have levels: see [remoteSource] for why it is an interface.
type levelled interface {
	rawColumn
	levels() *pages.Nested
}

func (c *rawChunk) levels() *pages.Nested { return c.nested }
