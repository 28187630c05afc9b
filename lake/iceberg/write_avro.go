package iceberg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// record is a record of Avro.
type record = map[string]any

// encodeAvro writes records as a file. The header has the schema with its IDs and logical types, the values are raw ones.
func encodeAvro(schema string, metadata map[string]string, records []record) ([]byte, error) {
	parsed, err := avro.Parse(schema)
	if err != nil {
		return nil, err
	}
	node := parsed.Root()
	(&avroFile{}).reduce(node, nil)
	plain, err := node.Schema()
	if err != nil {
		return nil, err
	}
	header := map[string][]byte{}
	for key, value := range metadata {
		header[key] = []byte(value)
	}
	var data bytes.Buffer
	writer, err := ocf.NewWriter(&data, plain, ocf.WithSchema(schema), ocf.WithMetadata(header), ocf.WithCodec(ocf.DeflateCodec(-1)))
	if err != nil {
		return nil, err
	}
	for _, each := range records {
		if err := writer.Encode(each); err != nil {
			return nil, errors.Join(err, writer.Close())
		}
	}
	err = writer.Close()
	return data.Bytes(), err
}

// rawAvro is a file of Avro with all that its records have.
type rawAvro struct {
	schema   string
	fields   []string
	metadata map[string]string
	records  []record
}

// decodeAvro reads a file with raw values. Its records take of a budget.
func decodeAvro(ctx context.Context, data []byte, b *budget) (*rawAvro, error) {
	raw := &rawAvro{metadata: map[string]string{}}
	var reader *ocf.Reader
	err := decode(func() (err error) { reader, err = raw.reader(data); return err })
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }() // the bytes are in memory
	for {
		if len(raw.records)%recordsPerCheck == 0 && ctx.Err() != nil {
			return nil, cancel.Error(ctx)
		}
		var each any
		if err := decode(func() error { return reader.Decode(&each) }); errors.Is(err, io.EOF) {
			return raw, nil
		} else if err != nil {
			return nil, err
		}
		fields, ok := each.(record)
		if !ok {
			return nil, fmt.Errorf("entry %d is no record: %w", len(raw.records), ErrMetadata)
		}
		if err := b.take(rawLength(fields)); err != nil {
			return nil, err
		}
		raw.records = append(raw.records, fields)
	}
}

// reader returns a reader of all fields with raw values.
func (raw *rawAvro) reader(data []byte) (*ocf.Reader, error) {
	return ocf.NewReader(bytes.NewReader(data), ocf.WithReaderSchemaFunc(func(r *ocf.Reader) (*avro.Schema, error) {
		raw.schema = r.Schema().String()
		for key, value := range r.Metadata() {
			if !strings.HasPrefix(key, "avro.") {
				raw.metadata[key] = string(value)
			}
		}
		node := r.Schema().Root()
		for _, field := range node.Fields {
			raw.fields = append(raw.fields, field.Name)
		}
		(&avroFile{}).reduce(node, nil)
		return node.Schema()
	}))
}

// rawLength is about the length of a value in memory.
func rawLength(value any) int64 {
	length := int64(16)
	switch v := value.(type) {
	case string:
		length += int64(len(v))
	case []byte:
		length += int64(len(v))
	case []any:
		for _, each := range v {
			length += rawLength(each)
		}
	case record:
		for name, each := range v {
			length += 32 + int64(len(name)) + rawLength(each)
		}
	}
	return length
}

// pairsOf returns values by IDs as Avro has them, nil without values.
func pairsOf[T any](values map[int]T) any {
	if len(values) == 0 {
		return nil
	}
	var list []any
	for _, id := range slices.Sorted(maps.Keys(values)) {
		list = append(list, record{"key": int32(id), "value": values[id]})
	}
	return list
}

const (
	manifestSchema = `{"type": "record", "name": "manifest_entry", "fields": [
{"name": "status", "type": "int", "field-id": 0},
{"name": "snapshot_id", "type": ["null", "long"], "default": null, "field-id": 1},
{"name": "sequence_number", "type": ["null", "long"], "default": null, "field-id": 3},
{"name": "file_sequence_number", "type": ["null", "long"], "default": null, "field-id": 4},
{"name": "data_file", "field-id": 2, "type": {"type": "record", "name": "r2", "fields": [
{"name": "content", "type": "int", "field-id": 134},
{"name": "file_path", "type": "string", "field-id": 100},
{"name": "file_format", "type": "string", "field-id": 101},
{"name": "partition", "field-id": 102, "type": {"type": "record", "name": "r102", "fields": []}},
{"name": "record_count", "type": "long", "field-id": 103},
{"name": "file_size_in_bytes", "type": "long", "field-id": 104},
{"name": "column_sizes", "default": null, "field-id": 108, "type": ["null", {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k117_v118", "fields": [{"name": "key", "type": "int", "field-id": 117}, {"name": "value", "type": "long", "field-id": 118}]}}]},
{"name": "value_counts", "default": null, "field-id": 109, "type": ["null", {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k119_v120", "fields": [{"name": "key", "type": "int", "field-id": 119}, {"name": "value", "type": "long", "field-id": 120}]}}]},
{"name": "null_value_counts", "default": null, "field-id": 110, "type": ["null", {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k121_v122", "fields": [{"name": "key", "type": "int", "field-id": 121}, {"name": "value", "type": "long", "field-id": 122}]}}]},
{"name": "lower_bounds", "default": null, "field-id": 125, "type": ["null", {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k126_v127", "fields": [{"name": "key", "type": "int", "field-id": 126}, {"name": "value", "type": "bytes", "field-id": 127}]}}]},
{"name": "upper_bounds", "default": null, "field-id": 128, "type": ["null", {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k129_v130", "fields": [{"name": "key", "type": "int", "field-id": 129}, {"name": "value", "type": "bytes", "field-id": 130}]}}]},
{"name": "split_offsets", "default": null, "field-id": 132, "type": ["null", {"type": "array", "items": "long", "element-id": 133}]},
{"name": "sort_order_id", "type": ["null", "int"], "default": null, "field-id": 140}]}}]}`
	manifestListSchema = `{"type": "record", "name": "manifest_file", "fields": [
{"name": "manifest_path", "type": "string", "field-id": 500},
{"name": "manifest_length", "type": "long", "field-id": 501},
{"name": "partition_spec_id", "type": "int", "field-id": 502},
{"name": "content", "type": "int", "field-id": 517},
{"name": "sequence_number", "type": "long", "field-id": 515},
{"name": "min_sequence_number", "type": "long", "field-id": 516},
{"name": "added_snapshot_id", "type": "long", "field-id": 503},
{"name": "added_files_count", "type": "int", "field-id": 504},
{"name": "existing_files_count", "type": "int", "field-id": 505},
{"name": "deleted_files_count", "type": "int", "field-id": 506},
{"name": "added_rows_count", "type": "long", "field-id": 512},
{"name": "existing_rows_count", "type": "long", "field-id": 513},
{"name": "deleted_rows_count", "type": "long", "field-id": 514},
{"name": "partitions", "default": null, "field-id": 507, "type": ["null", {"type": "array", "element-id": 508, "items": {"type": "record", "name": "r508", "fields": [
{"name": "contains_null", "type": "boolean", "field-id": 509},
{"name": "contains_nan", "type": ["null", "boolean"], "default": null, "field-id": 518},
{"name": "lower_bound", "type": ["null", "bytes"], "default": null, "field-id": 510},
{"name": "upper_bound", "type": ["null", "bytes"], "default": null, "field-id": 511}]}}]},
{"name": "key_metadata", "type": ["null", "bytes"], "default": null, "field-id": 519}]}`
)
