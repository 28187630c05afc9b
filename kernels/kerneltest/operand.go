package kerneltest

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// ins is an instruction being compiled.
type ins struct {
	*statement
	c     *compiler
	scope *scope
	left  []string // modifiers not yet understood
	out   instruction
	skip  bool // no code is emitted

	labels     []string
	labelScope *scope
	isReturn   bool
}

func (in *ins) fail(format string, arguments ...any) {
	refuse(in.line, format+": "+in.text, arguments...)
}

// take removes a modifier and reports whether it was present.
func (in *ins) take(modifier string) bool {
	i := slices.Index(in.left, modifier)
	if i < 0 {
		return false
	}
	in.left = slices.Delete(in.left, i, i+1)
	return true
}

// oneOf removes and returns the modifier that is present.
func (in *ins) oneOf(modifiers ...string) string {
	for _, m := range modifiers {
		if in.take(m) {
			return m
		}
	}
	return ""
}

// lastType removes the last modifier, which is a type.
func (in *ins) lastType() typ {
	if len(in.left) == 0 {
		in.fail("the type is missing")
	}
	t, ok := typesByName[in.left[len(in.left)-1]]
	if !ok {
		in.fail("%q is not a type that the emulator knows", in.left[len(in.left)-1])
	}
	in.left = in.left[:len(in.left)-1]
	return t
}

func (in *ins) count(least, most int) {
	if n := len(in.arguments); n < least || n > most {
		in.fail("%d operands, want %d to %d", n, least, most)
	}
}

// fits refuses a register of another width or class than the instruction's.
func (in *ins) fits(reg, want typ, name string) {
	if reg.bits != want.bits {
		in.fail("%s has %d bits, but the instruction has %d", name, reg.bits, want.bits)
	}
	if reg.class != bitsClass && want.class != bitsClass && reg.float() != want.float() {
		in.fail("%s has another class than the instruction's type", name)
	}
}

func (in *ins) register(name string) *symbol {
	s := in.scope.find(name)
	if s == nil || s.kind != registerSymbol {
		in.fail("%s is not a register", name)
	}
	if s.row < 0 {
		s.register, s.row = in.c.newRow()
	}
	return s
}

// read returns a register that the instruction reads.
func (in *ins) read(name string) *symbol {
	s := in.register(name)
	in.c.current.reads = append(in.c.current.reads, s.register)
	return s
}

// newRow returns the number of the next register, and the row that it is assigned to.
func (c *compiler) newRow() (register, row int32) {
	register = c.registers
	c.registers++
	if c.assigned == nil {
		return register, register
	}
	return register, c.assigned.rows[register]
}

// destination returns the row of a written register of exactly the type's width.
func (in *ins) destination(a argument, t typ) int32 {
	s := in.wideDestination(a, t)
	if s != nil {
		in.fits(s.typ, t, a.name)
		return s.row
	}
	return in.sinkRow()
}

func (in *ins) sinkRow() int32 {
	if in.c.sink < 0 {
		in.c.sinkRegister, in.c.sink = in.c.newRow()
	}
	in.c.current.writes = append(in.c.current.writes, in.c.sinkRegister)
	return in.c.sink
}

// wideDestination returns a destination register, which may be wider than the type, or
// nil for the sink _.
func (in *ins) wideDestination(a argument, t typ) *symbol {
	if a.kind != nameArgument || a.not || a.pair != "" || a.offset != 0 {
		in.fail("the destination is not a register")
	}
	if a.name == "_" {
		return nil
	}
	s := in.register(a.name)
	if s.typ.bits < t.bits {
		in.fail("%s has %d bits, but the instruction has %d", a.name, s.typ.bits, t.bits)
	}
	in.c.current.writes = append(in.c.current.writes, s.register)
	return s
}

// source returns a read operand of exactly the type's width.
func (in *ins) source(a argument, t typ) source { return in.sourceOf(a, t, false) }

// wideSource returns a read operand; its register may be wider than the type.
func (in *ins) wideSource(a argument, t typ) source { return in.sourceOf(a, t, true) }

func (in *ins) sourceOf(a argument, t typ, wide bool) source {
	switch {
	case a.kind == numberArgument:
		return constant(in.number(a.number, t) & t.mask())
	case a.kind != nameArgument || a.not || a.pair != "":
		in.fail("unsupported form of operand")
	}
	if s, ok := in.specialRegister(a.name, t); ok {
		return s
	}
	s := in.scope.find(a.name)
	if s == nil {
		s = in.c.moduleShared(a.name)
	}
	if s == nil {
		in.fail("%s is not declared", a.name)
	}
	switch s.kind {
	case registerSymbol:
		if a.offset != 0 {
			in.fail("a register with an offset")
		}
		in.read(a.name)
		if wide && s.typ.bits > t.bits {
			return source{row: s.row}
		}
		in.fits(s.typ, t, a.name)
		return source{row: s.row}
	case predicateSymbol, targetsSymbol:
		in.fail("%s is not a value", a.name)
	}
	if t.bits < 32 {
		in.fail("an address does not fit")
	}
	return in.addressOf(s, a.offset, t.mask())
}

// addressOf returns the address of a variable in its own space.
func (in *ins) addressOf(s *symbol, offset int64, mask uint64) source {
	address := s.address
	switch {
	case s.kind == localParameterSymbol:
		address += callParameters
	case s.kind == sharedSymbol && s.address == dynamicShared:
		// The address is known when the whole kernel is compiled; see warp.start.
		return in.c.specialSource("dynamic shared"+strconv.FormatInt(offset, 10), func(w *warp, _ int) uint64 {
			return (uint64(w.block.dynamicAt) + uint64(offset)) & mask
		})
	}
	return constant((address + uint64(offset)) & mask)
}

func (c *compiler) specialSource(key string, value func(w *warp, lane int) uint64) source {
	s, ok := c.special[key]
	if !ok {
		s.register, s.row = c.newRow()
		c.special[key] = s
		c.out.fill = append(c.out.fill, specialRow{s.row, value})
	}
	c.current.reads = append(c.current.reads, s.register)
	return source{row: s.row}
}

// number returns an immediate as the bits of a type.
func (in *ins) number(text string, t typ) uint64 {
	sign, digits := "", text
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		sign, digits = text[:1], text[1:]
	}
	var value float64
	isFloat := false
	lower := strings.ToLower(digits)
	switch {
	case strings.HasPrefix(lower, "0f") && len(digits) == 10:
		bits, err := strconv.ParseUint(digits[2:], 16, 32)
		if err != nil {
			in.fail("%q is not a number", text)
		}
		if sign == "" && (t.bits == 32) {
			return bits
		}
		value, isFloat = float64(math.Float32frombits(uint32(bits))), true
	case strings.HasPrefix(lower, "0d") && len(digits) == 18:
		bits, err := strconv.ParseUint(digits[2:], 16, 64)
		if err != nil {
			in.fail("%q is not a number", text)
		}
		if sign == "" && t.bits == 64 {
			return bits
		}
		value, isFloat = math.Float64frombits(bits), true
	case !strings.HasPrefix(lower, "0x") && strings.ContainsAny(digits, ".eE"):
		var err error
		if value, err = strconv.ParseFloat(digits, 64); err != nil {
			in.fail("%q is not a number", text)
		}
		isFloat = true
	}
	if !isFloat {
		n, err := strconv.ParseUint(strings.TrimSuffix(digits, "U"), 0, 64)
		if err != nil {
			in.fail("%q is not a number", text)
		}
		if t.float() {
			in.fail("%q is an integer; expected a %d-bit float", text, t.bits)
		}
		if sign == "-" {
			n = -n
		}
		return n
	}
	if sign == "-" {
		value = -value
	}
	switch {
	case t.float() && t.bits == 32, t.class == bitsClass && t.bits == 32:
		return uint64(math.Float32bits(float32(value)))
	case t.float() && t.bits == 64, t.class == bitsClass && t.bits == 64:
		return math.Float64bits(value)
	}
	in.fail("%q does not fit the instruction's type", text)
	return 0
}

// predicate returns a read predicate operand.
func (in *ins) predicate(a argument) predicate {
	if a.kind == numberArgument {
		if in.number(a.number, typ{bitsClass, 32}) != 0 {
			return predicate{row: -1, value: everyLane}
		}
		return predicate{row: -1}
	}
	if a.kind != nameArgument || a.pair != "" {
		in.fail("expected a predicate")
	}
	return predicate{row: in.predicateRow(a.name), not: a.not}
}

// predicateDestination returns the row of a written predicate.
func (in *ins) predicateDestination(name string) int32 {
	if name == "_" {
		in.c.out.predicateRows++
		return int32(in.c.out.predicateRows - 1)
	}
	return in.predicateRow(name)
}

func (in *ins) predicateRow(name string) int32 {
	s := in.scope.find(name)
	if s == nil || s.kind != predicateSymbol {
		in.fail("%s is not a predicate", name)
	}
	if s.row < 0 {
		s.row = int32(in.c.out.predicateRows)
		in.c.out.predicateRows++
	}
	return s.row
}

// wideRow returns the row and the width of a destination that may be wider than the
// type. The sink _ has a row too.
func (in *ins) wideRow(a argument, t typ) (row int32, width int) {
	if s := in.wideDestination(a, t); s != nil {
		return s.row, s.typ.bits
	}
	return in.sinkRow(), 64
}
