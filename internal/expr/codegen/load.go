package codegen

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// rowIndex is a row: a register and a number to add.
type rowIndex struct {
	row ptx.Register
	add int
	// short means that the row is in a 32-bit register, which saves instructions.
	short bool
	// inside is the predicate that the row exists, or "" for always.
	inside ptx.Register
	// packed means that the row is in a group of eight consecutive ones: the number to
	// add is row%8 more than that of the group. inside is then of the group.
	packed bool
}

// loader writes loads. Rows that differ by a constant share their addresses.
type loader struct {
	g         *Generator
	b         *ptx.Builder
	addresses map[string]ptx.Register
	// guard is the predicate that the row to load exists, or "".
	guard ptx.Register
	// given are registers with the bits of an input's values, by row, or nil.
	given map[rowIndex]ptx.Register
}

func newLoader(g *Generator, b *ptx.Builder) *loader {
	return &loader{g: g, b: b, addresses: map[string]ptx.Register{}}
}

// load reads through the non-coherent cache, because outputs never share memory with
// inputs.
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

// nothing returns a new register to load into, set to zero if the load is guarded.
func (l *loader) nothing(class ptx.Class) ptx.Register { return l.absent(class, class.Zero()) }

// absent returns a new register to load into, set to a value if the load is guarded.
func (l *loader) absent(class ptx.Class, value ptx.Register) ptx.Register {
	if l.guard == "" {
		return l.b.Register(class)
	}
	return l.b.Op(class, "mov."+class.Untyped(), value)
}

// when begins an instruction that loads.
func (l *loader) when() string {
	if l.guard == "" {
		return ""
	}
	return "@" + string(l.guard) + " "
}

// read loads a register, or zero if the guard is false.
func (l *loader) read(class ptx.Class, instruction string, address ptx.Register) ptx.Register {
	register := l.nothing(class)
	l.b.Void(l.when()+load+instruction, register, address)
	return register
}

// word returns an argument word in a register.
func (l *loader) word(number int) ptx.Register { return l.argument(ptx.Word64, "u64", number) }

// argument returns the first bytes of an argument word in a register, loaded once.
func (l *loader) argument(class ptx.Class, as string, number int) ptx.Register {
	return l.once(fmt.Sprint("w", number, as), func() ptx.Register {
		return l.b.Op(class, "ld.param."+as, l.g.word(number))
	})
}

// address returns the address of a row's value in a column with values from the address
// in a word.
func (l *loader) address(word int, p rowIndex, width int) ptx.Register {
	base := l.once(fmt.Sprint("a", word, p.row), func() ptx.Register {
		if p.short {
			return l.b.Op(ptx.Word64, "mad.wide.u32", p.row, number(width), l.word(word))
		}
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

// loaded is the loaded part of an input. The predicates of its bits are not tested yet.
type loaded struct {
	value           Value
	validity, truth *bit
	// element is the value before it is extracted from a group, or nil.
	element *element
	// dictionary means that value is of a dictionary. codes is then the predicate that
	// the code is not null, or ""; the value that the code refers to may be null.
	dictionary bool
	codes      ptx.Register
}

// extract tests the bits and extracts the value.
func (l loaded) extract(b *ptx.Builder) Value {
	v := l.value
	if l.validity != nil {
		v.Valid = b.Both(v.Valid, l.validity.test(b))
	}
	if l.truth != nil {
		v.Registers = []ptx.Register{l.truth.test(b)}
	}
	if l.element != nil {
		v.Registers = []ptx.Register{l.element.extract(b)}
	}
	return v
}

// plus returns the number of a row in one register.
func (l *loader) plus(p rowIndex) ptx.Register {
	switch {
	case p.add == 0:
		return p.row
	case p.short:
		return l.b.Op(ptx.Word32, "add.u32", p.row, number(p.add))
	}
	return l.b.Op(ptx.Word64, "add.s64", p.row, number(p.add))
}

// load loads the parts of an input that the row number addresses.
func (l *loader) load(input int, p rowIndex) loaded {
	l.guard = p.inside
	defer func() { l.guard = "" }()
	if given, ok := l.given[p]; ok && input == l.g.given-1 {
		if r, ok := l.take(input, given, p); ok {
			return r
		}
	}
	return l.column(l.g.program.Types[input], l.g.shape.Inputs[input], l.g.positions.inputs[input], p)
}

// take is load for a value with its bits in a register, if it is a number of the same
// width. Other values are loaded even if they are given.
func (l *loader) take(input int, given ptx.Register, p rowIndex) (loaded, bool) {
	t, shape := l.g.program.Types[input], l.g.shape.Inputs[input]
	k := kindOf(t)
	if shape.Dictionary != nil || k.family != integer && k.family != float || k.bits != 32 && k.bits != 64 {
		return loaded{}, false
	}
	r := loaded{value: Value{Type: t, kind: k, Class: k.class()}}
	if shape.Validity != NoBits {
		r.validity = l.valid(l.g.positions.inputs[input].validity, shape, p)
	}
	r.value.Registers = []ptx.Register{l.b.Op(k.class(), fmt.Sprint("mov.b", k.bits), given)}
	return r, true
}

func (l *loader) column(t arrow.DataType, shape Input, words inputWords, p rowIndex) loaded {
	r := loaded{value: Value{Type: t, kind: kindOf(t)}}
	if shape.Validity != NoBits {
		r.validity = l.valid(words.validity, shape, p)
	}
	v := &r.value
	if dictionary, ok := layout.Storage(t).(*arrow.DictionaryType); ok {
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
		if p.packed {
			r.element = l.packed(v.kind, words.values, p)
		} else {
			v.Registers = l.fixed(v.kind, shape, words.values, p)
		}
	}
	return r
}

// fixed loads a number.
func (l *loader) fixed(k kind, shape Input, word int, p rowIndex) []ptx.Register {
	address := l.address(word, p, k.bytes())
	switch {
	case k.family == decimal && shape.Wide:
		low, high := l.nothing(ptx.Word64), l.nothing(ptx.Word64)
		l.b.Void(l.when()+load+"v2.u64", "{"+low+", "+high+"}", address)
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

// text loads the address and the length of a string, and the bounds of its buffer.
func (l *loader) text(t arrow.DataType, words inputWords, p rowIndex) []ptx.Register {
	begin, end := l.word(words.data), l.word(words.data+1)
	if fixed, ok := layout.Storage(t).(*arrow.FixedSizeBinaryType); ok {
		multiply := "mad.lo.u64"
		if p.short {
			multiply = "mad.wide.u32"
		}
		address := l.b.Op(ptx.Word64, multiply, l.plus(p), number(fixed.ByteWidth), begin)
		length := l.b.Op(ptx.Word64, "mov.u64", number(fixed.ByteWidth))
		if l.guard != "" {
			address = l.b.Op(ptx.Word64, "selp.b64", address, begin, l.guard)
			length = l.b.Op(ptx.Word64, "selp.b64", length, "0", l.guard)
		}
		return []ptx.Register{address, length, begin, end}
	}
	width, instruction := 4, "s32"
	if id := layout.Storage(t).ID(); id == arrow.LARGE_STRING || id == arrow.LARGE_BINARY {
		width, instruction = 8, "u64"
	}
	address := l.address(words.offsets, p, width)
	// A load into a wider register extends the value.
	first := l.read(ptx.Word64, instruction, address)
	next := l.read(ptx.Word64, instruction, at(l.once(fmt.Sprint("a", words.offsets, p.row), nil), (p.add+1)*width))
	return []ptx.Register{l.b.Op(ptx.Word64, "add.s64", begin, first), l.b.Op(ptx.Word64, "sub.s64", next, first), begin, end}
}

// finish loads the parts that depend on loaded values: the values of a dictionary, by
// their codes. The code of a null is undefined; a code that refers to no value counts
// as null.
func (l *loader) finish(input int, r loaded) loaded {
	t, shape, words := l.g.program.Types[input], l.g.shape.Inputs[input], l.g.positions.inputs[input]
	dictionary, ok := layout.Storage(t).(*arrow.DictionaryType)
	if !ok {
		return r
	}
	v := r.extract(l.b)
	code := v.Registers[0]
	if v.Class == ptx.Word32 {
		code = l.b.Op(ptx.Word64, "cvt."+widened(v.kind)+"."+v.kind.arithmetic(), code)
	}
	index := l.b.Both(v.Valid, l.b.Op(ptx.Predicate, "setp.lt.u64", code, l.word(words.length)))
	l.guard = index
	r = l.column(dictionary.ValueType, *shape.Dictionary, *words.dictionary, rowIndex{row: code})
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
