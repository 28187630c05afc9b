package infer

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/source/jsontext"
)

// ErrMixed reports values of a JSON column without a common type.
var ErrMixed = errors.New("values of different types")

// Objects are the members of JSON objects and their types, as far as they were seen.
type Objects struct{ all kind }

// kind is the type of JSON values as far as they were seen. The zero kind is that of
// nulls.
type kind struct {
	// scalar is Number, String or True, which stands for bools, or 0.
	scalar jsontext.Kind
	// excluded are the types that do not hold a number that was seen.
	excluded types
	// words reports that all strings stand for floats that are not finite.
	words bool
	// element is the kind of elements of arrays, fields are those of objects in the
	// order in which they first occurred.
	element *kind
	fields  []member
	// places are the indices of fields by name.
	places map[string]int
}

type member struct {
	name string
	kind *kind
}

// Learn widens the types by an object, which is the whole text.
func (o *Objects) Learn(text string) error {
	s := jsontext.New(text)
	first, err := s.Next()
	if err != nil {
		return err
	}
	if first != jsontext.Object {
		return fmt.Errorf("it is not an object, but %v: %w", first, jsontext.ErrSyntax)
	}
	if err := o.all.object(&s); err != nil {
		return err
	}
	return s.End()
}

// Schema returns the schema of the members. Columns with only nulls are text.
func (o *Objects) Schema() *arrow.Schema { return arrow.NewSchema(o.all.arrowFields(), nil) }

// learn widens the kind by the next value.
func (k *kind) learn(s *jsontext.Scanner) error {
	next, err := s.Next()
	if err != nil {
		return err
	}
	switch next {
	case jsontext.Null:
		return nil
	case jsontext.Array, jsontext.Object:
	default:
		return k.learnScalar(next, s.Text)
	}
	if k.scalar != 0 {
		return fmt.Errorf("%s and %v: %w", k.scalarName(), next, ErrMixed)
	}
	if next == jsontext.Object {
		if k.element != nil {
			return fmt.Errorf("an array and an object: %w", ErrMixed)
		}
		return k.object(s)
	}
	if k.fields != nil {
		return fmt.Errorf("an object and an array: %w", ErrMixed)
	}
	if k.element == nil {
		k.element = &kind{}
	}
	for first := true; ; first = false {
		if further, err := s.Element(first); err != nil || !further {
			return err
		}
		if err := k.element.learn(s); err != nil {
			return err
		}
	}
}

// object learns the members of an object that has begun.
func (k *kind) object(s *jsontext.Scanner) error {
	if k.fields == nil {
		k.fields = []member{}
	}
	for next := 0; ; next++ {
		name, further, err := s.Member(next == 0)
		if err != nil || !further {
			return err
		}
		if err := k.field(name, next).learn(s); err != nil {
			return fmt.Errorf("column %q: %w", name, err)
		}
	}
}

// field returns the kind of a member, which is usually the next one.
func (k *kind) field(name string, next int) *kind {
	if next < len(k.fields) && k.fields[next].name == name {
		return k.fields[next].kind
	}
	if place, ok := k.places[name]; ok {
		return k.fields[place].kind
	}
	if k.places == nil {
		k.places = map[string]int{}
	}
	added := member{strings.Clone(name), &kind{}}
	k.places[added.name] = len(k.fields)
	k.fields = append(k.fields, added)
	return added.kind
}

// learnScalar widens the kind by a scalar value. Words for floats among numbers are numbers.
func (k *kind) learnScalar(next jsontext.Kind, text string) error {
	if next == jsontext.False {
		next = jsontext.True
	}
	if k.element != nil || k.fields != nil {
		return fmt.Errorf("%v and arrays or objects: %w", next, ErrMixed)
	}
	word := next == jsontext.String && isFloatWord(text)
	switch {
	case k.scalar == 0:
		k.words = word
	case k.scalar == next:
		k.words = k.words && word
	case k.scalar == jsontext.Number && word:
		k.excluded |= everyType &^ float
		return nil
	case next == jsontext.Number && k.words:
		k.excluded |= everyType &^ float
		k.words = false
	default:
		return fmt.Errorf("%s and %v: %w", k.scalarName(), next, ErrMixed)
	}
	if k.scalar = next; next == jsontext.Number {
		fit := numberTypes(text)
		if isFloatWord(text) {
			fit = float
		}
		k.excluded |= everyType &^ fit
	}
	return nil
}

// scalarName is the name of the scalar in errors.
func (k *kind) scalarName() string {
	if k.scalar == jsontext.True {
		return "a bool"
	}
	return k.scalar.String()
}

func (k *kind) dataType() arrow.DataType {
	switch fit := everyType &^ k.excluded; {
	case k.element != nil:
		return arrow.ListOf(k.element.dataType())
	case k.fields != nil:
		return arrow.StructOf(k.arrowFields()...)
	case k.scalar == jsontext.True:
		return arrow.FixedWidthTypes.Boolean
	case k.scalar == jsontext.Number && fit != 0:
		return dataTypes[bits.TrailingZeros16(uint16(fit))]
	}
	return arrow.BinaryTypes.String
}

func (k *kind) arrowFields() []arrow.Field {
	fields := make([]arrow.Field, len(k.fields))
	for i, f := range k.fields {
		fields[i] = arrow.Field{Name: f.name, Type: f.kind.dataType(), Nullable: true}
	}
	return fields
}
