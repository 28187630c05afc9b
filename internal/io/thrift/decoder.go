package thrift

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrDamaged reports contents that are not of the format.
var ErrDamaged = errors.New("the bytes are not of the format")

// Object is a struct by the numbers of its fields: numbers, flags and structs. Texts, lists and
// floats are left out.
type Object map[int]Value

// Value is a number, a flag (0 or 1) or a struct.
type Value struct {
	Number int64
	Fields Object
}

// Decoder decodes data from a place on.
type Decoder struct {
	Data []byte
	At   int
}

// MostDepth is the depth of structs and lists within each other.
const MostDepth = 16

// Types of values. A list of flags has elements of the type True.
const (
	True = iota + 1
	False
	Byte
	Int16
	Int32
	Int64
	Double
	Binary
	List
	Set
	Map
	Struct
)

// ErrCut reports data that end within a value. It wraps [ErrDamaged].
var ErrCut = fmt.Errorf("a header ends early: %w", ErrDamaged)

// Byte decodes a byte.
func (d *Decoder) Byte() (byte, error) {
	if d.At >= len(d.Data) {
		return 0, ErrCut
	}
	d.At++
	return d.Data[d.At-1], nil
}

// Unsigned decodes a number without a sign, such as a length.
func (d *Decoder) Unsigned() (uint64, error) {
	v, n := binary.Uvarint(d.Data[d.At:])
	if n <= 0 {
		return 0, ErrCut
	}
	d.At += n
	return v, nil
}

// Signed decodes a number of 16, 32 or 64 bits.
func (d *Decoder) Signed() (int64, error) {
	v, err := d.Unsigned()
	return int64(v>>1) ^ -int64(v&1), err
}

// Skip passes over bytes.
func (d *Decoder) Skip(n uint64) error {
	if n > uint64(len(d.Data)-d.At) {
		return ErrCut
	}
	d.At += int(n)
	return nil
}

// Object decodes a struct.
func (d *Decoder) Object(depth int) (members Object, err error) {
	members = Object{}
	err = d.Fields(depth, func(field int, kind byte) (err error) {
		members[field], err = d.Value(kind, depth)
		return err
	})
	return members, err
}

// Fields calls f for each field of a struct. f decodes its value.
func (d *Decoder) Fields(depth int, f func(field int, kind byte) error) error {
	if depth == 0 {
		return fmt.Errorf("a header is nested more than %d deep: %w", MostDepth, ErrDamaged)
	}
	for field := 0; ; {
		head, err := d.Byte()
		if err != nil || head == 0 {
			return err
		}
		if delta := int(head >> 4); delta > 0 {
			field += delta
		} else {
			number, err := d.Signed()
			if err != nil {
				return err
			}
			field = int(int16(number))
		}
		if err := f(field, head&15); err != nil {
			return err
		}
	}
}

// Value decodes a value of a kind. Texts, lists and floats are passed over.
func (d *Decoder) Value(kind byte, depth int) (v Value, err error) {
	switch kind {
	case True:
		v.Number = 1
	case False:
	case Byte:
		var b byte
		b, err = d.Byte()
		v.Number = int64(int8(b))
	case Int16, Int32, Int64:
		v.Number, err = d.Signed()
	case Double:
		err = d.Skip(8)
	case Binary:
		var n uint64
		if n, err = d.Unsigned(); err == nil {
			err = d.Skip(n)
		}
	case List, Set:
		err = d.skipList(depth - 1)
	case Struct:
		v.Fields, err = d.Object(depth - 1)
	default:
		err = fmt.Errorf("a header has a field of type %d: %w", kind, ErrDamaged)
	}
	return v, err
}

// skipList skips a list.
func (d *Decoder) skipList(depth int) error {
	return d.Elements(func(kind byte) error {
		if kind != Struct {
			_, err := d.Value(kind, depth)
			return err
		}
		return d.Fields(depth, func(_ int, kind byte) error { return d.Pass(kind, depth-1) })
	})
}

// Pass skips a value.
func (d *Decoder) Pass(kind byte, depth int) error {
	if kind == Struct {
		return d.Fields(depth, func(_ int, kind byte) error { return d.Pass(kind, depth-1) })
	}
	_, err := d.Value(kind, depth)
	return err
}

// Elements calls f for each element of a list, of which there are no more than bytes.
func (d *Decoder) Elements(f func(kind byte) error) error {
	head, err := d.Byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = d.Unsigned(); err != nil {
			return err
		}
	}
	if n > uint64(len(d.Data)-d.At) {
		return ErrCut
	}
	kind := head & 15
	if kind == True || kind == False {
		kind = Byte // flags in lists take a byte
	}
	for range n {
		if err := f(kind); err != nil {
			return err
		}
	}
	return nil
}

// Text decodes bytes after their length. They are those of the data, not a copy, and not nil.
func (d *Decoder) Text() ([]byte, error) {
	n, err := d.Unsigned()
	if err != nil {
		return nil, err
	}
	begin := d.At
	if err := d.Skip(n); err != nil {
		return nil, err
	}
	return d.Data[begin:d.At:d.At], nil
}
