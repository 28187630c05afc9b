package delta

import (
	"encoding/json"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// members are those of a struct in a row of a checkpoint. A member that is absent, null or of another type has the zero value.
type members struct {
	values *array.Struct
	row    int
}

// find returns the values of a member, or nil.
func (m members) find(name string) (arrow.Array, int) {
	place, ok := m.values.DataType().(*arrow.StructType).FieldIdx(name)
	if !ok {
		return nil, 0
	}
	return m.values.Field(place), m.row
}

func (m members) text(name string) string {
	values, row := m.find(name)
	if text, ok := values.(*array.String); ok && text.IsValid(row) {
		return text.Value(row)
	}
	return ""
}

func (m members) integer(name string) int64 {
	values, row := m.find(name)
	switch v := values.(type) {
	case *array.Int64:
		if v.IsValid(row) {
			return v.Value(row)
		}
	case *array.Int32:
		if v.IsValid(row) {
			return int64(v.Value(row))
		}
	}
	return 0
}

func (m members) inner(name string) (members, bool) {
	values, row := m.find(name)
	inner, ok := values.(*array.Struct)
	return members{inner, row}, ok && inner.IsValid(row)
}

// list returns a list of texts.
func (m members) list(name string) (texts []string) {
	values, row := m.find(name)
	list, ok := values.(*array.List)
	if !ok || list.IsNull(row) {
		return nil
	}
	elements, ok := list.ListValues().(*array.String)
	if !ok {
		return nil
	}
	begin, end := list.ValueOffsets(row)
	for i := begin; i < end; i++ {
		if elements.IsValid(int(i)) {
			texts = append(texts, elements.Value(int(i)))
		}
	}
	return texts
}

// texts returns a map of texts.
func (m members) texts(name string) map[string]*string {
	values, row := m.find(name)
	pairs, ok := values.(*array.Map)
	if !ok || pairs.IsNull(row) {
		return nil
	}
	keys, ok := pairs.Keys().(*array.String)
	items, also := pairs.Items().(*array.String)
	if !ok || !also {
		return nil
	}
	texts := map[string]*string{}
	begin, end := pairs.ValueOffsets(row)
	for i := int(begin); i < int(end); i++ {
		texts[keys.Value(i)] = nil
		if items.IsValid(i) {
			item := items.Value(i)
			texts[keys.Value(i)] = &item
		}
	}
	return texts
}

// json returns a struct as text, or nothing.
func (m members) json(name string) string {
	inner, ok := m.inner(name)
	if !ok {
		return ""
	}
	text, err := json.Marshal(inner.values.GetOneForMarshal(inner.row))
	if err != nil {
		return ""
	}
	return string(text)
}
