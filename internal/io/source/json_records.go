package source

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/io/source/jsontext"
)

// jsonDecoding decodes blocks of a file.
type jsonDecoding struct {
	jsonDecoder
	// read is the schema of the columns that are read.
	read      *arrow.Schema
	selected  []string
	allocator arrowmemory.Allocator
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// record decodes a block.
func (d *jsonDecoding) record(b block) (arrow.Record, error) {
	builder := array.NewRecordBuilder(d.allocator, d.read)
	defer builder.Release()
	builder.Reserve(b.rows)
	members := newJSONMembers(d.all.Fields(), d.inferred)
	for i, field := range d.read.Fields() {
		members.columns[members.places[field.Name]] = d.column(builder.Field(i), field)
	}
	line, rows := b.line, int64(0)
	for text := range strings.Lines(b.text) {
		if !isBlank(text) {
			if err := members.line(text); err != nil {
				return nil, atLine(err, line)
			}
			rows++
		}
		line++
	}
	if d.read.NumFields() == 0 {
		return array.NewRecord(d.read, nil, rows), nil
	}
	return builder.NewRecord(), nil
}

// atLine adds the number of the line to an error.
func atLine(err error, line int) error {
	var value *ValueError
	if errors.As(err, &value) {
		value.Line = line
		return value
	}
	return fmt.Errorf("line %d: %w: %w", line, err, ErrContents)
}

// jsonColumn appends the value that follows to a builder.
type jsonColumn func(s *jsontext.Scanner) error

// jsonMembers are the members of an object.
type jsonMembers struct {
	fields []arrow.Field
	places map[string]int
	// columns are those of the fields, nil for those that are not read.
	columns []jsonColumn
	// seen has the number of the object in which a field occurred last.
	seen   []int
	object int
	// inferred makes errors of members without a field.
	inferred bool
}

func newJSONMembers(fields []arrow.Field, inferred bool) *jsonMembers {
	m := &jsonMembers{fields: fields, places: map[string]int{}, columns: make([]jsonColumn, len(fields)), seen: make([]int, len(fields)), inferred: inferred}
	for i, field := range fields {
		m.places[field.Name] = i
	}
	return m
}

// line decodes an object that is the whole line.
func (m *jsonMembers) line(text string) error {
	s := jsontext.New(text)
	kind, err := s.Next()
	if err != nil {
		return err
	}
	if kind != jsontext.Object {
		return fmt.Errorf("it is not an object, but %v", kind)
	}
	if err := m.read(&s); err != nil {
		return err
	}
	return s.End()
}

// read decodes an object that has begun. Members that it does not have are null.
func (m *jsonMembers) read(s *jsontext.Scanner) error {
	m.object++
	for next := 0; ; next++ {
		name, further, err := s.Member(next == 0)
		if err != nil {
			return err
		}
		if !further {
			return m.missing()
		}
		if err := m.member(s, name, next); err != nil {
			return err
		}
	}
}

// member decodes the value of a member, which is usually that of the next field.
func (m *jsonMembers) member(s *jsontext.Scanner, name string, next int) error {
	place, ok := next, next < len(m.fields) && m.fields[next].Name == name
	if !ok {
		place, ok = m.places[name]
	}
	if !ok && m.inferred {
		return fmt.Errorf("member %q does not occur in the rows that the columns were inferred from: infer them from more rows with JSONOptions.InferRows, or give JSONOptions.Schema", name)
	}
	if ok && m.seen[place] == m.object {
		return fmt.Errorf("two members have the name %q", name)
	}
	if !ok || m.columns[place] == nil {
		if ok {
			m.seen[place] = m.object
		}
		kind, err := s.Next()
		if err != nil {
			return err
		}
		return s.Skip(kind)
	}
	m.seen[place] = m.object
	return within(name, m.columns[place](s))
}

// within adds the name of a member to an error of a value.
func within(name string, err error) error {
	var value *ValueError
	if !errors.As(err, &value) {
		return err
	}
	if value.Column != "" {
		name += "." + value.Column
	}
	value.Column = name
	return value
}

// missing appends nulls to the columns of members that the object does not have.
func (m *jsonMembers) missing() error {
	for i, column := range m.columns {
		if column == nil || m.seen[i] == m.object {
			continue
		}
		null := jsontext.New("null")
		if err := within(m.fields[i].Name, column(&null)); err != nil {
			return err
		}
	}
	return nil
}

// column returns the function that appends values of a field. All fields are nullable, see
// nullableThroughout.
func (d *jsonDecoding) column(builder array.Builder, field arrow.Field) jsonColumn {
	read := d.values(builder, field)
	return func(s *jsontext.Scanner) error {
		kind, err := s.Next()
		switch {
		case err != nil:
			return err
		case kind == jsontext.Null:
			builder.AppendNull()
			return nil
		}
		begin := s.Begin()
		ok, err := read(s, kind)
		if err != nil || ok {
			return err
		}
		if err := s.Skip(kind); err != nil {
			return err
		}
		return &ValueError{Text: s.Since(begin), Type: field.Type, Remedy: "give the type in JSONOptions.Schema, or infer it from more rows with JSONOptions.InferRows"}
	}
}

// values returns the function that appends the value that begins with a kind. It reports whether
// the value has the type.
func (d *jsonDecoding) values(builder array.Builder, field arrow.Field) func(s *jsontext.Scanner, kind jsontext.Kind) (bool, error) {
	switch b := builder.(type) {
	case *array.StructBuilder:
		return d.objects(b)
	case *array.ListBuilder:
		return d.arrays(b, field.Type.(*arrow.ListType).ElemField(), -1)
	case *array.LargeListBuilder:
		return d.arrays(b, field.Type.(*arrow.LargeListType).ElemField(), -1)
	case *array.FixedSizeListBuilder:
		t := field.Type.(*arrow.FixedSizeListType)
		return d.arrays(b, t.ElemField(), int(t.Len()))
	case *array.BooleanBuilder:
		return func(s *jsontext.Scanner, kind jsontext.Kind) (bool, error) {
			b.Append(kind == jsontext.True)
			return kind == jsontext.True || kind == jsontext.False, nil
		}
	}
	value, count := textValues(builder, false), counts(builder)
	if value == nil {
		return otherValues(builder)
	}
	return func(s *jsontext.Scanner, kind jsontext.Kind) (bool, error) {
		switch {
		case kind == jsontext.Number && count != nil:
			return count(s.Text), nil
		case kind == jsontext.Number || kind == jsontext.String:
			return value(s.Text), nil
		}
		return false, nil
	}
}

// otherValues returns the function that appends values as arrow-go reads them.
func otherValues(builder array.Builder) func(s *jsontext.Scanner, kind jsontext.Kind) (bool, error) {
	return func(s *jsontext.Scanner, kind jsontext.Kind) (bool, error) {
		begin := s.Begin()
		if err := s.Skip(kind); err != nil {
			return false, err
		}
		decoder := newJSONDecoder(strings.NewReader(s.Since(begin)))
		decoder.UseNumber()
		if err := builder.UnmarshalOne(decoder); err != nil {
			return false, fmt.Errorf("a value of %v: %w", builder.Type(), err)
		}
		return true, nil
	}
}

func (d *jsonDecoding) objects(b *array.StructBuilder) func(s *jsontext.Scanner, kind jsontext.Kind) (bool, error) {
	members := newJSONMembers(b.Type().(*arrow.StructType).Fields(), d.inferred)
	for i, field := range members.fields {
		members.columns[i] = d.column(b.FieldBuilder(i), field)
	}
	return func(s *jsontext.Scanner, kind jsontext.Kind) (bool, error) {
		if kind != jsontext.Object {
			return false, nil
		}
		b.Append(true)
		return true, members.read(s)
	}
}

// arrays appends arrays, of a length unless it is negative.
func (d *jsonDecoding) arrays(b array.ListLikeBuilder, element arrow.Field, length int) func(s *jsontext.Scanner, kind jsontext.Kind) (bool, error) {
	column := d.column(b.ValueBuilder(), element)
	return func(s *jsontext.Scanner, kind jsontext.Kind) (bool, error) {
		if kind != jsontext.Array {
			return false, nil
		}
		b.Append(true)
		for n := 0; ; n++ {
			further, err := s.Element(n == 0)
			if err == nil && !further && length >= 0 && n != length {
				err = fmt.Errorf("an array has %d elements, expected %d", n, length)
			}
			if err != nil || !further {
				return true, err
			}
			if err := column(s); err != nil {
				return true, err
			}
		}
	}
}
