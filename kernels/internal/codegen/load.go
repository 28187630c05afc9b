package codegen

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/internal/ptx"
)

// place is a row: a register and a number to add.
type place struct {
	row ptx.Register
	add int
}

// loader writes loads. Rows that differ by a number only share their addresses.
type loader struct {
	g         *Generator
	b         *ptx.Builder
	addresses map[string]ptx.Register
	// guard is the predicate under which there is anything to load, or "".
	guard ptx.Register
}

func newLoader(g *Generator, b *ptx.Builder) *loader {
	return &loader{g: g, b: b, addresses: map[string]ptx.Register{}}
}

// load is how values are read. The outputs never share memory with the inputs.
const load = "ld.global.nc."

// once writes a register once for each key.
func (l *loader) once(key string, write func() ptx.Register) ptx.Register {
	r, ok := l.addresses[key]
	if !ok {
		r = write()
		l.addresses[key] = r
	}
	return r
}

// read loads a register, or zero where there is nothing to load.
func (l *loader) read(class ptx.Class, instruction string, address ptx.Register) ptx.Register {
	if l.guard == "" {
		return l.b.Op(class, load+instruction, address)
	}
	register := l.b.Op(class, "mov."+class.Untyped(), class.Zero())
	l.b.Void("@"+string(l.guard)+" "+load+instruction, register, address)
	return register
}

// word is an argument word in a register.
func (l *loader) word(number int) ptx.Register {
	return l.once(fmt.Sprint("w", number), func() ptx.Register {
		return l.b.Op(ptx.Word64, "ld.param.u64", l.g.word(number))
	})
}

// address returns where the value of a row lies, of a column whose values begin at
// the address in a word.
func (l *loader) address(word int, p place, width int) ptx.Register {
	base := l.once(fmt.Sprint("a", word, p.row), func() ptx.Register {
		if width&(width-1) != 0 {
			return l.b.Op(ptx.Word64, "mad.lo.u64", p.row, ptx.Register(fmt.Sprint(width)), l.word(word))
		}
		offset := p.row
		if shift := log2(width); shift > 0 {
			offset = l.b.Op(ptx.Word64, "shl.b64", p.row, ptx.Register(fmt.Sprint(shift)))
		}
		return l.b.Op(ptx.Word64, "add.s64", l.word(word), offset)
	})
	return at(base, p.add*width)
}

func at(base ptx.Register, bytes int) ptx.Register {
	if bytes == 0 {
		return "[" + base + "]"
	}
	return ptx.Register(fmt.Sprintf("[%s+%d]", base, bytes))
}

func log2(width int) (shift int) {
	for ; width > 1; width /= 2 {
		shift++
	}
	return shift
}

// bit is a loaded word and the mask of one of its bits. It is tested only where it
// is used: a test here would wait for one load ahead of the next.
type bit struct{ word, mask ptx.Register }

// test is the predicate of the bit's being set.
func (t *bit) test(b *ptx.Builder) ptx.Register {
	return b.Op(ptx.Predicate, "setp.ne.u32", b.Op(ptx.Word32, "and.b32", t.word, t.mask), "0")
}

// loaded is what was loaded of an input: value lacks the predicates of bits.
type loaded struct {
	value           Value
	validity, truth *bit
	// dictionary says that value is of a dictionary, and codes is then the predicate
	// of the code's being not null, or "": the value that it names may be null.
	dictionary bool
	codes      ptx.Register
}

// settle tests the bits.
func (l loaded) settle(b *ptx.Builder) Value {
	v := l.value
	if l.validity != nil {
		v.Valid = both(b, v.Valid, l.validity.test(b))
	}
	if l.truth != nil {
		v.Registers = []ptx.Register{l.truth.test(b)}
	}
	return v
}

// bit loads the bit of a row: the bits begin at the address in a word, with the bit
// whose number is in the next.
func (l *loader) bit(word int, bits Bits, p place) *bit {
	unit, instruction := 32, "u32"
	if bits == ByteBits {
		unit, instruction = 8, "u8"
	}
	row := p.row
	if p.add%unit != 0 {
		row = l.once(fmt.Sprint("r", p), func() ptx.Register {
			return l.b.Op(ptx.Word64, "add.s64", p.row, ptx.Register(fmt.Sprint(p.add)))
		})
		p.add = 0
	}
	position := func() ptx.Register {
		return l.once(fmt.Sprint("p", word, row), func() ptx.Register {
			return l.b.Op(ptx.Word64, "add.s64", row, l.word(word+1))
		})
	}
	base := l.once(fmt.Sprint("b", word, row), func() ptx.Register {
		offset := l.b.Op(ptx.Word64, "shr.u64", position(), ptx.Register(fmt.Sprint(log2(unit))))
		if unit == 32 {
			offset = l.b.Op(ptx.Word64, "shl.b64", offset, "2")
		}
		return l.b.Op(ptx.Word64, "add.s64", l.word(word), offset)
	})
	mask := l.once(fmt.Sprint("m", word, row), func() ptx.Register {
		low := l.b.Op(ptx.Word32, "cvt.u32.u64", position())
		low = l.b.Op(ptx.Word32, "and.b32", low, ptx.Register(fmt.Sprint(unit-1)))
		return l.b.Op(ptx.Word32, "shl.b32", "1", low)
	})
	return &bit{l.read(ptx.Word32, instruction, at(base, p.add/8)), mask}
}

// load loads what of an input can be addressed by the row.
func (l *loader) load(input int, p place) loaded {
	return l.column(l.g.program.Types[input], l.g.shape.Inputs[input], l.g.layout.inputs[input], p)
}

func (l *loader) column(t arrow.DataType, shape Input, words inputWords, p place) loaded {
	r := loaded{value: Value{Type: t, kind: kindOf(t)}}
	if shape.Validity != NoBits {
		r.validity = l.bit(words.validity, shape.Validity, p)
	}
	v := &r.value
	if dictionary, ok := storage(t).(*arrow.DictionaryType); ok {
		v.kind = kindOf(dictionary.IndexType)
	}
	v.Class = v.kind.class()
	switch v.kind.family {
	case boolean:
		r.truth = l.bit(words.bits, shape.Values, p)
	case text:
		v.Registers = l.text(t, words, p)
	case unknown:
	default:
		v.Registers = l.fixed(v.kind, shape, words.values, p)
	}
	return r
}

// fixed loads a number.
func (l *loader) fixed(k kind, shape Input, word int, p place) []ptx.Register {
	address := l.address(word, p, k.bytes())
	switch {
	case k.family == decimal && shape.Wide && l.guard == "":
		low, high := l.b.Register(ptx.Word64), l.b.Register(ptx.Word64)
		l.b.Void(load+"v2.u64", "{"+low+", "+high+"}", address)
		return []ptx.Register{low, high}
	case k.family == decimal:
		high := at(l.once(fmt.Sprint("a", word, p.row), nil), p.add*16+8)
		return []ptx.Register{l.read(ptx.Word64, "u64", address), l.read(ptx.Word64, "u64", high)}
	case k.family == float && k.bits == 16:
		half := l.read(ptx.Word16, "b16", address)
		return []ptx.Register{l.b.Op(ptx.Float32, "cvt.f32.f16", half)}
	}
	return []ptx.Register{l.read(k.class(), k.memory(), address)}
}

// text loads where a string lies and its length, and where the buffer begins and
// ends that it lies in.
func (l *loader) text(t arrow.DataType, words inputWords, p place) []ptx.Register {
	begin, end := l.word(words.data), l.word(words.data+1)
	if fixed, ok := storage(t).(*arrow.FixedSizeBinaryType); ok {
		row := p.row
		if p.add != 0 {
			row = l.b.Op(ptx.Word64, "add.s64", row, number(p.add))
		}
		address := l.b.Op(ptx.Word64, "mad.lo.u64", row, number(fixed.ByteWidth), begin)
		return []ptx.Register{address, l.b.Op(ptx.Word64, "mov.u64", number(fixed.ByteWidth)), begin, end}
	}
	width, instruction := 4, "s32"
	if id := storage(t).ID(); id == arrow.LARGE_STRING || id == arrow.LARGE_BINARY {
		width, instruction = 8, "u64"
	}
	address := l.address(words.offsets, p, width)
	// A load into a wider register extends what it loads.
	first := l.read(ptx.Word64, instruction, address)
	next := l.read(ptx.Word64, instruction, at(l.once(fmt.Sprint("a", words.offsets, p.row), nil), (p.add+1)*width))
	return []ptx.Register{l.b.Op(ptx.Word64, "add.s64", begin, first), l.b.Op(ptx.Word64, "sub.s64", next, first), begin, end}
}

// finish loads what can only be addressed by what load has loaded: the values of
// a dictionary, by their codes. A null's code may be anything; a code that names no
// value counts as null.
func (l *loader) finish(input int, r loaded) loaded {
	t, shape, words := l.g.program.Types[input], l.g.shape.Inputs[input], l.g.layout.inputs[input]
	dictionary, ok := storage(t).(*arrow.DictionaryType)
	if !ok {
		return r
	}
	v := r.settle(l.b)
	code := v.Registers[0]
	if v.Class == ptx.Word32 {
		code = l.b.Op(ptx.Word64, "cvt."+widened(v.kind)+"."+v.kind.arithmetic(), code)
	}
	index := both(l.b, v.Valid, l.b.Op(ptx.Predicate, "setp.lt.u64", code, l.word(words.length)))
	l.guard = index
	r = l.column(dictionary.ValueType, *shape.Dictionary, *words.dictionary, place{row: code})
	l.guard = ""
	r.value.Type, r.value.Valid = t, index
	r.dictionary, r.codes = true, v.Valid
	return r
}

func widened(k kind) string {
	if k.signed {
		return "s64"
	}
	return "u64"
}

// both is the predicate that two hold, either of which may be "".
func both(b *ptx.Builder, x, y ptx.Register) ptx.Register {
	switch {
	case x == "" || x == y:
		return y
	case y == "":
		return x
	}
	return b.Op(ptx.Predicate, "and.pred", x, y)
}
