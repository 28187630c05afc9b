package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrDamaged reports contents that are not of the format.
var ErrDamaged = errors.New("the bytes are not of the format")

// object is a struct of thrift's compact protocol: numbers, flags and structs by field.
// Texts, lists and floats, which no caller needs, are left out.
type object map[int]value

type value struct {
	number int64
	fields object
}

// decoder decodes thrift's compact protocol.
type decoder struct {
	data []byte
	at   int
}

// mostDepth is the depth of structs and lists within each other.
const mostDepth = 16

// Types of the compact protocol.
const (
	typeTrue = iota + 1
	typeFalse
	typeByte
	typeInt16
	typeInt32
	typeInt64
	typeDouble
	typeBinary
	typeList
	typeSet
	typeMap
	typeStruct
)

var errCut = fmt.Errorf("a header ends early: %w", ErrDamaged)

func (d *decoder) byte() (byte, error) {
	if d.at >= len(d.data) {
		return 0, errCut
	}
	d.at++
	return d.data[d.at-1], nil
}

func (d *decoder) unsigned() (uint64, error) {
	v, n := binary.Uvarint(d.data[d.at:])
	if n <= 0 {
		return 0, errCut
	}
	d.at += n
	return v, nil
}

func (d *decoder) signed() (int64, error) {
	v, err := d.unsigned()
	return int64(v>>1) ^ -int64(v&1), err
}

func (d *decoder) skip(n uint64) error {
	if n > uint64(len(d.data)-d.at) {
		return errCut
	}
	d.at += int(n)
	return nil
}

// object decodes a struct.
func (d *decoder) object(depth int) (members object, err error) {
	members = object{}
	err = d.fields(depth, func(field int, kind byte) (err error) {
		members[field], err = d.value(kind, depth)
		return err
	})
	return members, err
}

// fields calls f for each field of a struct. f decodes its value.
func (d *decoder) fields(depth int, f func(field int, kind byte) error) error {
	if depth == 0 {
		return fmt.Errorf("a header is nested more than %d deep: %w", mostDepth, ErrDamaged)
	}
	for field := 0; ; {
		head, err := d.byte()
		if err != nil || head == 0 {
			return err
		}
		if delta := int(head >> 4); delta > 0 {
			field += delta
		} else {
			number, err := d.signed()
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

func (d *decoder) value(kind byte, depth int) (v value, err error) {
	switch kind {
	case typeTrue:
		v.number = 1
	case typeFalse:
	case typeByte:
		var b byte
		b, err = d.byte()
		v.number = int64(int8(b))
	case typeInt16, typeInt32, typeInt64:
		v.number, err = d.signed()
	case typeDouble:
		err = d.skip(8)
	case typeBinary:
		var n uint64
		if n, err = d.unsigned(); err == nil {
			err = d.skip(n)
		}
	case typeList, typeSet:
		err = d.list(depth - 1)
	case typeStruct:
		v.fields, err = d.object(depth - 1)
	default:
		err = fmt.Errorf("a header has a field of type %d: %w", kind, ErrDamaged)
	}
	return v, err
}

// list skips a list.
func (d *decoder) list(depth int) error {
	return d.elements(func(kind byte) error {
		if kind != typeStruct {
			_, err := d.value(kind, depth)
			return err
		}
		return d.fields(depth, func(_ int, kind byte) error { return d.pass(kind, depth-1) })
	})
}

// pass skips a value.
func (d *decoder) pass(kind byte, depth int) error {
	if kind == typeStruct {
		return d.fields(depth, func(_ int, kind byte) error { return d.pass(kind, depth-1) })
	}
	_, err := d.value(kind, depth)
	return err
}

// elements calls f for each element of a list, of which there are no more than bytes.
func (d *decoder) elements(f func(kind byte) error) error {
	head, err := d.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = d.unsigned(); err != nil {
			return err
		}
	}
	if n > uint64(len(d.data)-d.at) {
		return errCut
	}
	kind := head & 15
	if kind == typeTrue || kind == typeFalse {
		kind = typeByte // flags in lists take a byte
	}
	for range n {
		if err := f(kind); err != nil {
			return err
		}
	}
	return nil
}
