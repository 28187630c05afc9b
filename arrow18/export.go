package arrow18

import (
	"bytes"
	"fmt"

	arrow17 "github.com/apache/arrow/go/v17/arrow"
	ipc17 "github.com/apache/arrow/go/v17/arrow/ipc"
	memory17 "github.com/apache/arrow/go/v17/arrow/memory"

	arrow18 "github.com/apache/arrow-go/v18/arrow"
	array18 "github.com/apache/arrow-go/v18/arrow/array"
	ipc18 "github.com/apache/arrow-go/v18/arrow/ipc"
	memory18 "github.com/apache/arrow-go/v18/arrow/memory"
)

// Export returns a record of v18 with the buffers of a record of v17. The caller releases it.
func Export(record arrow17.Record) (arrow18.RecordBatch, error) {
	if record == nil {
		return nil, &Error{"export", "", fmt.Errorf("the record is nil: %w", ErrArgument)}
	}
	schema, err := ExportSchema(record.Schema())
	if err != nil {
		return nil, err
	}
	return exportRecord(record, schema)
}

// ExportSchema returns a schema of v17 as one of v18.
func ExportSchema(schema *arrow17.Schema) (*arrow18.Schema, error) {
	if schema == nil {
		return nil, &Error{"export", "", fmt.Errorf("the schema is nil: %w", ErrArgument)}
	}
	exported, err := exportSchema(schema)
	if err == nil {
		return exported, nil
	}
	for _, field := range schema.Fields() { // find the column
		if _, err := exportSchema(arrow17.NewSchema([]arrow17.Field{field}, nil)); err != nil {
			return nil, &Error{"export", field.Name, fmt.Errorf("%v: %w", field.Type, err)}
		}
	}
	return nil, &Error{"export", "", err}
}

func exportSchema(schema *arrow17.Schema) (exported *arrow18.Schema, err error) {
	defer recovered(&err, ErrType)
	var message bytes.Buffer
	if err := ipc17.NewWriter(&message, ipc17.WithSchema(schema)).Close(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrType)
	}
	reader, err := ipc18.NewReader(&message)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrType)
	}
	defer reader.Release()
	return reader.Schema(), nil
}

// exportRecord exports the columns of a record as columns of a schema.
func exportRecord(record arrow17.Record, schema *arrow18.Schema) (arrow18.RecordBatch, error) {
	if int(record.NumCols()) != schema.NumFields() {
		return nil, &Error{"export", "", fmt.Errorf("the record has %d columns, its schema %d: %w", record.NumCols(), schema.NumFields(), ErrContents)}
	}
	columns := make([]arrow18.Array, schema.NumFields())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, field := range schema.Fields() {
		exported, err := exportArray(record.Column(i), field.Type)
		if err != nil {
			return nil, &Error{"export", field.Name, err}
		}
		columns[i] = exported
	}
	return array18.NewRecordBatch(schema, columns, record.NumRows()), nil
}

func exportArray(values arrow17.Array, t arrow18.DataType) (exported arrow18.Array, err error) {
	defer recovered(&err, ErrContents)
	data, err := exportData(values.Data(), t)
	if err != nil {
		return nil, err
	}
	defer data.Release()
	return array18.MakeFromData(data), nil
}

// exportData rebuilds an array of v17 in v18 over the same buffers.
func exportData(data arrow17.ArrayData, t arrow18.DataType) (exported *array18.Data, err error) {
	storage := t
	if extension, ok := t.(arrow18.ExtensionType); ok {
		storage = extension.StorageType()
	}
	buffers := make([]*memory18.Buffer, len(data.Buffers()))
	for i, b := range data.Buffers() {
		if b != nil {
			b.Retain()
			buffers[i] = memory18.NewBufferWithAllocator(b.Bytes(), owner17{b})
			defer buffers[i].Release()
		}
	}
	if dictionary, ok := storage.(*arrow18.DictionaryType); ok {
		values, err := exportData(data.Dictionary(), dictionary.ValueType)
		if err != nil {
			return nil, err
		}
		defer values.Release()
		return array18.NewDataWithDictionary(t, data.Len(), buffers, data.NullN(), data.Offset(), values), nil
	}
	var fields []arrow18.Field
	if nested, ok := storage.(arrow18.NestedType); ok {
		fields = nested.Fields()
	}
	if len(fields) != len(data.Children()) {
		return nil, fmt.Errorf("an array of %v has %d children, expected %d: %w", t, len(data.Children()), len(fields), ErrContents)
	}
	children := make([]arrow18.ArrayData, len(fields))
	for i, field := range fields {
		child, err := exportData(data.Children()[i], field.Type)
		if err != nil {
			return nil, err
		}
		defer child.Release()
		children[i] = child
	}
	return array18.NewData(t, data.Len(), buffers, children, data.NullN(), data.Offset()), nil
}

// owner17 releases a buffer of v17 in place of freeing its memory.
type owner17 struct{ buffer *memory17.Buffer }

func (o owner17) Free([]byte) { o.buffer.Release() }

// Allocate is not called: buffers of arrays do not grow.
func (owner17) Allocate(size int) []byte { return make([]byte, size) }

// Reallocate is not called either.
func (owner17) Reallocate(size int, old []byte) []byte {
	grown := make([]byte, size)
	copy(grown, old)
	return grown
}
