package rowgroups

import "encoding/binary"

// Types of thrift's compact protocol.
const (
	typeTrue   = 1
	typeFalse  = 2
	typeInt16  = 4
	typeInt32  = 5
	typeInt64  = 6
	typeBinary = 8
	typeList   = 9
	typeStruct = 12
)

// thrift encodes a struct of thrift's compact protocol. Its fields are appended in ascending order.
type thrift struct {
	data []byte
	last int // field
}

func (t *thrift) head(field int, kind byte) {
	if delta := field - t.last; delta > 0 && delta < 16 {
		t.data = append(t.data, byte(delta<<4)|kind)
	} else {
		t.data = binary.AppendVarint(append(t.data, kind), int64(field))
	}
	t.last = field
}

func (t *thrift) int32(field int, v int64) {
	t.head(field, typeInt32)
	t.data = binary.AppendVarint(t.data, v)
}

func (t *thrift) int64(field int, v int64) {
	t.head(field, typeInt64)
	t.data = binary.AppendVarint(t.data, v)
}

func (t *thrift) flag(field int, v bool) {
	if v {
		t.head(field, typeTrue)
	} else {
		t.head(field, typeFalse)
	}
}

func (t *thrift) binary(field int, v []byte) {
	t.head(field, typeBinary)
	t.data = appendBinary(t.data, v)
}

func appendBinary(to, v []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(v))), v...)
}

// object appends a struct. f appends the fields.
func (t *thrift) object(field int, f func()) {
	t.head(field, typeStruct)
	t.element(f)
}

// element appends a struct of a list.
func (t *thrift) element(f func()) {
	last := t.last
	t.last = 0
	f()
	t.end()
	t.last = last
}

// end ends the struct.
func (t *thrift) end() { t.data = append(t.data, 0) }

// list appends a list of n elements, each of which f appends.
func (t *thrift) list(field int, kind byte, n int, f func(i int)) {
	t.head(field, typeList)
	t.elements(kind, n, f)
}

func (t *thrift) elements(kind byte, n int, f func(i int)) {
	if n < 15 {
		t.data = append(t.data, byte(n<<4)|kind)
	} else {
		t.data = binary.AppendUvarint(append(t.data, 15<<4|kind), uint64(n))
	}
	for i := range n {
		f(i)
	}
}

// objects appends a list of n structs.
func (t *thrift) objects(field, n int, f func(i int)) {
	t.list(field, typeStruct, n, func(i int) { t.element(func() { f(i) }) })
}

// varint appends an integer of a list.
func (t *thrift) varint(v int64) { t.data = binary.AppendVarint(t.data, v) }

func (t *thrift) int16(field int, v int64) {
	t.head(field, typeInt16)
	t.varint(v)
}
