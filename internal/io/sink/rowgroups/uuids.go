package rowgroups

import (
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// MarkUUID marks an element of the schema in a footer as one of UUIDs: arrow-go has no such type of Arrow.
func MarkUUID(about *metadata.FileMetaData, element int) error {
	node, err := schema.NewPrimitiveNodeLogical("u", parquet.Repetitions.Required, schema.UUIDLogicalType{}, parquet.Types.FixedLenByteArray, 16, -1)
	if err != nil {
		return err
	}
	group, err := schema.NewGroupNode("s", parquet.Repetitions.Required, schema.FieldList{node}, -1)
	if err != nil {
		return err
	}
	about.FileMetaData.Schema[element].LogicalType = schema.ToThrift(group)[1].LogicalType
	return nil
}
