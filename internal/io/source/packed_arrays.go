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

// joinedType is the type of the arrays of a column that is not packed, behind each other. The offset of an array is the
// first row. A concatenation would have to join dictionaries, and strings of more than 2 GiB.
type joinedType struct {
	packedType
	arrays []arrow.Array
}

// String implements [arrow.DataType].
func (t *joinedType) String() string { return "arrays of " + t.arrays[0].DataType().String() }

// ExtensionEquals implements [arrow.ExtensionType].
func (t *joinedType) ExtensionEquals(other arrow.ExtensionType) bool { return t == other }

// parts returns the arrays of some rows, which the caller releases.
func (t *joinedType) parts(first, rows int64) (list []arrow.Array) {
	at := int64(0)
	for _, a := range t.arrays {
		n := int64(a.Len())
		if from, to := max(first, at), min(first+rows, at+n); from < to {
			list = append(list, array.NewSlice(a, from-at, to-at))
		}
		at += n
	}
	return list
}

// isHeld reports whether a type is that of a column of a host table.
func isHeld(t arrow.DataType) bool {
	switch t.(type) {
	case *packedType, *joinedType:
		return true
	}
	return false
}

// hasPacked reports whether records are those of a host table.
func hasPacked(records []arrow.Record) bool {
	for _, record := range records {
		for _, f := range record.Schema().Fields() {
			if isHeld(f.Type) {
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

// withoutPacked unpacks columns of records on the host: records of parts of blocks and arrays, because one may be too
// small for the strings of several. It takes the references to the records.
func withoutPacked(ctx context.Context, schema *arrow.Schema, records []arrow.Record) (result []arrow.Record, err error) {
	if !hasPacked(records) {
		return records, nil
	}
	defer releaseRecords(records)
	defer func() {
		if err != nil {
			releaseRecords(result)
			result = nil
		}
	}()
	for _, record := range records {
		if !hasPacked([]arrow.Record{record}) {
			record.Retain()
			result = append(result, record)
			continue
		}
		for at := int64(0); at < record.NumRows(); {
			part := record.NewSlice(at, at+partRows(record, at))
			at += part.NumRows()
			unpacked, err := withoutPackedColumns(ctx, schema, []arrow.Record{part})
			if part.Release(); err != nil {
				return result, err
			}
			result = append(result, unpacked)
		}
	}
	return result, nil
}

// partRows is the number of rows from a row of a record on that are in one block of each column, or in one array.
func partRows(record arrow.Record, row int64) int64 {
	rows := record.NumRows() - row
	for _, values := range record.Columns() {
		first := int64(values.Data().Offset()) + row
		switch t := values.DataType().(type) {
		case *packedType:
			rows = min(rows, packed.BlockRows-first%packed.BlockRows)
		case *joinedType:
			for _, a := range t.arrays {
				if first < int64(a.Len()) {
					rows = min(rows, int64(a.Len())-first)
					break
				}
				first -= int64(a.Len())
			}
		}
	}
	return rows
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
	for i, values := range record.Columns() {
		fields[i].Type = schema.Field(i).Type
		if t, ok := values.DataType().(*joinedType); ok {
			columns[i] = t.parts(int64(values.Data().Offset()), int64(values.Len()))[0]
			continue
		}
		c, err := packedColumn(list, i)
		if err == nil {
			columns[i], err = c.Array(ctx, arrowmemory.DefaultAllocator)
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, record.NumRows()), nil
}
