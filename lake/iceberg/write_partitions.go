package iceberg

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/io/hive"
	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// writtenPartition is a field of the default spec of a table.
type writtenPartition struct {
	specField
	transform
	column column
	// t is the type of its values, and avro that of manifests.
	t    arrow.DataType
	avro string
}

// newPartitions returns the fields of a spec. uuids are the IDs of columns of UUIDs.
func newPartitions(fields []specField, columns []column, uuids []int) (list []writtenPartition, err error) {
	for _, f := range fields {
		index := slices.IndexFunc(columns, func(c column) bool { return c.id == f.SourceID })
		if index < 0 || len(f.SourceIDs) > 1 {
			return nil, fmt.Errorf("the table is partitioned by %q, expected a field of one column that is no part of others: %w", f.Name, ErrUnsupported)
		}
		p := writtenPartition{specField: f, transform: parseTransform(f.Transform), column: columns[index]}
		if p.t, p.avro = p.result(p.column.t, f.ID, slices.Contains(uuids, f.SourceID)); p.t == nil {
			return nil, fmt.Errorf("the table is partitioned by %s of column %q of %v, which this package does not write: %w", f.Transform, p.column.name, p.column.t, ErrUnsupported)
		}
		list = append(list, p)
	}
	return list, nil
}

// partitionSpecOf returns the fields of a spec as metadata have them, of columns or transforms: see [WriteOptions].
func partitionSpecOf(terms []string, fields []writtenField) ([]any, error) {
	list, names := []any{}, map[string]bool{}
	for i, term := range terms {
		column, transformed, suffix := term, transform{name: "identity"}, ""
		index := slices.IndexFunc(fields, func(f writtenField) bool { return f.Name == term })
		if index < 0 {
			column, transformed, suffix = parseTerm(term)
			index = slices.IndexFunc(fields, func(f writtenField) bool { return f.Name == column })
		}
		if index < 0 {
			return nil, fmt.Errorf("partition by %q: expected a column of the schema, or bucket(16, column), truncate(10, column), year(column), month(column), day(column), hour(column) or void(column): %w", term, ErrColumns)
		}
		name := column + suffix
		for suffix != "" && (names[name] || slices.ContainsFunc(fields, func(f writtenField) bool { return f.Name == name })) {
			name += "_"
		}
		if names[name] {
			return nil, fmt.Errorf("partition by %q twice: %w", term, ErrColumns)
		}
		names[name] = true
		source, _ := fields[index].Type.(string)
		t, err := primitive(source)
		if err == nil {
			t, _ = transformed.result(t, 0, source == "uuid")
		}
		if t == nil || err != nil {
			return nil, fmt.Errorf("partition by %q of %v: %w", term, fields[index].Type, fmt.Errorf("%s has other types: %w", transformed.name, ErrColumns))
		}
		list = append(list, specMember(specField{SourceID: fields[index].ID, ID: 1000 + i, Name: name, Transform: transformed.text()}))
	}
	return list, nil
}

func specMember(f specField) any {
	return map[string]any{"source-id": f.SourceID, "field-id": f.ID, "name": f.Name, "transform": f.Transform}
}

// specText returns the default spec as manifests have it.
func (s *state) specText() (string, error) {
	list := []any{}
	for _, p := range s.partitions {
		list = append(list, specMember(p.specField))
	}
	text, err := json.Marshal(list)
	return string(text), err
}

// manifestSchema returns the schema of manifests with the fields of partitions.
func (s *state) manifestSchema() string {
	var fields []string
	for _, p := range s.partitions {
		fields = append(fields, fmt.Sprintf(`{"name": %q, "type": ["null", %s], "default": null, "field-id": %d}`, avroName(p.Name), p.avro, p.ID))
	}
	const none = `"name": "r102", "fields": []`
	return strings.Replace(manifestSchema, none, `"name": "r102", "fields": [`+strings.Join(fields, ", ")+`]`, 1)
}

// writePartitions runs the query and writes a file, or several, for each partition. It notes the files.
func (w *Writer) writePartitions(ctx context.Context, s *state, p *pending, query gpuframe.Query, format gpuframe.Format, options []gpuframe.RunOption) error {
	var keys []gpuframe.FolderKey
	for _, each := range s.partitions {
		if each.transform.name != "void" {
			keys = append(keys, gpuframe.FolderKey{Name: each.Name, Column: each.column.name, Values: each.texts})
		}
	}
	if len(keys) == 0 {
		return w.writeFile(ctx, s, p, query, format, options)
	}
	folder := storage.Join(s.location, "data")
	name, err := pathOf(w.from, folder)
	if err != nil {
		return err
	}
	if err := storage.MakeFolder(storage.Join(name, "file")); err != nil { // a first write would make it as a whole, and so would others
		return err
	}
	written, err := query.Select(columnsFor(s.columns)).WriteFiles(ctx, name, format, gpuframe.FolderOptions{Keys: keys, Existing: gpuframe.AppendFiles}, options...)
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
	for _, p := range s.partitions {
		if p.transform.name == "void" {
			values[avroName(p.Name)] = nil
			continue
		}
		if len(texts) == 0 {
			return nil, fmt.Errorf("the file %s has too few folders of partitions: %w", relative, ErrUnsupported)
		}
		value, err := p.value(texts[0])
		if err != nil {
			return nil, fmt.Errorf("the partition %q: %w: %w", p.Name, err, ErrUnsupported)
		}
		values[avroName(p.Name)], texts = value, texts[1:]
	}
	return values, nil
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
	case []byte:
		return v
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
			if low == nil || compareValues(data, low, p.t) < 0 {
				low = data
			}
			if high == nil || compareValues(data, high, p.t) > 0 {
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
