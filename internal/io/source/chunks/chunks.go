package chunks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/memory"
)

// Chunk is a column chunk, and the rows of it to decode.
type Chunk struct {
	// About describes the chunk. Its Type is that of the column.
	About pages.Flat
	// Plan is that of the pages, or nil.
	Plan pages.Plan
	// Bytes are all bytes of the chunk. The device reads pinned memory directly.
	Bytes []byte
	// Rows is the number of rows from row First on.
	First, Rows int64
	// Gaps are rows of these that are left out, in order.
	Gaps []Gap
	// Leaves are the column chunks of a column of lists and structs of All rows, which have no other fields than About,
	// Plan and Bytes. The chunk has none of these then.
	Leaves []Chunk
	All    int64
}

// Gap is rows from one on.
type Gap struct{ First, Rows int64 }

// Extend adds rows behind those of the chunk, and leaves out the ones between.
func (c *Chunk) Extend(first, rows int64) {
	if end := c.First + c.Rows; first > end {
		c.Gaps = append(c.Gaps, Gap{end, first - end})
	}
	c.Rows = first + rows - c.First
}

// end is the row behind the rows to decode.
func (c *Chunk) end() int64 { return c.First + c.Rows }

// check checks the rows.
func (c *Chunk) check() error {
	values := c.About.Values
	if c.Leaves != nil {
		values = c.All
	}
	if c.First < 0 || c.Rows < 0 || c.First > values || c.Rows > values-c.First {
		return fmt.Errorf("%d rows from row %d on of %d: %w", c.Rows, c.First, values, device.ErrInvalidValue)
	}
	at := c.First
	for _, g := range c.Gaps {
		if g.Rows < 0 || g.First < at || g.First > c.end() || g.Rows > c.end()-g.First {
			return fmt.Errorf("a gap of %d rows from row %d on in the rows from %d to %d: %w", g.Rows, g.First, at, c.end(), device.ErrInvalidValue)
		}
		at = g.First + g.Rows
	}
	return nil
}

// each calls f for the rows without the gaps, until it fails.
func (c *Chunk) each(f func(first, rows int64) error) error {
	at := c.First
	for _, g := range append(slices.Clip(c.Gaps), Gap{c.end(), 0}) {
		if g.First > at {
			if err := f(at, g.First-at); err != nil {
				return err
			}
		}
		at = g.First + g.Rows
	}
	return nil
}

// Column is a column in chunks. Their rows follow each other.
type Column struct {
	Type   arrow.DataType
	Chunks []Chunk
	// Nested describes a column of lists and structs, or is nil.
	Nested *pages.Nested
}

// Options are those of [Decode].
type Options struct {
	// Stream is the stream of the work and of the columns' memory; nil means the manager's.
	Stream *device.Stream
	// CopyStream is the stream of the copy of the chunks' bytes; nil means Stream. With another one the copy does not
	// wait for work on Stream, and fails at once if memory is short because other requests wait for it.
	CopyStream *device.Stream
	// DecompressStream is the stream on which pages are decompressed behind their copy, while the device decodes other
	// batches. Without it, or if memory is short, Decode decompresses them.
	DecompressStream *device.Stream
	// Tag names the memory of the columns in the manager's statistics.
	Tag string
}

// Decodable reports whether [Decode] decodes a column chunk with pages of a plan. A [pages.Decoder] may decode
// others.
func Decodable(about pages.Flat, plan pages.Plan) bool {
	return about.Decodable() && undecodable(about, plan) == nil
}

// mostPrefixes is the number of values of a chunk with strings that share their beginnings. It bounds the search for the last one
// that shares less, which looks at one value of 256.
const mostPrefixes = 4 << 20

// undecodable returns why the kernels do not decode a column chunk.
func undecodable(about pages.Flat, plan pages.Plan) error {
	c, ok := formOf(about)
	if !ok {
		return fmt.Errorf("%v from %v: %w", about.Type, about.Physical, pages.ErrOther)
	}
	pagesBefore := 0 // with values
	for i, p := range plan {
		switch {
		case p.Kind == pages.DictionaryPage && i > 0:
			return fmt.Errorf("page %d is a dictionary: %w", i, pages.ErrOther)
		case p.HasValues():
			kind, ok := encodingOf(p, about, c)
			// Values of one length follow links into pages before, in the round that finds their damage.
			if ok && kind == deltaStrings {
				ok = about.Values <= mostPrefixes && (c == text || pagesBefore == 0)
			}
			pagesBefore++
			if !ok {
				return fmt.Errorf("page %d has values of encoding %d: %w", i, p.Encoding, pages.ErrOther)
			}
		}
		if codec := p.Codec(about.Column); p.Kind != pages.IndexPage && !decompresses(codec) {
			return fmt.Errorf("page %d is compressed by %v: %w", i, codec, pages.ErrOther)
		}
	}
	return plan.CheckLevels(about.Column)
}

// DecodableLeaf is [Decodable] for a leaf of a column of lists and structs, which only a device decodes.
func DecodableLeaf(about pages.Flat, plan pages.Plan) bool {
	return about.DecodableValues() && undecodable(about, plan) == nil && undecodableLeaf(about, plan) == nil
}

// Decode decodes columns. It copies the bytes of all chunks to the device in one transfer, and decodes them there; on
// the host it decodes them with a [pages.Decoder].
//
// # Waiting
//
// Decode returns when the device has decoded the pages.
//
// # Ownership
//
// The caller releases the columns. Columns of a call share memory, which stays until the last of them is released.
//
// # Errors
//
// Damage is an [*Error]. Strings that are too long for a column are an error that wraps [ErrLong]. A chunk that is not
// [Decodable] is an error that wraps [pages.ErrOther].
func Decode(ctx context.Context, m *memory.Manager, columns []Column, options Options) (decoded []*column.Column, err error) {
	for i, c := range columns {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("chunks: column %d: %w", i, err)
		}
	}
	if m.Device().Kind() == device.Host {
		return decodeOnHost(ctx, m, columns, options)
	}
	b, err := Copy(ctx, m, columns, options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Release()) }()
	return b.Decode(ctx)
}

// check checks the rows of a column's chunks.
func (c Column) check() error {
	leaves := 0
	if c.Nested != nil {
		c.Nested.Leaves(func(*pages.Nested) { leaves++ })
	}
	for i := range c.Chunks {
		if len(c.Chunks[i].Leaves) != leaves {
			return fmt.Errorf("chunk %d has %d leaves, its column %d: %w", i, len(c.Chunks[i].Leaves), leaves, device.ErrInvalidValue)
		}
		err := c.Chunks[i].check()
		if err == nil && c.Nested != nil {
			err = c.Chunks[i].checkLeaves(c.Nested)
		}
		if err != nil {
			return fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	return nil
}

// checkLeaves compares the levels of leaves with their description.
func (c *Chunk) checkLeaves(n *pages.Nested) (err error) {
	n.Leaves(func(leaf *pages.Nested) {
		about := c.Leaves[leaf.Leaf].About
		if int(about.MaxDefinition) != leaf.Definition || int(about.MaxRepetition) != leaf.Depth {
			err = errors.Join(err, fmt.Errorf("leaf %d has levels up to %d and %d, not %d and %d: %w", leaf.Leaf, about.MaxDefinition, about.MaxRepetition, leaf.Definition, leaf.Depth, device.ErrInvalidValue))
		}
	})
	return err
}
