package iceberg

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/io/hive"
	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// writtenPartition is a field of the default spec of a table: the unchanged values of a column.
type writtenPartition struct {
	specField
	column column
}

// partitionTypes are the types of Avro of columns that files are divided by, by the types of Iceberg.
var partitionTypes = map[string]string{"boolean": `"boolean"`, "int": `"int"`, "long": `"long"`, "string": `"string"`, "date": `{"type": "int", "logicalType": "date"}`}

// newPartitions returns the fields of a spec, which are of columns of few types.
func newPartitions(fields []specField, columns []column) (list []writtenPartition, err error) {
	for _, f := range fields {
		if f.Transform != "identity" {
			return nil, fmt.Errorf("the table is partitioned by %s, this package writes the transform identity: %w", f.Transform, ErrUnsupported)
		}
		index := slices.IndexFunc(columns, func(c column) bool { return c.id == f.SourceID })
		if index < 0 || partitionTypes[primitiveName(columns[index].t)] == "" {
			return nil, fmt.Errorf("the table is partitioned by %q, expected a column of booleans, int, long, string or date: %w", f.Name, ErrUnsupported)
		}
		list = append(list, writtenPartition{f, columns[index]})
	}
	return list, nil
}

// partitionSpecOf returns the fields of a spec of columns as metadata have them.
func partitionSpecOf(names []string, fields []writtenField) ([]any, error) {
	list := []any{}
	for i, name := range names {
		index := slices.IndexFunc(fields, func(f writtenField) bool { return f.Name == name })
		if index < 0 || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("partition by %q: expected columns of the schema, each once: %w", name, ErrColumns)
		}
		if t, _ := fields[index].Type.(string); partitionTypes[t] == "" {
			return nil, fmt.Errorf("partition by %q of %v: expected a column of booleans, int32, int64, text or dates: %w", name, fields[index].Type, ErrColumns)
		}
		list = append(list, specMember(fields[index].ID, 1000+i, name))
	}
	return list, nil
}

func specMember(source, id int, name string) any {
	return map[string]any{"source-id": source, "field-id": id, "name": name, "transform": "identity"}
}

// specText returns the default spec as manifests have it.
func (s *state) specText() (string, error) {
	list := []any{}
	for _, p := range s.partitions {
		list = append(list, specMember(p.SourceID, p.ID, p.Name))
	}
	text, err := json.Marshal(list)
	return string(text), err
}

// manifestSchema returns the schema of manifests with the fields of partitions.
func (s *state) manifestSchema() string {
	var fields []string
	for _, p := range s.partitions {
		fields = append(fields, fmt.Sprintf(`{"name": %q, "type": ["null", %s], "default": null, "field-id": %d}`, avroName(p.Name), partitionTypes[primitiveName(p.column.t)], p.ID))
	}
	const none = `"name": "r102", "fields": []`
	return strings.Replace(manifestSchema, none, `"name": "r102", "fields": [`+strings.Join(fields, ", ")+`]`, 1)
}

// writePartitions runs the query and writes a file, or several, for each partition. It notes the files.
func (w *Writer) writePartitions(ctx context.Context, s *state, p *pending, query gpuframe.Query, format gpuframe.Format, options []gpuframe.RunOption) error {
	columns := columnsFor(s.columns)
	var keys []string
	for _, each := range s.partitions { // copies, so that the files have the columns
		key := each.column.name + "_partition"
		for slices.ContainsFunc(s.columns, func(c column) bool { return c.name == key }) || slices.Contains(keys, key) {
			key += "_"
		}
		keys = append(keys, key)
		columns = append(columns, gpuframe.Col(each.column.name).As(key))
	}
	folder := storage.Join(s.location, "data")
	name, err := pathOf(w.from, folder)
	if err != nil {
		return err
	}
	if err := storage.MakeFolder(storage.Join(name, "file")); err != nil { // a first write would make it as a whole, and so would others
		return err
	}
	written, err := query.Select(columns...).WriteFiles(ctx, name, format, gpuframe.FolderOptions{PartitionBy: keys, Existing: gpuframe.AppendFiles}, options...)
	if err != nil {
		return err
	}
	for _, file := range written.Files {
		p.data = append(p.data, storage.Join(folder, file.Path))
	}
	return nil
}

// partitionOf returns the values of a file of a partitioned write by the names of its folders.
func (s *state) partitionOf(uri string) (record, error) {
	values := record{}
	if len(s.partitions) == 0 {
		return values, nil
	}
	_, relative, _ := strings.Cut(uri, strings.TrimRight(s.location, "/")+"/data/")
	_, texts := hive.Folders(path.Dir(relative))
	if len(texts) != len(s.partitions) {
		return nil, fmt.Errorf("the file %s has %d folders of partitions, expected %d: %w", relative, len(texts), len(s.partitions), ErrUnsupported)
	}
	for i, p := range s.partitions {
		value, err := partitionValue(texts[i], p.column.t)
		if err != nil {
			return nil, fmt.Errorf("the partition of column %q: %w: %w", p.column.name, err, ErrUnsupported)
		}
		values[avroName(p.Name)] = value
	}
	return values, nil
}

// partitionValue returns the value of a folder as Avro has it.
func partitionValue(text *string, t arrow.DataType) (any, error) {
	if text == nil {
		return nil, nil
	}
	switch t.ID() {
	case arrow.BOOL:
		return strconv.ParseBool(*text)
	case arrow.INT32:
		v, err := strconv.ParseInt(*text, 10, 32)
		return int32(v), err
	case arrow.INT64:
		return strconv.ParseInt(*text, 10, 64)
	case arrow.DATE32:
		at, err := time.Parse(time.DateOnly, *text)
		return int32(floorDivide(at.Unix(), 86400)), err
	}
	return *text, nil
}

// partitionBytes returns a value of a partition as bounds have it.
func partitionBytes(value any) []byte {
	switch v := value.(type) {
	case bool:
		if v {
			return []byte{1}
		}
		return []byte{0}
	case int32:
		return binary.LittleEndian.AppendUint32(nil, uint32(v))
	case int64:
		return binary.LittleEndian.AppendUint64(nil, uint64(v))
	case string:
		return []byte(v)
	}
	return nil
}

// summaries returns the ranges of the partitions of files, as lists of manifests have them.
func (s *state) summaries(files []addedFile) any {
	if len(s.partitions) == 0 {
		return nil
	}
	var list []any
	for _, p := range s.partitions {
		var low, high []byte
		nulls := false
		for _, f := range files {
			value := f.partition[avroName(p.Name)]
			if value == nil {
				nulls = true
				continue
			}
			data := partitionBytes(value)
			if low == nil || compareValues(data, low, p.column.t) < 0 {
				low = data
			}
			if high == nil || compareValues(data, high, p.column.t) > 0 {
				high = data
			}
		}
		summary := record{"contains_null": nulls, "contains_nan": false, "lower_bound": nil, "upper_bound": nil}
		if low != nil {
			summary["lower_bound"], summary["upper_bound"] = bytes.Clone(low), bytes.Clone(high)
		}
		list = append(list, summary)
	}
	return list
}
