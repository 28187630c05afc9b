package rowgroups

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// leaf describes a column chunk's part of the schema.
type leaf struct {
	// name is the path of the leaf in the file, with points between its parts.
	name  string
	parts []string
	// column is the number of the column of records, and path the way to the leaf, or nil in a flat column.
	column int
	path   []step
	// mostDefinition and mostRepetition are the greatest levels.
	mostDefinition, mostRepetition uint8
	dataType                       arrow.DataType // of its arrays
	physical                       parquetformat.Type
	// width is the length of a value: 4, 8, that of FIXED_LEN_BYTE_ARRAY, or 0.
	width    int
	optional bool
	isUTF8   bool
	order    order
	bloom    bool
	dictionary,
	plain bool // which encodings are left out
}

// newLeaf describes a leaf of a file's schema, with arrays of a type.
func newLeaf(about *parquetformat.Column, t arrow.DataType) leaf {
	path := about.Path()
	c := leaf{name: strings.Join(path, "."), parts: path, dataType: t, physical: about.Physical, optional: about.MaxDefinition > 0,
		mostDefinition: uint8(about.MaxDefinition), mostRepetition: uint8(about.MaxRepetition)}
	unsigned := about.Order() == parquetformat.Unsigned
	if unsigned {
		c.order = orderUnsigned
	}
	switch c.physical {
	case parquetformat.Boolean:
		c.order = orderFlags
	case parquetformat.Int32:
		c.width = 4
	case parquetformat.Int64:
		c.width = 8
	case parquetformat.Float:
		c.width, c.order = 4, orderFloat
	case parquetformat.Double:
		c.width, c.order = 8, orderFloat
	case parquetformat.ByteArray:
		c.order = orderBytes
		c.isUTF8 = t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING
	case parquetformat.FixedLenByteArray:
		c.width, c.order = about.Length, orderBigEndian
		if unsigned {
			c.order = orderBytes
		}
	}
	return c
}

// isInteger reports whether values are integers.
func (c *leaf) isInteger() bool {
	return c.physical == parquetformat.Int32 || c.physical == parquetformat.Int64
}
