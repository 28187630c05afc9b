package source

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// A raw column travels to the device in the form that its source has: column chunks of Parquet files, texts of CSV
// files, packed columns and lists of arrays of host tables. Records have it as an array without values, so that limits, parts for
// several devices and the cutting of tables need not know the form. The loader copies the bytes of a table together,
// and the device decodes them. The host does if memory is short.

// rawType is the type of an array of rows of a raw column. Its first buffer has the bytes, and the offset of the array
// is the first row.
type rawType struct {
	arrow.ExtensionBase
	column rawColumn
}

// rawArray is an array of rawType. It has no values.
type rawArray struct{ array.ExtensionArrayBase }

// rawColumn describes the bytes of a raw column. It is a pointer: columns differ by it.
type rawColumn interface {
	fmt.Stringer
	form() rawForm
}

// rawForm has the methods for all columns of a form. The places of a call are those of its columns in records.
type rawForm interface {
	// copy copies the bytes of columns to a device. The columns are of the same form in all records.
	copy(ctx context.Context, to rawTarget, records []arrow.Record, places []int) (rawBatch, error)
	// onHost decodes columns of a record on the host. It returns several records if one cannot have the values.
	onHost(ctx context.Context, schema *arrow.Schema, record arrow.Record, places []int) ([]arrow.Record, error)
	// length is the length of the bytes of columns, in proportion to the rows of a record, without and with their weight.
	// The greater the weight, the fewer bytes are a table.
	length(record arrow.Record, places []int) (bytes, weighted int64)
}

// rawTarget is where raw columns are copied to. schema is that of the table.
type rawTarget struct {
	manager *memory.Manager
	schema  *arrow.Schema
	tag     string
	// ahead is the stream of a copy in advance, or nil: it fails immediately if memory is short.
	ahead *device.Stream
	// decompress is the stream on which a copy in advance is decompressed, or nil.
	decompress *device.Stream
	// filter selects rows by codes of dictionaries, or is nil.
	filter *codeFilter
}

// rawBatch is the bytes of raw columns on a device.
type rawBatch interface {
	decode(ctx context.Context) ([]*column.Column, error)
	release() error
}

// decompresser is a batch that may be decompressed when it is copied.
type decompresser interface {
	// decompressed is the memory for that.
	decompressed() uint64
}

// newRaw returns rows of a raw column as an array.
func newRaw(c rawColumn, bytes *arrowmemory.Buffer, first, rows int64) arrow.Array {
	t := &rawType{arrow.ExtensionBase{Storage: arrow.Null}, c}
	data := array.NewData(t, int(rows), []*arrowmemory.Buffer{bytes}, nil, 0, int(first))
	defer data.Release()
	return array.MakeFromData(data)
}

// rawAs returns the column of a type of raw columns of one form.
func rawAs[T rawColumn](t arrow.DataType) (c T, ok bool) {
	if raw, isRaw := t.(*rawType); isRaw {
		c, ok = raw.column.(T)
	}
	return c, ok
}

// ArrayType implements [arrow.ExtensionType].
func (*rawType) ArrayType() reflect.Type { return reflect.TypeFor[rawArray]() }

// ExtensionName implements [arrow.ExtensionType].
func (*rawType) ExtensionName() string { return "gpuframe.raw" }

// ExtensionEquals implements [arrow.ExtensionType].
func (t *rawType) ExtensionEquals(other arrow.ExtensionType) bool {
	o, ok := other.(*rawType)
	return ok && o.column == t.column
}

// Serialize implements [arrow.ExtensionType]. Arrays of this type are written nowhere.
func (*rawType) Serialize() string { return "" }

// Deserialize implements [arrow.ExtensionType].
func (*rawType) Deserialize(arrow.DataType, string) (arrow.ExtensionType, error) {
	return nil, fmt.Errorf("raw columns are written nowhere: %w", ErrUnsupported)
}

// String implements [arrow.DataType].
func (t *rawType) String() string { return t.column.String() }

// formOf returns the form of a column, or nil if it is not raw.
func formOf(t arrow.DataType) rawForm {
	if raw, ok := t.(*rawType); ok {
		return raw.column.form()
	}
	return nil
}

// formsOf returns the forms of the raw columns of records, each once. There is no list of all forms: a program links those of the
// sources that it opens.
func formsOf(records ...arrow.Record) (forms []rawForm) {
	for _, record := range records {
		for _, f := range record.Schema().Fields() {
			if form := formOf(f.Type); form != nil && !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// placesOf returns the places of the columns of a form, or with nil those of columns that are not raw.
func placesOf(record arrow.Record, form rawForm) (places []int) {
	for i, f := range record.Schema().Fields() {
		if formOf(f.Type) == form {
			places = append(places, i)
		}
	}
	return places
}

// hasRaw reports whether records have raw columns.
func hasRaw(records []arrow.Record) bool {
	return slices.ContainsFunc(records, func(record arrow.Record) bool {
		return len(placesOf(record, nil)) < int(record.NumCols())
	})
}

// rawLength is the length of the raw columns of a record, without and with the weight of their forms.
func rawLength(record arrow.Record) (bytes, weighted int64) {
	for _, form := range formsOf(record) {
		length, weight := form.length(record, placesOf(record, form))
		bytes, weighted = bytes+length, weighted+weight
	}
	return bytes, weighted
}

// mixedForms reports for each place whether the columns of records are of several forms there.
func mixedForms(records []arrow.Record) (places []bool, mixed bool) {
	places = make([]bool, records[0].NumCols())
	for i := range places {
		first := formOf(records[0].Column(i).DataType())
		places[i] = slices.ContainsFunc(records, func(r arrow.Record) bool { return formOf(r.Column(i).DataType()) != first })
		mixed = mixed || places[i]
	}
	return places, mixed
}

// withoutRaw decodes raw columns of records on the host, those of the places of a predicate. It takes the references to
// the records.
func withoutRaw(ctx context.Context, schema *arrow.Schema, records []arrow.Record, wanted func(place int) bool) ([]arrow.Record, error) {
	for _, form := range formsOf(records...) {
		var decoded []arrow.Record
		for i, record := range records {
			places := slices.DeleteFunc(placesOf(record, form), func(place int) bool { return !wanted(place) })
			if len(places) == 0 {
				decoded = append(decoded, record)
				continue
			}
			parts, err := form.onHost(ctx, schema, record, places)
			decoded = append(decoded, parts...)
			record.Release()
			if err != nil {
				release.Arrow(decoded)
				release.Arrow(records[i+1:])
				return nil, err
			}
		}
		records = decoded
	}
	return records, nil
}
