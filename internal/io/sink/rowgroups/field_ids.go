package rowgroups

import (
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
)

// FieldID is the ID of a column in the schema of a Parquet file. Formats of tables such as Iceberg find columns by it.
type FieldID struct {
	// ID is positive, or zero for none.
	ID int32
	// UUID marks a column of 16 bytes as one of UUIDs.
	UUID bool
	// Members are those of a struct in the order of its fields, of a list's elements, or of a map's keys and values. None means
	// that the parts have no IDs.
	Members []FieldID
}

const (
	// noFieldID is the number of a node without an ID.
	noFieldID = -1
	// fieldIDKey is the key of an ID in the metadata of a field that was read from a Parquet file.
	fieldIDKey = "PARQUET:field_id"
)

// number returns the ID of a node.
func (f FieldID) number() int32 {
	if f.ID > 0 {
		return f.ID
	}
	return noFieldID
}

// member returns the ID of a part, which is zero if the parts have no IDs.
func member(ids []FieldID, i int) FieldID {
	if i < len(ids) {
		return ids[i]
	}
	return FieldID{}
}

// metadataID returns the ID in the metadata of a field.
func metadataID(m arrow.Metadata) int32 {
	text, ok := m.GetValue(fieldIDKey)
	if !ok {
		return noFieldID
	}
	id, err := strconv.ParseInt(text, 10, 32)
	if err != nil || id < 0 {
		return noFieldID
	}
	return int32(id)
}
