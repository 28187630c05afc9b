package infer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// ErrMixed reports values of a JSON column without a common type.
var ErrMixed = errors.New("values of different types")

// mostDepth is the nesting of JSON values at most.
const mostDepth = 64

// kind is the type of JSON values as far as they were seen. The zero kind is that of
// nulls.
type kind struct {
	scalar arrow.DataType
	// element is the kind of elements of arrays, fields are those of objects in the
	// order in which they first occurred.
	element *kind
	fields  []member
}

type member struct {
	name string
	kind *kind
}

// JSON reads at most rows objects, all if rows is negative, and returns the schema of
// their members. Columns with only nulls are text.
func JSON(r io.Reader, rows int) (*arrow.Schema, error) {
	decoder := json.NewDecoder(r)
	decoder.UseNumber()
	all := &kind{fields: []member{}}
	for row := 0; rows < 0 || row < rows; row++ {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if token != json.Delim('{') {
			return nil, fmt.Errorf("row %d is not an object, but begins with %v", row, token)
		}
		if err := all.object(decoder, mostDepth); err != nil {
			return nil, fmt.Errorf("row %d: %w", row, err)
		}
	}
	return arrow.NewSchema(all.arrowFields(), nil), nil
}

// learn widens the kind by the next value of a decoder.
func (k *kind) learn(decoder *json.Decoder, depth int) error {
	if depth == 0 {
		return fmt.Errorf("values are nested more than %d deep", mostDepth)
	}
	token, err := decoder.Token()
	if err != nil {
		return unexpectedEnd(err)
	}
	switch token := token.(type) {
	case nil:
		return nil
	case bool:
		return k.is(arrow.FixedWidthTypes.Boolean)
	case string:
		return k.is(arrow.BinaryTypes.String)
	case json.Number:
		if isInteger(token.String()) {
			return k.is(arrow.PrimitiveTypes.Int64)
		}
		return k.is(arrow.PrimitiveTypes.Float64)
	}
	if k.scalar != nil {
		return fmt.Errorf("%v and %v: %w", k.scalar, token, ErrMixed)
	}
	if token == json.Delim('{') {
		if k.element != nil {
			return fmt.Errorf("an array and an object: %w", ErrMixed)
		}
		return k.object(decoder, depth-1)
	}
	if k.fields != nil {
		return fmt.Errorf("an object and an array: %w", ErrMixed)
	}
	if k.element == nil {
		k.element = &kind{}
	}
	for decoder.More() {
		if err := k.element.learn(decoder, depth-1); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return unexpectedEnd(err)
}

// object learns the members of an object that has begun.
func (k *kind) object(decoder *json.Decoder, depth int) error {
	if k.fields == nil {
		k.fields = []member{}
	}
	for next := 0; decoder.More(); next++ {
		token, err := decoder.Token()
		if err != nil {
			return unexpectedEnd(err)
		}
		name, _ := token.(string)
		if err := k.field(name, next).learn(decoder, depth); err != nil {
			return fmt.Errorf("column %q: %w", name, err)
		}
	}
	_, err := decoder.Token()
	return unexpectedEnd(err)
}

// field returns the kind of a member, which is usually the next one.
func (k *kind) field(name string, next int) *kind {
	if next < len(k.fields) && k.fields[next].name == name {
		return k.fields[next].kind
	}
	for _, f := range k.fields {
		if f.name == name {
			return f.kind
		}
	}
	made := &kind{}
	k.fields = append(k.fields, member{strings.Clone(name), made})
	return made
}

// is widens the kind by a scalar value.
func (k *kind) is(t arrow.DataType) error {
	switch {
	case k.element != nil || k.fields != nil:
		return fmt.Errorf("%v and arrays or objects: %w", t, ErrMixed)
	case k.scalar == nil || arrow.TypeEqual(k.scalar, t):
		k.scalar = t
	case arrow.IsPrimitive(k.scalar.ID()) && arrow.IsPrimitive(t.ID()) && k.scalar.ID() != arrow.BOOL && t.ID() != arrow.BOOL:
		k.scalar = arrow.PrimitiveTypes.Float64 // integers and floats
	default:
		return fmt.Errorf("%v and %v: %w", k.scalar, t, ErrMixed)
	}
	return nil
}

func (k *kind) dataType() arrow.DataType {
	switch {
	case k.element != nil:
		return arrow.ListOf(k.element.dataType())
	case len(k.fields) > 0:
		return arrow.StructOf(k.arrowFields()...)
	case k.scalar != nil:
		return k.scalar
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

// unexpectedEnd turns the end of the input within a value into an error of its own kind.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
