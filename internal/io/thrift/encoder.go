package thrift

import "encoding/binary"

// Encoder encodes a struct. Its fields are appended in ascending order.
type Encoder struct {
	Data []byte
	last int // field
}

// Head appends the head of a field, whose value follows.
func (t *Encoder) Head(field int, kind byte) {
	if delta := field - t.last; delta > 0 && delta < 16 {
		t.Data = append(t.Data, byte(delta<<4)|kind)
	} else {
		t.Data = binary.AppendVarint(append(t.Data, kind), int64(field))
	}
	t.last = field
}

// Int32 appends a field of a number.
func (t *Encoder) Int32(field int, v int64) {
	t.Head(field, Int32)
	t.Data = binary.AppendVarint(t.Data, v)
}

// Int64 appends a field of a number.
func (t *Encoder) Int64(field int, v int64) {
	t.Head(field, Int64)
	t.Data = binary.AppendVarint(t.Data, v)
}

// Flag appends a field of a flag.
func (t *Encoder) Flag(field int, v bool) {
	if v {
		t.Head(field, True)
	} else {
		t.Head(field, False)
	}
}

// Binary appends a field of bytes.
func (t *Encoder) Binary(field int, v []byte) {
	t.Head(field, Binary)
	t.Data = AppendBinary(t.Data, v)
}

// AppendBinary appends bytes after their length, as lists have them.
func AppendBinary(to, v []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(v))), v...)
}

// Object appends a struct. f appends the fields.
func (t *Encoder) Object(field int, f func()) {
	t.Head(field, Struct)
	t.Element(f)
}

// Element appends a struct of a list.
func (t *Encoder) Element(f func()) {
	last := t.last
	t.last = 0
	f()
	t.End()
	t.last = last
}

// End ends the struct.
func (t *Encoder) End() { t.Data = append(t.Data, 0) }

// List appends a list of n elements, each of which f appends.
func (t *Encoder) List(field int, kind byte, n int, f func(i int)) {
	t.Head(field, List)
	t.Elements(kind, n, f)
}

// Elements appends the number of elements of a list, and the elements, each of which f appends.
func (t *Encoder) Elements(kind byte, n int, f func(i int)) {
	if n < 15 {
		t.Data = append(t.Data, byte(n<<4)|kind)
	} else {
		t.Data = binary.AppendUvarint(append(t.Data, 15<<4|kind), uint64(n))
	}
	for i := range n {
		f(i)
	}
}

// Objects appends a list of n structs.
func (t *Encoder) Objects(field, n int, f func(i int)) {
	t.List(field, Struct, n, func(i int) { t.Element(func() { f(i) }) })
}

// Varint appends an integer of a list.
func (t *Encoder) Varint(v int64) { t.Data = binary.AppendVarint(t.Data, v) }

// Int16 appends a field of a number.
func (t *Encoder) Int16(field int, v int64) {
	t.Head(field, Int16)
	t.Varint(v)
}

// Byte appends a field of a byte.
func (t *Encoder) Byte(field int, v byte) {
	t.Head(field, Byte)
	t.Data = append(t.Data, v)
}
