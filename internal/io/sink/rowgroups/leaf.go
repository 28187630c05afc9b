package rowgroups

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"
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
	physical                       parquet.Type
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
func newLeaf(about *schema.Column, t arrow.DataType) leaf {
	c := leaf{name: about.Path(), parts: about.ColumnPath(), dataType: t, physical: about.PhysicalType(), optional: about.MaxDefinitionLevel() > 0,
		mostDefinition: uint8(about.MaxDefinitionLevel()), mostRepetition: uint8(about.MaxRepetitionLevel())}
	unsigned := about.SortOrder() == schema.SortUNSIGNED
	if unsigned {
		c.order = orderUnsigned
	}
	switch c.physical {
	case parquet.Types.Boolean:
		c.order = orderFlags
	case parquet.Types.Int32:
		c.width = 4
	case parquet.Types.Int64:
		c.width = 8
	case parquet.Types.Float:
		c.width, c.order = 4, orderFloat
	case parquet.Types.Double:
		c.width, c.order = 8, orderFloat
	case parquet.Types.ByteArray:
		c.order = orderBytes
		c.isUTF8 = t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING
	case parquet.Types.FixedLenByteArray:
		c.width, c.order = about.TypeLength(), orderBigEndian
		if unsigned {
			c.order = orderBytes
		}
	}
	return c
}

// isInteger reports whether values are integers.
func (c *leaf) isInteger() bool {
	return c.physical == parquet.Types.Int32 || c.physical == parquet.Types.Int64
}
