package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// Class is the class of a register: the kind of values that it holds.
type Class uint8

// The classes of registers. Word16 also holds values of eight bits, as PTX specifies.
const (
	Predicate Class = iota
	Word16
	Word32
	Word64
	Float32
	Float64
	classes
)

var declared = [classes]struct{ kind, name string }{
	Predicate: {".pred", "p"},
	Word16:    {".b16", "h"},
	Word32:    {".b32", "r"},
	Word64:    {".b64", "d"},
	Float32:   {".f32", "f"},
	Float64:   {".f64", "e"},
}

// Untyped returns the type of the class for instructions that move bits.
func (c Class) Untyped() string { return declared[c].kind[1:] }

// Zero returns the zero of the class as an operand.
func (c Class) Zero() Register {
	switch c {
	case Float32:
		return "0f00000000"
	case Float64:
		return "0d0000000000000000"
	}
	return "0"
}

// Register is the name of a register, such as %x_r3, or another operand, such as an
// immediate.
type Register string

// Builder collects instructions. The zero Builder is not ready: use [New].
type Builder struct {
	prefix string
	code   strings.Builder
	count  [classes]int
	labels int
}

// New returns a builder. Its registers and labels begin with the prefix, which must be
// unique in the scope and consist of letters.
func New(prefix string) *Builder { return &Builder{prefix: prefix} }

// Register returns a new register.
func (b *Builder) Register(class Class) Register {
	b.count[class]++
	return Register(fmt.Sprintf("%%%s_%s%d", b.prefix, declared[class].name, b.count[class]-1))
}

// Emit adds an instruction, without its semicolon: Emit("add.s32 %s, %s, 1", d, a).
func (b *Builder) Emit(format string, arguments ...any) {
	b.code.WriteByte('\t')
	fmt.Fprintf(&b.code, format, arguments...)
	b.code.WriteString(";\n")
}

// Op adds an instruction that writes a new register of a class, and returns the
// register: Op(Word32, "add.s32", a, "1").
func (b *Builder) Op(class Class, instruction string, operands ...Register) Register {
	result := b.Register(class)
	b.code.WriteByte('\t')
	b.code.WriteString(instruction)
	b.code.WriteByte(' ')
	b.code.WriteString(string(result))
	for _, operand := range operands {
		b.code.WriteString(", ")
		b.code.WriteString(string(operand))
	}
	b.code.WriteString(";\n")
	return result
}

// Both returns the conjunction of two predicates, either of which may be "" for always.
func (b *Builder) Both(x, y Register) Register {
	switch {
	case x == "":
		return y
	case y == "" || x == y:
		return x
	}
	return b.Op(Predicate, "and.pred", x, y)
}

// Label returns a new label.
func (b *Builder) Label() string {
	b.labels++
	return fmt.Sprintf("$%s_%d", b.prefix, b.labels-1)
}

// Place puts a label here.
func (b *Builder) Place(label string) {
	b.code.WriteString(label)
	b.code.WriteString(":\n")
}

// Void adds an instruction that writes no register: Void("st.global.b32", "[%d1]", r).
func (b *Builder) Void(instruction string, operands ...Register) {
	b.code.WriteByte('\t')
	b.code.WriteString(instruction)
	for i, operand := range operands {
		b.code.WriteString([]string{" ", ", "}[min(i, 1)])
		b.code.WriteString(string(operand))
	}
	b.code.WriteString(";\n")
}

// Move writes a register that exists.
func (b *Builder) Move(instruction string, to Register, operands ...Register) {
	b.Void(instruction, append([]Register{to}, operands...)...)
}

// Call calls a function with parameters of 64 bits; operands must have 64 bits too. The
// function returns nothing, one value of 64 bits, or a struct of several, in results.
func (b *Builder) Call(name string, results []Register, operands ...Register) {
	b.code.WriteString("\t{\n")
	var in []string
	for i, operand := range operands {
		in = append(in, fmt.Sprintf("param%d", i))
		b.Emit(".param .b64 param%d", i)
		b.Emit("st.param.b64 [param%d], %s", i, operand)
	}
	to := "(result), "
	switch len(results) {
	case 0:
		to = ""
	case 1:
		b.Emit(".param .b64 result")
	default:
		b.Emit(".param .align 8 .b8 result[%d]", 8*len(results))
	}
	b.Emit("call %s%s, (%s)", to, name, strings.Join(in, ", "))
	for i, result := range results {
		b.Emit("ld.param.b64 %s, [result+%d]", result, 8*i)
	}
	b.code.WriteString("\t}\n")
}

// Branch jumps to a label if the predicate is true, or always for "". A leading !
// negates the predicate.
func (b *Builder) Branch(when Register, label string) {
	if when == "" {
		b.Emit("bra %s", label)
		return
	}
	b.Emit("@%s bra %s", when, label)
}

// Comment adds a comment line. It escapes characters outside ASCII, because the driver
// refuses them, even in comments.
func (b *Builder) Comment(format string, arguments ...any) {
	text := strconv.QuoteToASCII(fmt.Sprintf(format, arguments...))
	fmt.Fprintf(&b.code, "\t// %s\n", text[1:len(text)-1])
}

// Declarations returns the declarations of all registers.
func (b *Builder) Declarations() string {
	var s strings.Builder
	for class, n := range b.count {
		if n > 0 {
			fmt.Fprintf(&s, "\t.reg %s %%%s_%s<%d>;\n", declared[class].kind, b.prefix, declared[class].name, n)
		}
	}
	return s.String()
}

// Code returns the instructions.
func (b *Builder) Code() string { return b.code.String() }

// Scope returns declarations and instructions in braces, for use in any function.
func (b *Builder) Scope() string { return "{\n" + b.Declarations() + b.Code() + "}\n" }
