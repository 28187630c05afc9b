package source

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// Views are another layout of text and bytes, which Polars writes. Sources of records turn them
// into the layout that all operators read, also within lists and structs.

// plainType returns a type without views. It returns the type itself if it has none.
func plainType(t arrow.DataType) arrow.DataType {
	switch t.(type) {
	case *arrow.StringViewType:
		return arrow.BinaryTypes.String
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.Binary
	}
	return withFields(t, plainField)
}

// withFields returns a nested type with its fields changed, or the type itself.
func withFields(t arrow.DataType, change func(arrow.Field) (arrow.Field, bool)) arrow.DataType {
	switch t := t.(type) {
	case *arrow.ListType:
		if field, changed := change(t.ElemField()); changed {
			return arrow.ListOfField(field)
		}
	case *arrow.LargeListType:
		if field, changed := change(t.ElemField()); changed {
			return arrow.LargeListOfField(field)
		}
	case *arrow.FixedSizeListType:
		if field, changed := change(t.ElemField()); changed {
			return arrow.FixedSizeListOfField(t.Len(), field)
		}
	case *arrow.StructType:
		if fields, changed := changedFields(t.Fields(), change); changed {
			return arrow.StructOf(fields...)
		}
	}
	return t
}

func plainField(field arrow.Field) (plain arrow.Field, changed bool) {
	t := plainType(field.Type)
	changed = t != field.Type
	field.Type = t
	return field, changed
}

func changedFields(fields []arrow.Field, change func(arrow.Field) (arrow.Field, bool)) (list []arrow.Field, changed bool) {
	list = make([]arrow.Field, len(fields))
	for i, field := range fields {
		var differs bool
		list[i], differs = change(field)
		changed = changed || differs
	}
	return list, changed
}

// plainSchema returns a schema without views.
func plainSchema(schema *arrow.Schema) *arrow.Schema {
	fields, changed := changedFields(schema.Fields(), plainField)
	if !changed {
		return schema
	}
	metadata := schema.Metadata()
	return arrow.NewSchemaWithEndian(fields, &metadata, schema.Endianness())
}

// plainArray returns an array without views, which the caller releases.
func plainArray(a arrow.Array) arrow.Array {
	t := plainType(a.DataType())
	if t == a.DataType() {
		a.Retain()
		return a
	}
	switch a := a.(type) {
	case *array.StringView:
		return plainTexts(a, t, a.Value)
	case *array.BinaryView:
		return plainTexts(a, t, a.ValueString)
	}
	data := a.Data()
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, child := range data.Children() {
		whole := array.MakeFromData(child)
		plain := plainArray(whole)
		whole.Release()
		defer plain.Release()
		children[i] = plain.Data()
	}
	decoded := array.NewData(t, data.Len(), data.Buffers(), children, data.NullN(), data.Offset())
	defer decoded.Release()
	return array.MakeFromData(decoded)
}

// plainTexts copies the texts of views.
func plainTexts(a arrow.Array, t arrow.DataType, value func(int) string) arrow.Array {
	length := 0
	for i := range a.Len() {
		if a.IsValid(i) {
			length += len(value(i))
		}
	}
	if length > math.MaxInt32 {
		panic(fmt.Sprintf("a record has %d bytes of %v, expected %d at most: divide it", length, a.DataType(), math.MaxInt32))
	}
	builder := array.NewBinaryBuilder(arrowmemory.DefaultAllocator, t.(arrow.BinaryDataType))
	defer builder.Release()
	builder.Reserve(a.Len())
	builder.ReserveData(length)
	for i := range a.Len() {
		if a.IsNull(i) {
			builder.AppendNull()
		} else {
			builder.AppendString(value(i))
		}
	}
	return builder.NewArray()
}

// plainReader removes the views of records.
type plainReader struct {
	array.RecordReader
	schema  *arrow.Schema
	current arrow.Record
}

// withoutViews returns a reader of records without views.
func withoutViews(reader array.RecordReader) array.RecordReader {
	schema := plainSchema(reader.Schema())
	if schema == reader.Schema() {
		return reader
	}
	return &plainReader{RecordReader: reader, schema: schema}
}

func (r *plainReader) Schema() *arrow.Schema { return r.schema }

func (r *plainReader) Record() arrow.Record { return r.current }

func (r *plainReader) Next() bool {
	r.drop()
	if !r.RecordReader.Next() {
		return false
	}
	r.current = projection{schema: r.schema}.plain(r.RecordReader.Record())
	return true
}

func (r *plainReader) Release() {
	r.drop()
	r.RecordReader.Release()
}

func (r *plainReader) drop() {
	if r.current != nil {
		r.current.Release()
		r.current = nil
	}
}
