package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// fieldIDKey is the key of field IDs in the metadata that arrow-go gives the fields of Parquet files.
const fieldIDKey = "PARQUET:field_id"

// fieldID returns the ID of a field, or 0.
func fieldID(field arrow.Field) int32 {
	text, ok := field.Metadata.GetValue(fieldIDKey)
	if !ok {
		return 0
	}
	id, err := strconv.ParseInt(text, 10, 32)
	if err != nil || id < 0 {
		return 0
	}
	return int32(id)
}

// hasIDs reports whether a field of a file has an ID.
func hasIDs(fields []arrow.Field) bool {
	return slices.ContainsFunc(fields, func(field arrow.Field) bool { return fieldID(field) != 0 })
}

// find returns the place of a column in a file, or -1. The name is that of the field in the table.
func (o Origin) find(fields []arrow.Field, name string, byID bool) int {
	if o.ID != 0 && byID {
		return slices.IndexFunc(fields, func(field arrow.Field) bool { return fieldID(field) == o.ID })
	}
	if o.ID != 0 && o.Name == "" {
		return -1
	}
	for _, each := range append([]string{cmp.Or(o.Name, name)}, o.Aliases...) {
		if place := slices.IndexFunc(fields, func(field arrow.Field) bool { return field.Name == each }); place >= 0 {
			return place
		}
	}
	return -1
}

// check refuses defaults of other types than those of the columns.
func (o Origin) check(field arrow.Field) error {
	if o.Default != nil && !arrow.TypeEqual(o.Default.DataType(), field.Type) {
		return fmt.Errorf("the default of column %q is of %v, expected %v: %w", field.Name, o.Default.DataType(), field.Type, buffer.ErrSchema)
	}
	if s, ok := field.Type.(*arrow.StructType); ok {
		for i, member := range s.Fields() {
			if err := o.member(i).check(member); err != nil {
				return err
			}
		}
		return nil
	}
	elements, _ := elementsOf(field.Type)
	for i, element := range elements {
		if err := o.member(i).check(arrow.Field{Name: field.Name, Type: element}); err != nil {
			return err
		}
	}
	return nil
}

// member returns the origin of a part of a type.
func (o Origin) member(i int) Origin {
	if i < len(o.Members) {
		return o.Members[i]
	}
	return Origin{}
}

// adapt makes the footer of a file one of the table's columns: of those that are in the file, by their names in the table.
// A column of a type that cannot be converted is refused when it is read.
func (f *parquetFile) adapt(read *footer) error {
	t := f.table.table
	file := read.schema.Fields()
	byID := hasIDs(file)
	if t.NeedIDs && !byID && len(file) > 0 {
		return fmt.Errorf("none of its columns has a field ID, and the table has no names for such files: %w", ErrUnsupported)
	}
	adapted := &footer{metadata: read.metadata, fields: read.fields, version: read.version, refused: map[int]error{}, conversions: map[string]*conversion{}}
	var fields []arrow.Field
	for i, field := range f.table.schema.Fields() {
		if _, constant := f.listed.Constants[field.Name]; constant || field.Name == t.Kept {
			continue
		}
		origin := t.origin(i)
		place := origin.find(file, field.Name, byID)
		if place < 0 && origin.Absent != nil {
			return fmt.Errorf("it lacks the column %q: %w", field.Name, origin.Absent)
		}
		if place < 0 {
			continue
		}
		if err := read.refused[place]; err != nil {
			adapted.refused[len(fields)] = err
		} else if c, err := newConversion(file[place].Type, field.Type, origin, byID); err != nil {
			adapted.refused[len(fields)] = fmt.Errorf("it is of %v in the file, of %v in the table: %w", file[place].Type, field.Type, err)
		} else if adapted.conversions[field.Name] = c; c.decodes() {
			field.Type = file[place].Type
		}
		fields = append(fields, field)
		adapted.leaves = append(adapted.leaves, read.leaves[place])
	}
	adapted.schema = arrow.NewSchema(fields, nil)
	f.cached = adapted
	return nil
}

// converts reports whether values of a column are decoded as another type than that of the table.
func (f *footer) converts(column string) bool {
	c := f.conversions[column]
	return c != nil && c.decodes()
}

// convertedRange returns the range of a column with another type in the file: its bounds only if they have the same unit.
func (f *footer) convertedRange(column string, r prune.Range) prune.Range {
	if c := f.conversions[column]; c != nil && c.decodes() && !c.sameBounds() {
		r.Low, r.High = nil, nil
	}
	return r
}

// statistics returns the range of a column in a row group of the file.
func (f *parquetFile) statistics(footer *footer, rowGroup int, column string) prune.Range {
	rows := footer.metadata.Groups[rowGroup].Rows
	if column == f.table.table.Kept {
		return f.listed.keptRange(footer.firstRow(rowGroup), rows)
	}
	if value, ok := f.listed.Constants[column]; ok {
		return constantRange(value, rows)
	}
	if len(footer.schema.FieldIndices(column)) == 0 {
		return constantRange(f.table.table.missing(f.table.schema, column), rows)
	}
	return footer.convertedRange(column, footer.statistics(rowGroup, column))
}

// candidates returns the files that may have a row that meets the conditions, by their constants and ranges.
func (s *parquetFiles) candidates(ctx context.Context, schema *arrow.Schema, where []expr.Expr) ([]*parquetFile, error) {
	if s.table == nil {
		return s.files, nil
	}
	possible, err := prune.Possible(ctx, schema, where, len(s.files), func(part int, column string) prune.Range {
		return s.table.rangeOf(s.files[part].listed, column)
	})
	if err != nil {
		return nil, err
	}
	var files []*parquetFile
	for i, file := range s.files {
		if possible[i] {
			files = append(files, file)
		}
	}
	return files, nil
}

// missing returns the value of a column in files without it.
func (t *TableFiles) missing(schema *arrow.Schema, column string) scalar.Scalar {
	i := schema.FieldIndices(column)[0]
	if value := t.origin(i).Default; value != nil {
		return value
	}
	return scalar.MakeNullScalar(schema.Field(i).Type)
}

// tableColumn returns a column of a row group that is not in its file, or nil.
func (d *groupDecoder) tableColumn(i int, spans []span) (*arrow.Chunked, error) {
	if d.source.table == nil {
		return nil, nil
	}
	field, listed := d.schema.Field(i), d.group.file.listed
	if field.Name == d.source.table.Kept {
		return d.keptRows(spans)
	}
	rows := rowsOf(spans)
	if value, ok := listed.Constants[field.Name]; ok {
		return constantRows(value, rows)
	}
	if len(d.leaves[i]) == 0 {
		if value := d.source.table.missing(d.source.schema, field.Name); value.IsValid() {
			return constantRows(value, rows)
		}
		return nulls(field.Type, rows)
	}
	return nil, nil
}

// fileType is the type of the values of a column as they are decoded.
func (d *groupDecoder) fileType(i int) arrow.DataType {
	if name := d.schema.Field(i).Name; d.group.footer.converts(name) {
		return d.group.footer.schema.Field(d.group.footer.schema.FieldIndices(name)[0]).Type
	}
	return d.records.Field(i).Type
}

// conform makes decoded values those of the table. It takes the reference to the chunk.
func (d *groupDecoder) conform(i int, chunk *arrow.Chunked) (*arrow.Chunked, error) {
	c := d.group.footer.conversions[d.schema.Field(i).Name]
	if c == nil || d.encoded[i] || arrow.TypeEqual(chunk.DataType(), d.records.Field(i).Type) && !c.decodes() {
		return chunk, nil
	}
	defer chunk.Release()
	return c.chunked(chunk)
}
