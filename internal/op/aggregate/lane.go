package aggregate

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// Lane is the accumulator of one lane, in registers.
type Lane struct {
	kind Kind
	form Form
	// state is the registers. Their number and classes depend on the kind.
	state []ptx.Register
}

// NewLane writes the registers of a lane without rows. Values have the form; Count
// takes no values.
func NewLane(b *ptx.Builder, kind Kind, form Form) *Lane {
	l := &Lane{kind: kind, form: form}
	switch kind {
	case Count, CountTrue:
		l.start(b, ptx.Word32, "mov.u32", "0")
	case Moments: // count, shift, sum, sum of squares
		l.start(b, ptx.Word32, "mov.u32", "0")
		for range 3 {
			l.start(b, ptx.Word64, "mov.b64", "0")
		}
	case MinSigned, MaxSigned, MinUnsigned, MaxUnsigned, MinFloat, MaxFloat:
		l.startExtreme(b)
	default:
		for _, word := range kind.identity() {
			l.start(b, ptx.Word64, "mov.b64", immediate(word))
		}
	}
	return l
}

func (l *Lane) start(b *ptx.Builder, class ptx.Class, instruction string, value ptx.Register) {
	l.state = append(l.state, b.Op(class, instruction, value))
}

// startExtreme keeps the state as narrow as the values, so that the GPU has
// instructions for it.
func (l *Lane) startExtreme(b *ptx.Builder) {
	switch l.form {
	case Signed32, Unsigned32:
		narrow := map[Kind]string{MinSigned: "0x7fffffff", MaxSigned: "0x80000000", MinUnsigned: "0xffffffff", MaxUnsigned: "0"}
		l.start(b, ptx.Word32, "mov.b32", ptx.Register(narrow[l.kind]))
	case Float32:
		l.start(b, ptx.Float32, "mov.f32", "0f7FC00000")
	default:
		l.start(b, ptx.Word64, "mov.b64", immediate(l.kind.identity()[0]))
	}
}

// immediate returns a word as an operand.
func immediate(word uint64) ptx.Register { return ptx.Register(fmt.Sprintf("0x%x", word)) }

// Add writes the addition of one row: its value, its number, and the predicate that it
// is included, or "" for always. The row numbers of a lane ascend.
func (l *Lane) Add(b *ptx.Builder, value []ptx.Register, row, keep ptx.Register) {
	s := l.state
	switch l.kind {
	case Count:
		emitIf(b, keep, "add.u32 %s, %s, 1", s[0], s[0])
	case CountTrue:
		emitIf(b, b.Both(keep, value[0]), "add.u32 %s, %s, 1", s[0], s[0])
	case SumInteger:
		x := wideInteger(b, l.form, value[0])
		emitIf(b, keep, "add.s64 %s, %s, %s", s[0], s[0], x)
	case ProductInteger:
		x := wideInteger(b, l.form, value[0])
		emitIf(b, keep, "mul.lo.s64 %s, %s, %s", s[0], s[0], x)
	case SumWide:
		l.addWide(b, value[0], keep)
	case SumDecimal:
		sign := b.Op(ptx.Word64, "shr.s64", value[1], "63")
		emitIf(b, keep, "add.cc.u64 %s, %s, %s", s[0], s[0], value[0])
		emitIf(b, keep, "addc.cc.u64 %s, %s, %s", s[1], s[1], value[1])
		emitIf(b, keep, "addc.u64 %s, %s, %s", s[2], s[2], sign)
	case SumFloat:
		b.Emit("add.rn.f64 %s, %s, %s", s[0], s[0], wideFloat(b, l.form, orNothing(b, l.form, value[0], keep)))
	case ProductFloat:
		emitIf(b, keep, "mul.rn.f64 %s, %s, %s", s[0], s[0], wideFloat(b, l.form, value[0]))
	case MinSigned, MaxSigned, MinUnsigned, MaxUnsigned, MinFloat, MaxFloat:
		emitIf(b, keep, "%s.%s %s, %s, %s", l.kind.extreme(), l.form.name(), s[0], s[0], value[0])
	case MinWide, MaxWide:
		take := b.Both(keep, lessWide(b, l.kind == MaxWide, value, s))
		moveIf(b, take, s, value)
	case Moments:
		l.addMoments(b, wideFloat(b, l.form, value[0]), keep)
	default:
		l.addFirst(b, value, row, keep)
	}
}

// addWide adds an integer with carry.
func (l *Lane) addWide(b *ptx.Builder, value, keep ptx.Register) {
	s, low, high := l.state, wideInteger(b, l.form, value), ptx.Register("0")
	if l.form == Signed32 || l.form == Signed64 {
		high = b.Op(ptx.Word64, "shr.s64", low, "63")
	}
	emitIf(b, keep, "add.cc.u64 %s, %s, %s", s[0], s[0], low)
	emitIf(b, keep, "addc.u64 %s, %s, %s", s[1], s[1], high)
}

// addMoments sums the deviations from the lane's first value, and their squares. If the
// spread of the data is small so are these deviations, so little precision is lost when
// the squares are shifted to the mean at the end.
func (l *Lane) addMoments(b *ptx.Builder, x, keep ptx.Register) {
	count, shift, sum, squares := l.state[0], l.state[1], l.state[2], l.state[3]
	first := b.Both(keep, b.Op(ptx.Predicate, "setp.eq.u32", count, "0"))
	emitIf(b, first, "mov.b64 %s, %s", shift, x)
	distance := b.Op(ptx.Word64, "sub.rn.f64", x, shift)
	square := b.Op(ptx.Word64, "mul.rn.f64", distance, distance)
	emitIf(b, keep, "add.rn.f64 %s, %s, %s", sum, sum, distance)
	emitIf(b, keep, "add.rn.f64 %s, %s, %s", squares, squares, square)
	emitIf(b, keep, "add.u32 %s, %s, 1", count, count)
}

func (l *Lane) addFirst(b *ptx.Builder, value []ptx.Register, row, keep ptx.Register) {
	candidate := append(key(b, l.kind, l.form, value), row)
	moveIf(b, b.Both(keep, before(b, candidate, l.state)), l.state, candidate)
}

// Partial writes the lane's partial and returns its words.
func (l *Lane) Partial(b *ptx.Builder) []ptx.Register {
	s := l.state
	switch l.kind {
	case Count, CountTrue:
		return []ptx.Register{b.Op(ptx.Word64, "cvt.u64.u32", s[0])}
	case MinSigned, MaxSigned, MinUnsigned, MaxUnsigned:
		return []ptx.Register{wideInteger(b, l.form, s[0])}
	case MinFloat, MaxFloat:
		return []ptx.Register{wideFloat(b, l.form, s[0])}
	case Moments:
		return l.partialMoments(b)
	}
	return s
}

// partialMoments shifts the sum of squares to the mean. Without values all three words
// are zero.
func (l *Lane) partialMoments(b *ptx.Builder) []ptx.Register {
	count, shift, sum, squares := l.state[0], l.state[1], l.state[2], l.state[3]
	divisor := b.Op(ptx.Word64, "cvt.rn.f64.u32", b.Op(ptx.Word32, "max.u32", count, "1"))
	// A tiny or infinite sum gives an imprecise quotient, without an effect on the
	// variance.
	distance := divideWhole(b, sum, divisor)
	mean := b.Op(ptx.Word64, "add.rn.f64", shift, distance)
	squares = b.Op(ptx.Word64, "sub.rn.f64", squares, b.Op(ptx.Word64, "mul.rn.f64", sum, distance))
	negative := b.Op(ptx.Predicate, "setp.lt.f64", squares, zero)
	squares = b.Op(ptx.Word64, "selp.b64", "0", squares, negative)
	return []ptx.Register{b.Op(ptx.Word64, "cvt.u64.u32", count), mean, squares}
}

const zero = ptx.Register("0d0000000000000000")
