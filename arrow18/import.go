package arrow18

import (
	"bytes"
	"fmt"

	arrow17 "github.com/apache/arrow/go/v17/arrow"
	array17 "github.com/apache/arrow/go/v17/arrow/array"
	ipc17 "github.com/apache/arrow/go/v17/arrow/ipc"
	memory17 "github.com/apache/arrow/go/v17/arrow/memory"

	arrow18 "github.com/apache/arrow-go/v18/arrow"
	ipc18 "github.com/apache/arrow-go/v18/arrow/ipc"
	memory18 "github.com/apache/arrow-go/v18/arrow/memory"
)

// Import returns a record of v17 with the buffers of a record of v18. The caller releases it.
func Import(record arrow18.RecordBatch) (arrow17.Record, error) {
	if record == nil {
		return nil, &Error{"import", "", fmt.Errorf("the record is nil: %w", ErrArgument)}
	}
	schema, err := ImportSchema(record.Schema())
	if err != nil {
		return nil, err
	}
	return importRecord(record, schema)
}

// ImportSchema returns a schema of v18 as one of v17.
func ImportSchema(schema *arrow18.Schema) (*arrow17.Schema, error) {
	if schema == nil {
		return nil, &Error{"import", "", fmt.Errorf("the schema is nil: %w", ErrArgument)}
	}
	imported, err := importSchema(schema)
	if err == nil {
		return imported, nil
	}
	for _, field := range schema.Fields() { // find the column
		if _, err := importSchema(arrow18.NewSchema([]arrow18.Field{field}, nil)); err != nil {
			return nil, &Error{"import", field.Name, fmt.Errorf("%v: %w", field.Type, err)}
		}
	}
	return nil, &Error{"import", "", err}
}

func importSchema(schema *arrow18.Schema) (imported *arrow17.Schema, err error) {
	defer recovered(&err, ErrType)
	var message bytes.Buffer
	if err := ipc18.NewWriter(&message, ipc18.WithSchema(schema)).Close(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrType)
	}
	reader, err := ipc17.NewReader(&message)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrType)
	}
	defer reader.Release()
	return reader.Schema(), nil
}

// importRecord imports the columns of a record as columns of a schema.
func importRecord(record arrow18.RecordBatch, schema *arrow17.Schema) (arrow17.Record, error) {
	if int(record.NumCols()) != schema.NumFields() {
		return nil, &Error{"import", "", fmt.Errorf("the record has %d columns, its schema %d: %w", record.NumCols(), schema.NumFields(), ErrContents)}
	}
	columns := make([]arrow17.Array, schema.NumFields())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, field := range schema.Fields() {
		imported, err := importArray(record.Column(i), field.Type)
		if err != nil {
			return nil, &Error{"import", field.Name, err}
		}
		columns[i] = imported
	}
	return array17.NewRecord(schema, columns, record.NumRows()), nil
}

func importArray(values arrow18.Array, t arrow17.DataType) (imported arrow17.Array, err error) {
	defer recovered(&err, ErrContents)
	data, err := importData(values.Data(), t)
	if err != nil {
		return nil, err
	}
	defer data.Release()
	return array17.MakeFromData(data), nil
}

// importData rebuilds an array of v18 in v17 over the same buffers.
func importData(data arrow18.ArrayData, t arrow17.DataType) (imported *array17.Data, err error) {
	storage := t
	if extension, ok := t.(arrow17.ExtensionType); ok {
		storage = extension.StorageType()
	}
	buffers := make([]*memory17.Buffer, len(data.Buffers()))
	for i, b := range data.Buffers() {
		if b != nil {
			b.Retain()
			buffers[i] = memory17.NewBufferWithAllocator(b.Bytes(), owner18{b})
			defer buffers[i].Release()
		}
	}
	if dictionary, ok := storage.(*arrow17.DictionaryType); ok {
		values, err := importData(data.Dictionary(), dictionary.ValueType)
		if err != nil {
			return nil, err
		}
		defer values.Release()
		return array17.NewDataWithDictionary(t, data.Len(), buffers, data.NullN(), data.Offset(), values), nil
	}
	var fields []arrow17.Field
	if nested, ok := storage.(arrow17.NestedType); ok {
		fields = nested.Fields()
	}
	if len(fields) != len(data.Children()) {
		return nil, fmt.Errorf("an array of %v has %d children, expected %d: %w", t, len(data.Children()), len(fields), ErrContents)
	}
	children := make([]arrow17.ArrayData, len(fields))
	for i, field := range fields {
		child, err := importData(data.Children()[i], field.Type)
		if err != nil {
			return nil, err
		}
		defer child.Release()
		children[i] = child
	}
	return array17.NewData(t, data.Len(), buffers, children, data.NullN(), data.Offset()), nil
}

// owner18 releases a buffer of v18 in place of freeing its memory.
type owner18 struct{ buffer *memory18.Buffer }

func (o owner18) Free([]byte) { o.buffer.Release() }

// Allocate is not called: buffers of arrays do not grow.
func (owner18) Allocate(size int) []byte { return make([]byte, size) }

// Reallocate is not called either.
func (owner18) Reallocate(size int, old []byte) []byte {
	grown := make([]byte, size)
	copy(grown, old)
	return grown
}
