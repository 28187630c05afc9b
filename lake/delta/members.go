package delta

import (
	"encoding/json"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// members are those of a struct in a row of a checkpoint. A member that is absent or null has the zero value. One of a type that
// is not expected sets failure.
type members struct {
	values  *array.Struct
	row     int
	failure *error
}

// find returns the values of a member, or nil if it is absent or null.
func (m members) find(name string) arrow.Array {
	index, ok := m.values.DataType().(*arrow.StructType).FieldIdx(name)
	if !ok {
		return nil
	}
	values := m.values.Field(index)
	if values.DataType().ID() == arrow.NULL || values.IsNull(m.row) {
		return nil
	}
	return values
}

// refuse sets failure, of values that are there.
func (m members) refuse(name string, values arrow.Array) {
	if values != nil {
		*m.failure = fmt.Errorf("the member %s is of %v: %w", name, values.DataType(), ErrLog)
	}
}

func (m members) text(name string) string {
	values := m.find(name)
	read := textsOf(values)
	if read == nil {
		m.refuse(name, values)
		return ""
	}
	return read(m.row)
}

// textsOf returns a function that returns texts of an array, or nil if it does not have texts.
func textsOf(values arrow.Array) func(row int) string {
	switch v := values.(type) {
	case *array.String:
		return v.Value
	case *array.LargeString:
		return v.Value
	case *array.Binary:
		return func(row int) string { return string(v.Value(row)) }
	case *array.LargeBinary:
		return func(row int) string { return string(v.Value(row)) }
	case *array.Dictionary:
		if read := textsOf(v.Dictionary()); read != nil {
			return func(row int) string { return read(v.GetValueIndex(row)) }
		}
	}
	return nil
}

func (m members) integer(name string) int64 {
	switch v := m.find(name).(type) {
	case *array.Int64:
		return v.Value(m.row)
	case *array.Int32:
		return int64(v.Value(m.row))
	default:
		m.refuse(name, v)
		return 0
	}
}

func (m members) inner(name string) (members, bool) {
	values := m.find(name)
	inner, ok := values.(*array.Struct)
	if !ok {
		m.refuse(name, values)
	}
	return members{inner, m.row, m.failure}, ok
}

// list returns a list of texts.
func (m members) list(name string) (texts []string) {
	values := m.find(name)
	list, ok := values.(array.ListLike)
	if !ok {
		m.refuse(name, values)
		return nil
	}
	elements := list.ListValues()
	begin, end := list.ValueOffsets(m.row)
	read := textsOf(elements)
	if read == nil && begin < end {
		m.refuse(name, values)
		return nil
	}
	for i := int(begin); i < int(end); i++ {
		if elements.IsValid(i) {
			texts = append(texts, read(i))
		}
	}
	return texts
}

// texts returns a map of texts.
func (m members) texts(name string) map[string]*string {
	values := m.find(name)
	pairs, ok := values.(*array.Map)
	if !ok {
		m.refuse(name, values)
		return nil
	}
	texts := map[string]*string{}
	begin, end := pairs.ValueOffsets(m.row)
	key, item := textsOf(pairs.Keys()), textsOf(pairs.Items())
	nulls := pairs.Items().DataType().ID() == arrow.NULL
	if begin < end && (key == nil || item == nil && !nulls) {
		m.refuse(name, values)
		return nil
	}
	for i := int(begin); i < int(end); i++ {
		texts[key(i)] = nil
		if !nulls && pairs.Items().IsValid(i) {
			texts[key(i)] = new(item(i))
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
