package source

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/packed"
)

// Packed columns of host tables travel as arrays without values, as column chunks do, so that limits, parts for several
// devices and the cutting of tables work on records. The device unpacks them, or the host if memory is short.

// packedType is the type of an array of rows of one packed column. Its first buffer has the blocks, and the offset of the
// array is the first row.
type packedType struct {
	arrow.ExtensionBase
	column packed.Column
}

// packedArray is an array of packedType. It has no values.
type packedArray struct{ array.ExtensionArrayBase }

// ArrayType implements [arrow.ExtensionType].
func (*packedType) ArrayType() reflect.Type { return reflect.TypeFor[packedArray]() }

// ExtensionName implements [arrow.ExtensionType].
func (*packedType) ExtensionName() string { return "gpuframe.packed" }

// ExtensionEquals implements [arrow.ExtensionType].
func (t *packedType) ExtensionEquals(other arrow.ExtensionType) bool { return t == other }

// Serialize implements [arrow.ExtensionType]. Arrays of this type are written nowhere.
func (*packedType) Serialize() string { return "" }

// Deserialize implements [arrow.ExtensionType].
func (*packedType) Deserialize(arrow.DataType, string) (arrow.ExtensionType, error) {
	return nil, fmt.Errorf("packed columns are written nowhere: %w", ErrUnsupported)
}

// String implements [arrow.DataType].
func (t *packedType) String() string { return "packed " + t.column.Type.String() }

// hasPacked reports whether records have packed columns.
func hasPacked(records []arrow.Record) bool {
	for _, record := range records {
		for _, f := range record.Schema().Fields() {
			if _, ok := f.Type.(*packedType); ok {
				return true
			}
		}
	}
	return false
}

// packedColumn joins the rows of records of a packed column. Rows that are left out are whole blocks, or before the
// first record, or behind the last one.
func packedColumn(records []arrow.Record, place int) (c packed.Column, err error) {
	var before *packedType
	next := int64(-1) // block of before
	for _, record := range records {
		values := record.Column(place)
		t, first, rows := values.DataType().(*packedType), int64(values.Data().Offset()), int64(values.Len())
		if rows == 0 {
			continue
		}
		begin, end := first/packed.BlockRows, (first+rows+packed.BlockRows-1)/packed.BlockRows
		known := int64(0)
		for i := range c.Blocks {
			known += int64(c.Blocks[i].Rows)
		}
		switch {
		case before == nil:
			c = packed.Column{Type: t.column.Type, First: first % packed.BlockRows}
		case t == before && begin == next-1 && c.First+c.Rows == known-int64(c.Blocks[len(c.Blocks)-1].Rows)+first%packed.BlockRows:
			begin = next // its first block is there
		case c.First+c.Rows != known || first%packed.BlockRows != 0:
			return c, fmt.Errorf("internal error: %d rows from row %d on of a packed column do not follow %d: %w", rows, first, c.Rows, ErrArgument)
		}
		c.Blocks = append(c.Blocks, t.column.Blocks[begin:end]...)
		if t.column.Dictionary.Len() >= c.Dictionary.Len() {
			c.Dictionary = t.column.Dictionary // the greatest one has the strings of all
		}
		c.Rows += rows
		before, next = t, end
	}
	return c, nil
}

// withoutPacked unpacks columns of records on the host. It takes the references to the records.
func withoutPacked(ctx context.Context, schema *arrow.Schema, records []arrow.Record) (result []arrow.Record, err error) {
	if !hasPacked(records) {
		return records, nil
	}
	defer releaseRecords(records)
	for i := range records {
		unpacked, err := withoutPackedColumns(ctx, schema, records[i:i+1])
		if err != nil {
			releaseRecords(result)
			return nil, err
		}
		result = append(result, unpacked)
	}
	return result, nil
}

// withoutPackedColumns unpacks the columns of the only record of a list.
func withoutPackedColumns(ctx context.Context, schema *arrow.Schema, list []arrow.Record) (arrow.Record, error) {
	record := list[0]
	fields, columns := record.Schema().Fields(), make([]arrow.Array, record.NumCols())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i := range columns {
		if _, ok := fields[i].Type.(*packedType); !ok {
			columns[i] = record.Column(i)
			columns[i].Retain()
			continue
		}
		c, err := packedColumn(list, i)
		if err == nil {
			columns[i], err = c.Array(ctx, arrowmemory.DefaultAllocator)
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
		fields[i].Type = schema.Field(i).Type
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, record.NumRows()), nil
}
