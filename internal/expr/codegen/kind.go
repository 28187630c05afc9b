package codegen

import (
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// family is the kind of instructions that compute with a type's values.
type family uint8

const (
	unknown family = iota
	boolean
	integer
	float
	decimal
	text // strings and binaries, of any layout
)

// kind describes a type's values in registers. Integers of fewer than 32 bits are sign-
// or zero-extended to 32; bools are predicates; float16 is loaded as float32; decimals
// are two words of 64 bits, the low word first; text is an address, a length, the
// bounds of the buffer, and the number of the source: of an input or, after those, of a
// literal. The bytes of a literal are nowhere in memory; its address is zero.
type kind struct {
	family family
	bits   int
	signed bool
}

// kindOf returns the kind of a type's values; for dictionaries, of the dictionary's
// values.
func kindOf(t arrow.DataType) kind {
	l, err := layout.Of(t)
	if err != nil {
		return kind{}
	}
	bits := 8 * l.Width
	switch l.Stored() {
	case layout.Boolean:
		return kind{boolean, 1, false}
	case layout.Signed:
		return kind{integer, bits, true}
	case layout.Unsigned:
		return kind{integer, bits, false}
	case layout.Float:
		return kind{float, bits, true}
	case layout.Decimal:
		if bits == 128 {
			return kind{decimal, 128, true}
		}
	case layout.Bytes:
		if l.Kind != layout.View {
			return kind{family: text}
		}
	case layout.Encoded:
		if l.Kind == layout.Dictionary {
			return kindOf(l.Dictionary())
		}
	}
	return kind{}
}

// class returns the class of the registers of the values.
func (k kind) class() ptx.Class {
	switch {
	case k.family == boolean:
		return ptx.Predicate
	case k.family == float && k.bits == 64:
		return ptx.Float64
	case k.family == float:
		return ptx.Float32
	case k.family == integer && k.bits < 64:
		return ptx.Word32
	}
	return ptx.Word64
}

// arithmetic returns the type in instructions that compute, such as s32.
func (k kind) arithmetic() string {
	switch {
	case k.family == float:
		return "f" + strconv.Itoa(max(k.bits, 32))
	case k.signed:
		return "s" + strconv.Itoa(max(k.bits, 32))
	}
	return "u" + strconv.Itoa(max(k.bits, 32))
}

// memory returns the type in loads and stores, such as s8.
func (k kind) memory() string {
	switch {
	case k.family == float:
		return "f" + strconv.Itoa(k.bits)
	case k.signed:
		return "s" + strconv.Itoa(k.bits)
	}
	return "u" + strconv.Itoa(k.bits)
}

// bytes returns the width of a value in memory.
func (k kind) bytes() int { return k.bits / 8 }

// lowest and highest return the bounds of an integer.
func (k kind) lowest() int64 {
	lowest, _ := exprtree.IntegerBounds(k.bits, k.signed)
	return lowest
}

func (k kind) highest() uint64 {
	_, highest := exprtree.IntegerBounds(k.bits, k.signed)
	return highest
}

// holds reports whether k can represent every value of another kind of integer.
func (k kind) holds(other kind) bool {
	return k.lowest() <= other.lowest() && k.highest() >= other.highest()
}

// float returns a literal operand of a kind of float.
func (k kind) float(v float64) ptx.Register {
	if k.bits == 64 {
		return ptx.Register(fmt.Sprintf("0d%016X", math.Float64bits(v)))
	}
	return ptx.Register(fmt.Sprintf("0f%08X", math.Float32bits(float32(v))))
}

// registers returns the number of registers of a value.
func (k kind) registers() int {
	switch k.family {
	case decimal:
		return 2
	case text:
		return 5 // address, length, the bounds of the buffer, and the number of the source
	}
	return 1
}
