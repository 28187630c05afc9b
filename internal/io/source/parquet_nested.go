package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"

	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// A GPU decodes lists, maps and structs if it decodes the column chunks of all their leaves. arrow-go decodes the others, and
// all of them on the host.

// rawLeaf is the column chunk of a leaf, which has the bytes of the column from one to another.
type rawLeaf struct {
	about      pages.Flat
	plan       pages.Plan
	begin, end int64
}

// openNested reads the column chunks of a column of lists or structs, or returns nil if the host has to decode it.
func (d *groupDecoder) openNested(i int) (c *columnChunk, err error) {
	tree := d.nested(i)
	if tree == nil {
		return nil, nil
	}
	t := &rawChunk{about: pages.Flat{Type: d.schema.Field(i).Type}, nested: tree, rows: d.group.all(), source: d.source, group: d.group}
	part := &chunkPart{}
	tree.Leaves(func(leaf *pages.Nested) {
		begin := part.length
		length := d.group.footer.metadata.GetRowGroups()[d.group.index].GetColumns()[leaf.Column].MetaData.GetTotalCompressedSize()
		part.add(span{d.group.footer.startOf(d.group.index, leaf.Column), length})
		t.leaves = append(t.leaves, rawLeaf{about: d.leafAbout(leaf), begin: begin, end: part.length})
	})
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

// nested describes a column of lists or structs for a device, or returns nil.
func (d *groupDecoder) nested(i int) *pages.Nested {
	field := d.schema.Field(i)
	if !d.device || !arrow.IsNested(field.Type.ID()) || len(d.leaves[i]) == 0 || d.group.footer.converts(field.Name) {
		return nil
	}
	columns := d.group.footer.metadata.Schema
	place := columns.Root().FieldIndexByField(columns.ColumnRoot(d.leaves[i][0]))
	if place < 0 || place >= len(d.group.footer.fields) {
		return nil
	}
	tree, err := pages.NewNested(d.group.footer.fields[place], field.Type)
	if err != nil {
		return nil
	}
	tree.Leaves(func(leaf *pages.Nested) {
		about := d.leafAbout(leaf)
		chunk := d.group.footer.metadata.GetRowGroups()[d.group.index].GetColumns()[leaf.Column]
		if chunk.IsSetCryptoMetadata() || !about.DecodableValues() || about.MaxRepetition == 0 && about.Values != d.group.all() || about.Values < d.group.all() {
			tree = nil
		}
		// Nanoseconds do not hold all of these.
		leaf.Nullable = leaf.Nullable || about.Physical == parquet.Types.Int96
	})
	return tree
}

// leafAbout describes the column chunk of a leaf.
func (d *groupDecoder) leafAbout(leaf *pages.Nested) pages.Flat {
	f := d.group.footer
	column := f.metadata.Schema.Column(leaf.Column)
	return pages.Flat{Column: f.chunk(d.group.index, leaf.Column), Physical: column.PhysicalType(), Width: column.TypeLength(), Type: leaf.Type}
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
		first, ok := rawAs[*rawChunk](a.Column(i).DataType())
		other, also := rawAs[*rawChunk](b.Column(i).DataType())
		if ok && also && first.nested != nil && other.nested != nil && !first.nested.Equal(other.nested) {
			return false
		}
	}
	return true
}

// onHost decodes rows of a column of lists or structs from the file, which arrow-go reads again.
func (c *rawChunk) onHost(ctx context.Context, field arrow.Field, first, rows int64) (_ *arrow.Chunked, err error) {
	schema := arrow.NewSchema([]arrow.Field{field}, nil)
	group := c.group
	group.spans, group.rows = []span{{first, rows}}, rows
	p := &parquetRecords{
		source: c.source, schema: schema, groups: []rowGroup{group}, rows: mostRecordRows, allocator: arrowmemory.DefaultAllocator, counters: new(Counters),
		encoded: make([]bool, 1), records: schema, processors: NewReadahead(nil).reader(), users: map[*parquetFile]*usedFile{},
	}
	var arrays []arrow.Array
	defer func() { release.Arrow(arrays) }()
	err = p.decode(ctx, 0, func(record arrow.Record) bool {
		defer record.Release()
		record.Column(0).Retain()
		arrays = append(arrays, record.Column(0))
		return true
	})
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	return arrow.NewChunked(field.Type, arrays), nil
}
