package layout

import (
	"hash/maphash"
	"reflect"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/endian"
)

// schemas are the schemas that [Schema] returned last, by the hashes of their fields. A query that runs again makes the
// same tables: with the same schemas, its bound expressions are found by their addresses.
var (
	schemas    [1 << schemaBits]atomic.Pointer[arrow.Schema]
	schemaSeed = maphash.MakeSeed()
)

// schemaBits is the logarithm of the number of schemas that are kept, mostSchemaFields the most fields of one.
const schemaBits, mostSchemaFields = 9, 64

// Schema returns a schema of fields without metadata. Calls with equal fields, of types at the same addresses, may return
// the same schema. The fields are copied.
func Schema(fields []arrow.Field) *arrow.Schema { return SchemaWith(fields, nil, endian.NativeEndian) }

// SchemaWith is [Schema] with the metadata and the byte order of a schema. One with metadata is always made anew.
func SchemaWith(fields []arrow.Field, metadata *arrow.Metadata, order endian.Endianness) *arrow.Schema {
	if metadata != nil && metadata.Len() > 0 || order != endian.NativeEndian || len(fields) > mostSchemaFields {
		return arrow.NewSchemaWithEndian(fields, metadata, order)
	}
	var hash maphash.Hash
	hash.SetSeed(schemaSeed)
	for i := range fields {
		f := &fields[i]
		if f.Metadata.Len() > 0 || f.Type == nil || f.Type.ID() == arrow.EXTENSION || reflect.TypeOf(f.Type).Kind() != reflect.Pointer {
			return arrow.NewSchemaWithEndian(fields, nil, order)
		}
		_, _ = hash.WriteString(f.Name)
		_ = hash.WriteByte(byte(f.Type.ID()))
		_ = hash.WriteByte(0)
	}
	place := &schemas[hash.Sum64()>>(64-schemaBits)]
	if known := place.Load(); known != nil && hasFields(known, fields) {
		return known
	}
	s := arrow.NewSchemaWithEndian(fields, nil, order)
	place.Store(s)
	return s
}

// hasFields reports whether a schema has equal fields, of types at the same addresses.
func hasFields(s *arrow.Schema, fields []arrow.Field) bool {
	if s.NumFields() != len(fields) {
		return false
	}
	for i := range fields {
		if f := s.Field(i); f.Name != fields[i].Name || f.Nullable != fields[i].Nullable || f.Type != fields[i].Type {
			return false
		}
	}
	return true
}
