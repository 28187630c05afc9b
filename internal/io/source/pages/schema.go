package pages

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Schema is the schema in a footer. It can be changed where arrow-go refuses it, or reads it in
// another way than its writer meant it.
type Schema struct {
	// head and tail are the bytes of the footer around the list of elements.
	head, tail []byte
	root       *element
}

// element is a column or a group of columns.
type element struct {
	fields   []elementField
	children []*element
}

// elementField is a field of an element, with its bytes after the header.
type elementField struct {
	field int
	kind  byte
	value []byte
}

// Fields of an element besides [elementChildren], and values of them.
const (
	elementRepetition = 3
	elementName       = 4
	elementConverted  = 6
	elementScale      = 7
	elementPrecision  = 8
	elementLogical    = 10

	required, repeated          = 0, 2
	convertedMap, convertedList = 1, 3
	logicalMap, logicalList     = 2, 3
)

// ReadSchema reads the schema of a footer, which [Footer] has checked.
func ReadSchema(footer []byte) (*Schema, error) {
	s := &Schema{}
	d := decoder{data: footer}
	err := d.fields(mostDepth, func(field int, kind byte) error {
		if field != footerSchema || kind != typeList {
			return d.pass(kind, mostDepth-1)
		}
		s.head = footer[:d.at]
		var list []*element
		err := d.elements(func(kind byte) error {
			e, err := d.element(kind)
			list = append(list, e)
			return err
		})
		s.tail = footer[d.at:]
		if err == nil {
			s.root, list, err = tree(list, mostNested)
		}
		if err == nil && len(list) > 0 {
			err = fmt.Errorf("%d columns are in no group: %w", len(list), ErrDamaged)
		}
		return err
	})
	if err == nil && s.root == nil {
		err = fmt.Errorf("the footer has no schema: %w", ErrDamaged)
	}
	return s, err
}

// element reads an element of the list.
func (d *decoder) element(kind byte) (*element, error) {
	if kind != typeStruct {
		return nil, fmt.Errorf("a column is of type %d: %w", kind, ErrDamaged)
	}
	e := &element{}
	err := d.fields(mostDepth, func(field int, kind byte) error {
		begin := d.at
		err := d.pass(kind, mostDepth-1)
		e.fields = append(e.fields, elementField{field, kind, d.data[begin:d.at]})
		return err
	})
	return e, err
}

// tree takes an element with those below it from a list in preorder.
func tree(list []*element, depth int) (*element, []*element, error) {
	if len(list) == 0 || depth == 0 {
		return nil, nil, fmt.Errorf("a group ends early, or %d groups are in each other: %w", mostNested, ErrDamaged)
	}
	e, list := list[0], list[1:]
	for range e.number(elementChildren, 0) {
		child, rest, err := tree(list, depth-1)
		if err != nil {
			return nil, nil, err
		}
		e.children, list = append(e.children, child), rest
	}
	return e, list, nil
}

// number returns the number in a field, or another one without the field.
func (e *element) number(field int, otherwise int64) int64 {
	for _, f := range e.fields {
		if f.field == field && f.kind == typeInt32 {
			v, _ := binary.Varint(f.value)
			return v
		}
	}
	return otherwise
}

// set sets a field, or removes it if the value is nil.
func (e *element) set(field int, kind byte, value []byte) {
	e.fields = slices.DeleteFunc(slices.Clone(e.fields), func(f elementField) bool { return f.field == field })
	if value != nil {
		e.fields = append(e.fields, elementField{field, kind, value})
		slices.SortFunc(e.fields, func(a, b elementField) int { return a.field - b.field })
	}
}

func (e *element) setNumber(field int, v int64) { e.set(field, typeInt32, binary.AppendVarint(nil, v)) }

func (e *element) setName(name string) {
	e.set(elementName, typeBinary, append(binary.AppendUvarint(nil, uint64(len(name))), name...))
}

// isAnnotated reports whether the element is a list or a map, by either of its annotations.
func (e *element) isAnnotated(converted int64, logical int) bool {
	for _, f := range e.fields {
		if f.field == elementLogical && f.kind == typeStruct {
			d, member := decoder{data: f.value}, 0
			_ = d.fields(mostDepth, func(field int, kind byte) error { // it was read before
				member = field
				return d.pass(kind, mostDepth-1)
			})
			return member == logical
		}
	}
	return e.number(elementConverted, -1) == converted
}

func (e *element) isList() bool { return e.isAnnotated(convertedList, logicalList) }

func (e *element) isMap() bool { return e.isAnnotated(convertedMap, logicalMap) }

func (e *element) isRepeated() bool { return e.number(elementRepetition, required) == repeated }

// SplitLevels gives lists of lists, and of maps, of two levels the third one, as the format asks of
// readers:
//
//	group a (LIST) { repeated group array (LIST) { repeated … } }
//	group a (LIST) { repeated group list { required group array (LIST) { repeated … } } }
//
// arrow-go reads the first as a list of structs. It reports whether there was one. Definition and
// repetition levels, and the order of the columns, stay as they are.
func (s *Schema) SplitLevels() bool { return s.root.splitLevels() }

func (e *element) splitLevels() (changed bool) {
	if e.isList() && len(e.children) == 1 {
		if inner := e.children[0]; inner.isRepeated() && (inner.isList() || inner.isMap()) && len(inner.children) == 1 && inner.children[0].isRepeated() {
			inner.setNumber(elementRepetition, required)
			list := &element{children: []*element{inner}}
			list.setNumber(elementRepetition, repeated)
			list.setName("list")
			e.children[0], changed = list, true
		}
	}
	for _, child := range e.children {
		changed = child.splitLevels() || changed
	}
	return changed
}

// Columns returns the number of columns and groups at the top.
func (s *Schema) Columns() int { return len(s.root.children) }

// Strip removes what says how the values of column i at the top are to be read: groups become structs,
// and values those of their physical types.
func (s *Schema) Strip(i int) { s.root.children[i].strip() }

func (e *element) strip() {
	for _, field := range []int{elementConverted, elementScale, elementPrecision, elementLogical} {
		e.set(field, 0, nil)
	}
	for _, child := range e.children {
		child.strip()
	}
}

// Footer returns the footer with the schema.
func (s *Schema) Footer() []byte { return slices.Concat(s.head, s.root.list(), s.tail) }

// Only returns the footer of a file without rows that has only column i at the top.
func (s *Schema) Only(i int) []byte {
	root := *s.root
	root.children = root.children[i : i+1]
	const version, schema, rows, groups = 1<<4 | typeInt32, 1<<4 | typeList, 1<<4 | typeInt64, 1<<4 | typeList
	return slices.Concat([]byte{version, 2, schema}, root.list(), []byte{rows, 0, groups, typeStruct, 0})
}

// list encodes a tree as a list in preorder.
func (e *element) list() []byte {
	data, n := e.appendTo(nil)
	if n < 15 {
		return append([]byte{byte(n<<4 | typeStruct)}, data...)
	}
	return append(binary.AppendUvarint([]byte{15<<4 | typeStruct}, uint64(n)), data...)
}

// appendTo appends an element and those below it, and returns how many they are.
func (e *element) appendTo(to []byte) (_ []byte, n int) {
	own := *e
	if len(e.children) > 0 {
		own.setNumber(elementChildren, int64(len(e.children)))
	}
	last := 0
	for _, f := range own.fields {
		if delta := f.field - last; delta > 0 && delta < 16 {
			to = append(to, byte(delta<<4)|f.kind)
		} else {
			to = binary.AppendVarint(append(to, f.kind), int64(f.field))
		}
		to, last = append(to, f.value...), f.field
	}
	to, n = append(to, 0), 1
	for _, child := range e.children {
		var more int
		to, more = child.appendTo(to)
		n += more
	}
	return to, n
}
