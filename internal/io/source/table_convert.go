package source

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe/internal/base/release"
)

// conversion makes arrays of the type of a file arrays of the type of a table.
type conversion struct {
	from, to arrow.DataType
	// parts are those of a list, a map or a struct, in the order of the table, and places are those in the file: -1 for
	// members that the file lacks.
	parts  []*conversion
	places []int
	// fallback is the value of a member that the file lacks. Nil means null.
	fallback scalar.Scalar
	// values converts values of another layout. Nil means the same layout.
	values func(from arrow.Array, to arrow.DataType) (arrow.Array, error)
}

// newConversion returns the conversion from one type to another. The parts of the latter have origins in the file.
func newConversion(from, to arrow.DataType, origin Origin, byID bool) (*conversion, error) {
	c := &conversion{from: from, to: to}
	if s, ok := to.(*arrow.StructType); ok {
		file, ok := from.(*arrow.StructType)
		if !ok {
			return nil, unconvertible(from, to)
		}
		return c, c.structOf(file, s, origin, byID)
	}
	elements, nested := elementsOf(to)
	if !nested {
		values, ok := valuesOf(from, to)
		if !ok {
			return nil, unconvertible(from, to)
		}
		c.values = values
		return c, nil
	}
	fileElements, _ := elementsOf(from)
	if from.ID() != to.ID() || len(fileElements) != len(elements) {
		return nil, unconvertible(from, to)
	}
	for i, element := range elements {
		part, err := newConversion(fileElements[i], element, origin.member(i), byID)
		if err != nil {
			return nil, err
		}
		c.parts, c.places = append(c.parts, part), append(c.places, i)
	}
	return c, nil
}

func unconvertible(from, to arrow.DataType) error {
	return fmt.Errorf("values of %v are not converted to %v: %w", from, to, ErrUnsupported)
}

// elementsOf returns the element of a list, or the key and the value of a map.
func elementsOf(t arrow.DataType) ([]arrow.DataType, bool) {
	switch t := t.(type) {
	case *arrow.ListType:
		return []arrow.DataType{t.Elem()}, true
	case *arrow.MapType:
		return []arrow.DataType{t.KeyType(), t.ItemType()}, true
	}
	return nil, arrow.IsNested(t.ID())
}

func (c *conversion) structOf(file, to *arrow.StructType, origin Origin, byID bool) error {
	for i, field := range to.Fields() {
		place := origin.member(i).find(file.Fields(), field.Name, byID)
		part := &conversion{to: field.Type, fallback: origin.member(i).Default}
		if place >= 0 {
			var err error
			if part, err = newConversion(file.Field(place).Type, field.Type, origin.member(i), byID); err != nil {
				return fmt.Errorf("member %q: %w", field.Name, err)
			}
		}
		c.parts, c.places = append(c.parts, part), append(c.places, place)
	}
	return nil
}

// decodes reports whether the layout differs, so that values are decoded as those of the file. Otherwise names and
// nullability may differ.
func (c *conversion) decodes() bool {
	if c.values != nil {
		return true
	}
	if s, ok := c.from.(*arrow.StructType); ok && s.NumFields() != len(c.parts) {
		return true
	}
	for i, part := range c.parts {
		if c.places[i] != i || part.decodes() {
			return true
		}
	}
	return false
}

// sameBounds reports whether bounds of values of the file are those of the table.
func (c *conversion) sameBounds() bool {
	return arrow.IsInteger(c.from.ID()) && arrow.IsInteger(c.to.ID()) || arrow.IsFloating(c.from.ID()) && arrow.IsFloating(c.to.ID())
}

// chunked converts all arrays of a chunk.
func (c *conversion) chunked(chunk *arrow.Chunked) (*arrow.Chunked, error) {
	var arrays []arrow.Array
	defer func() { release.Arrow(arrays) }()
	for _, each := range chunk.Chunks() {
		converted, err := c.array(each)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, converted)
	}
	return arrow.NewChunked(c.to, arrays), nil
}

func (c *conversion) array(a arrow.Array) (arrow.Array, error) {
	if c.values != nil {
		return c.values(a, c.to)
	}
	data, err := c.data(a.Data())
	if err != nil {
		return nil, err
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// data converts the data of an array, with the rows outside its slice.
func (c *conversion) data(data arrow.ArrayData) (arrow.ArrayData, error) {
	if c.values != nil {
		from := array.MakeFromData(data)
		defer from.Release()
		converted, err := c.values(from, c.to)
		if err != nil {
			return nil, err
		}
		defer converted.Release()
		converted.Data().Retain()
		return converted.Data(), nil
	}
	children, err := c.children(data)
	defer func() { release.Arrow(children) }()
	if err != nil {
		return nil, err
	}
	return array.NewData(c.to, data.Len(), data.Buffers(), children, data.NullN(), data.Offset()), nil
}

func (c *conversion) children(data arrow.ArrayData) (children []arrow.ArrayData, err error) {
	if c.to.ID() == arrow.MAP {
		entries, err := c.entries(data.Children()[0])
		if err != nil {
			return nil, err
		}
		return []arrow.ArrayData{entries}, nil
	}
	for i, part := range c.parts {
		var child arrow.ArrayData
		if c.places[i] < 0 {
			child, err = part.missing(data.Offset() + data.Len())
		} else {
			child, err = part.data(data.Children()[c.places[i]])
		}
		if err != nil {
			return children, err
		}
		children = append(children, child)
	}
	return children, nil
}

// entries converts the keys and values of maps, which are structs.
func (c *conversion) entries(data arrow.ArrayData) (arrow.ArrayData, error) {
	entries := conversion{to: c.to.(*arrow.MapType).Elem(), parts: c.parts, places: c.places}
	return entries.data(data)
}

// missing is the fallback, or nulls, for a member that a file lacks.
func (c *conversion) missing(length int) (arrow.ArrayData, error) {
	value := c.fallback
	most := int64(mostConstantBytes)
	if arrow.IsBaseBinary(c.to.ID()) && value != nil {
		most = math.MaxInt32 // one array has them
	}
	if err := fitsConstants(c.to, value, int64(length), most); err != nil {
		return nil, err
	}
	if value == nil || !value.IsValid() {
		values := nullArray(c.to, length)
		defer values.Release()
		values.Data().Retain()
		return values.Data(), nil
	}
	values, err := scalar.MakeArrayFromScalar(value, length, arrowmemory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	values.Data().Retain()
	return values.Data(), nil
}
