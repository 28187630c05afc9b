package parquetformat

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// readGroups decodes row groups, each with a chunk for every column.
func readGroups(d *thrift.Decoder, columns int) (groups []RowGroup, err error) {
	err = eachStruct(d, func() error {
		g, err := readGroup(d, len(groups), columns)
		groups = append(groups, g)
		return err
	})
	return groups, err
}

func readGroup(d *thrift.Decoder, index, columns int) (g RowGroup, err error) {
	err = d.Fields(thrift.MostDepth, func(field int, kind byte) (err error) {
		switch {
		case field == 1 && kind == thrift.List:
			err = eachStruct(d, func() error {
				if len(g.Chunks) == columns {
					return errColumns(index, columns+1, columns)
				}
				if g.Chunks == nil {
					g.Chunks = make([]Chunk, 0, columns)
				}
				g.Chunks = append(g.Chunks, Chunk{})
				described, err := g.Chunks[len(g.Chunks)-1].read(d)
				if c := &g.Chunks[len(g.Chunks)-1]; err == nil && !described && !c.IsEncrypted {
					err = fmt.Errorf("row group %d, column %d has no metadata: %w", index, len(g.Chunks)-1, thrift.ErrDamaged)
				}
				return err
			})
		case field == 3 && kind == thrift.Int64:
			g.Rows, err = d.Signed()
		default:
			err = d.Pass(kind, thrift.MostDepth-1)
		}
		return err
	})
	if err == nil && len(g.Chunks) != columns {
		err = errColumns(index, len(g.Chunks), columns)
	}
	return g, err
}

func errColumns(index, has, schema int) error {
	return fmt.Errorf("row group %d has %d columns, the schema %d: %w", index, has, schema, thrift.ErrDamaged)
}

// read decodes a column chunk, and reports whether the footer describes it.
func (c *Chunk) read(d *thrift.Decoder) (described bool, err error) {
	err = d.Fields(thrift.MostDepth, func(field int, kind byte) error {
		switch {
		case field == 3 && kind == thrift.Struct:
			described = true
			return c.readMetadata(d)
		case field == 8 && kind == thrift.Struct:
			c.IsEncrypted = true
			return d.Pass(kind, thrift.MostDepth-1)
		case kind != thrift.Int32 && kind != thrift.Int64:
			return d.Pass(kind, thrift.MostDepth-1)
		}
		v, err := d.Signed()
		switch field {
		case 4:
			c.OffsetIndex.Offset, c.OffsetIndex.hasOffset = v, true
		case 5:
			c.OffsetIndex.Length, c.OffsetIndex.hasLength = int32(v), true
		case 6:
			c.ColumnIndex.Offset, c.ColumnIndex.hasOffset = v, true
		case 7:
			c.ColumnIndex.Length, c.ColumnIndex.hasLength = int32(v), true
		}
		return err
	})
	return described, err
}

// readMetadata decodes the description of a chunk.
func (c *Chunk) readMetadata(d *thrift.Decoder) error {
	return d.Fields(thrift.MostDepth, func(field int, kind byte) (err error) {
		switch {
		case field == 2 && kind == thrift.List:
			return d.Elements(func(byte) error {
				v, err := d.Signed()
				c.Encodings = append(c.Encodings, int(int32(v)))
				return err
			})
		case field == 12 && kind == thrift.Struct:
			c.Statistics, err = readStatistics(d)
			return err
		case field == 13 && kind == thrift.List:
			return eachStruct(d, func() error {
				count, err := d.Object(thrift.MostDepth)
				c.Counts = append(c.Counts, PageCount{int(int32(count[1].Number)), int(int32(count[2].Number)), int(int32(count[3].Number))})
				return err
			})
		case kind != thrift.Int32 && kind != thrift.Int64:
			return d.Pass(kind, thrift.MostDepth-1)
		}
		v, err := d.Signed()
		c.setNumber(field, v)
		return err
	})
}

// setNumber sets the field of a number of the description.
func (c *Chunk) setNumber(field int, v int64) {
	switch field {
	case 4:
		c.Codec = Codec(v)
	case 5:
		c.Values = v
	case 6:
		c.Uncompressed = v
	case 7:
		c.Compressed = v
	case 9:
		c.DataPage = v
	case 11:
		c.DictionaryPage, c.HasDictionary = v, true
	case 14:
		c.Bloom, c.HasBloom = v, true
	}
}
