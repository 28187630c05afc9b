package numbers

import (
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// Class is the number format of a type.
type Class int

// The classes.
const (
	Signed Class = iota
	Unsigned
	Float
)

// Classes is the number of classes.
const Classes = 3

// Type is the number format of an Arrow type: its class and the bytes of one value.
type Type struct {
	Class Class
	Bytes int
}

// TypeOf returns the number format of an Arrow type. It reports false for types without
// numbers of one, two, four or eight bytes, and for extension types. Dates, times,
// timestamps, durations and intervals of months are signed integers.
func TypeOf(t arrow.DataType) (Type, bool) {
	l, err := layout.Of(t)
	if err != nil || t.ID() == arrow.EXTENSION || l.Width > 8 {
		return Type{}, false
	}
	switch l.Stored() {
	case layout.Signed:
		return Type{Signed, l.Width}, true
	case layout.Unsigned:
		return Type{Unsigned, l.Width}, true
	case layout.Float:
		return Type{Float, l.Width}, true
	}
	return Type{}, false
}

// Index returns the place of the type in a table of all number formats of a class: 0 for
// one byte, 3 for eight.
func (t Type) Index() int { return bits.TrailingZeros(uint(t.Bytes)) }

// Widths is the number of widths of a class.
const Widths = 4

// Bits returns the number of bits of a value.
func (t Type) Bits() int { return 8 * t.Bytes }

// String returns the name that kernels use for the type: i8, u32, f64.
func (t Type) String() string { return fmt.Sprintf("%c%d", "iuf"[t.Class], t.Bits()) }
