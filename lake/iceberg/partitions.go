package iceberg

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe"
)

// partition is the partition of a file: its values by the IDs of the fields of the spec.
type partition struct {
	values map[int]any
	// key is equal for files of the same partition of the same spec.
	key string
}

// newPartition returns a partition of values by their names in a manifest, for the fields of a spec.
func (m *metadata) newPartition(id int, values map[string]any, members []partitionMember) (partition, error) {
	spec, ok := m.spec(id)
	if !ok {
		return partition{}, fmt.Errorf("its partition spec %d is absent: %w", id, ErrMetadata)
	}
	p := partition{values: make(map[int]any, len(spec))}
	var key strings.Builder
	fmt.Fprintf(&key, "%d", id)
	for _, f := range spec {
		name, ok := f.nameIn(members)
		if !ok && f.Transform == "void" {
			continue
		}
		if !ok {
			return partition{}, fmt.Errorf("the manifest lacks the field %q of the partition spec %d: %w", f.Name, id, ErrMetadata)
		}
		p.values[f.ID] = values[name]
		fmt.Fprintf(&key, " %d=%s", f.ID, m.partitionKey(f, values[name]))
	}
	p.key = key.String()
	return p, nil
}

// nameIn returns the name of a field of partitions in a manifest: that of its ID, or of its name if the manifest has no IDs.
func (f specField) nameIn(members []partitionMember) (string, bool) {
	for _, member := range members {
		if member.id == f.ID || member.id == 0 && (member.name == f.Name || member.name == avroName(f.Name)) {
			return member.name, true
		}
	}
	return "", false
}

// avroName returns a name as writers of manifests have it: Avro allows letters, digits and underscores.
func avroName(name string) string {
	var text strings.Builder
	for i, r := range name {
		switch {
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) && i > 0:
			text.WriteRune(r)
		case unicode.IsDigit(r):
			text.WriteString("_" + string(r))
		default:
			fmt.Fprintf(&text, "_x%X", r)
		}
	}
	return text.String()
}

// partitionKey is equal for equal values of a field of partitions, also if the type of its column was widened between them.
func (m *metadata) partitionKey(f specField, value any) string {
	name := parseTransform(f.Transform).name
	if name != "identity" && name != "truncate" {
		return keyText(value)
	}
	switch t := m.types[f.SourceID].(type) {
	case *arrow.Decimal128Type:
		if v := unscaledOf(value); v != nil {
			return v.String()
		}
	case *arrow.TimestampType:
		if v, ok := timestampOf(value, t); ok {
			return keyText(v)
		}
	}
	return keyText(value)
}

// keyText is equal for equal values of a partition.
func keyText(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case float32:
		return keyText(float64(v))
	case float64:
		if math.IsNaN(v) {
			return "nan"
		}
		return strconv.FormatUint(math.Float64bits(v), 16)
	case []byte:
		return strconv.Quote(string(v))
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(value)
}

// transform is how the values of a field of a partition are made of those of a column.
type transform struct {
	name string
	// width is that of truncate, or the number of buckets.
	width int64
}

func parseTransform(text string) transform {
	for _, name := range []string{"truncate", "bucket"} {
		if digits, ok := within(text, name+"[", "]"); ok {
			if width, err := strconv.ParseInt(digits, 10, 32); err == nil && width > 0 {
				return transform{name, width}
			}
		}
	}
	return transform{name: text}
}

// unpartitioned reports whether a spec has no fields that divide files.
func unpartitioned(spec []specField) bool {
	return !slices.ContainsFunc(spec, func(f specField) bool { return f.Transform != "void" })
}

// sourced is a field of a partition of one of the table's columns.
type sourced struct {
	transform
	field  int
	column column
}

// sources returns the fields of a spec that have one of the columns.
func sources(spec []specField, columns []column) (fields []sourced) {
	for _, f := range spec {
		index := slices.IndexFunc(columns, func(c column) bool { return c.id == f.SourceID })
		if index >= 0 && len(f.SourceIDs) < 2 {
			fields = append(fields, sourced{parseTransform(f.Transform), f.ID, columns[index]})
		}
	}
	return fields
}

// constants returns the values of columns that are the same in all rows of a file: those by which it is partitioned unchanged.
func constants(fields []sourced, p partition) (map[string]scalar.Scalar, error) {
	values := map[string]scalar.Scalar{}
	for _, f := range fields {
		value, ok := p.values[f.field]
		if f.name != "identity" || !ok {
			continue
		}
		constant, err := constantOf(value, f.column.t)
		if err != nil {
			return nil, fmt.Errorf("the partition value %v of column %q: %w", value, f.column.name, err)
		}
		if f.column.t.ID() == arrow.NULL {
			continue
		}
		values[f.column.name] = constant
	}
	return values, nil
}

// partitionRange returns the range of a column in a file by its partition.
func partitionRange(fields []sourced, p partition, id int, rows int64) gpuframe.ColumnRange {
	r := unknownRange
	for _, f := range fields {
		value, ok := p.values[f.field]
		if f.column.id != id || !ok || f.name == "void" || f.name == "identity" {
			continue
		}
		if value == nil && slices.Contains([]string{"bucket", "truncate", "year", "month", "day", "hour"}, f.name) {
			return gpuframe.ColumnRange{Nulls: rows, Valid: 0}
		}
		if bucket, ok := integerOf(value); ok && f.name == "bucket" {
			r.Has = hasBucket(bucket, f.width)
		}
		low, high := f.bounds(value)
		r.Low, r.High = narrower(r.Low, low, 1), narrower(r.High, high, -1)
	}
	return r
}

// unknownRange is the range of a column of which nothing is known.
var unknownRange = gpuframe.ColumnRange{Nulls: -1, Valid: -1}
