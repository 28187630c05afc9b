package kerneltest

import "strings"

// class is the kind of values that a type holds.
type class uint8

const (
	noType class = iota
	bitsClass
	unsignedClass
	signedClass
	floatClass
	predicateClass
)

// typ is a fundamental type of PTX.
type typ struct {
	class class
	bits  int
}

func (t typ) bytes() int    { return t.bits / 8 }
func (t typ) signed() bool  { return t.class == signedClass }
func (t typ) float() bool   { return t.class == floatClass }
func (t typ) integer() bool { return t.class == unsignedClass || t.class == signedClass }

// mask returns the bits that a value of the type occupies.
func (t typ) mask() uint64 {
	if t.bits >= 64 {
		return ^uint64(0)
	}
	return 1<<t.bits - 1
}

var typesByName = map[string]typ{
	"b8": {bitsClass, 8}, "b16": {bitsClass, 16}, "b32": {bitsClass, 32}, "b64": {bitsClass, 64},
	"u8": {unsignedClass, 8}, "u16": {unsignedClass, 16}, "u32": {unsignedClass, 32}, "u64": {unsignedClass, 64},
	"s8": {signedClass, 8}, "s16": {signedClass, 16}, "s32": {signedClass, 32}, "s64": {signedClass, 64},
	"f16": {floatClass, 16}, "f32": {floatClass, 32}, "f64": {floatClass, 64},
	"pred": {predicateClass, 1},
}

func typeOf(word string) (typ, bool) {
	t, ok := typesByName[strings.TrimPrefix(word, ".")]
	return t, ok
}

// extend returns the value of type t in the low bits of x, sign or zero extended.
func extend(t typ, x uint64) uint64 {
	shift := uint(64-t.bits) & 63
	if t.class == signedClass {
		return uint64(int64(x<<shift) >> shift)
	}
	return x << shift >> shift
}
