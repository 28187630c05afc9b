package kerneltest

import (
	"slices"
)

type symbolKind uint8

const (
	registerSymbol symbolKind = iota
	predicateSymbol
	kernelParameterSymbol
	localParameterSymbol // a parameter of a call, in local memory
	sharedSymbol
	localSymbol
	globalSymbol
	targetsSymbol
)

type symbol struct {
	kind     symbolKind
	typ      typ
	row      int32 // −1 until it is used
	register int32 // its number, if it has a row
	address  uint64
	bytes    int
	targets  []string
	scope    *scope
}

// scope holds the declarations of one block in braces.
type scope struct {
	parent  *scope
	symbols map[string]*symbol
	labels  map[string]int32
	// call is the instance of the function that the scope is of.
	call *call
}

// call is an instance of a function: the kernel, or an inlined function.
type call struct {
	outer    *call
	function *function
	// returns are the branches to the end of the instance.
	returns []int
}

func (s *scope) find(name string) *symbol {
	for ; s != nil; s = s.parent {
		if declared := s.symbols[name]; declared != nil {
			return declared
		}
	}
	return nil
}

func (s *scope) label(name string) (int32, bool) {
	for ; s != nil; s = s.parent {
		if at, ok := s.labels[name]; ok {
			return at, true
		}
	}
	return 0, false
}

func newScope(parent *scope, caller *call) *scope {
	return &scope{parent: parent, symbols: map[string]*symbol{}, labels: map[string]int32{}, call: caller}
}

type fixup struct {
	at     int
	scope  *scope
	labels []string
	many   bool
	line   int
}

type compiler struct {
	module  *module
	globals map[string]*symbol
	shared  map[string]*symbol
	out     *program
	fixups  []fixup
	special map[string]struct{ register, row int32 }

	// sink is the row of results that nothing reads, −1 until it is used.
	sink, sinkRegister int32
	registers          int32
	// assigned is nil in the first pass: each register then has a row.
	assigned *assignment
	// current are the registers of the instruction at hand, all those of the emitted ones.
	current registerUse
	all     []registerUse
}

// compile compiles a kernel to a program. globals holds the addresses of module
// variables.
func compile(m *module, globals map[string]*symbol, f *function) (out *program, err error) {
	defer recovered(&err)
	first := pass(m, globals, f, nil)
	rows := assignRows(first.out.code, first.all, int(first.registers), first.out.fill)
	out = pass(m, globals, f, &rows).out
	out.rows, out.undefined = rows.count, rows.undefined
	return out, nil
}

// pass compiles a kernel with assigned rows, or with a row for each register.
func pass(m *module, globals map[string]*symbol, f *function, assigned *assignment) *compiler {
	c := &compiler{
		module: m, globals: globals, shared: map[string]*symbol{}, special: map[string]struct{ register, row int32 }{}, assigned: assigned, sink: -1,
		out: &program{name: f.name, maxThreads: f.maxThreads, required: f.required, version: m.version},
	}
	top := newScope(nil, nil)
	for name, s := range globals {
		top.symbols[name] = s
	}
	inner := newScope(top, &call{function: f})
	offset := 0
	for i := range f.parameters {
		p := &f.parameters[i]
		if p.register {
			refuse(p.line, "a kernel's parameter %s is a register", p.name)
		}
		offset = roundUp(offset, p.align)
		inner.symbols[p.name] = &symbol{kind: kernelParameterSymbol, typ: p.typ, address: uint64(offset), bytes: p.bytes()}
		c.out.parameters = append(c.out.parameters, placed{offset, p.bytes()})
		offset += p.bytes()
	}
	c.out.parameterBytes = offset
	c.body(inner)
	c.emit(instruction{kind: leave, guard: -1, line: f.last, text: "ret at the end of the function"})
	c.resolve()
	c.out.localBytes = roundUp(c.out.localBytes, 16)
	return c
}

func roundUp(n, unit int) int {
	if unit <= 1 {
		return n
	}
	return (n + unit - 1) / unit * unit
}

func (c *compiler) emit(i instruction) int {
	c.out.code = append(c.out.code, i)
	c.all = append(c.all, c.current)
	c.current = registerUse{}
	return len(c.out.code) - 1
}

func (c *compiler) here() int32 { return int32(len(c.out.code)) }

// body compiles the statements of the scope's function.
func (c *compiler) body(s *scope) {
	outermost := s
	for i := range s.call.function.body {
		st := &s.call.function.body[i]
		switch st.kind {
		case openStatement:
			s = newScope(s, s.call)
		case closeStatement:
			s = s.parent
		case labelStatement:
			if _, twice := s.labels[st.label]; twice {
				refuse(st.line, "the label %s is defined twice", st.label)
			}
			s.labels[st.label] = c.here()
		case targetsStatement:
			s.symbols[st.label] = &symbol{kind: targetsSymbol, targets: st.targets, scope: s}
		case registerStatement:
			for _, name := range st.names {
				if s.symbols[name] != nil {
					refuse(st.line, "the register %s is declared twice", name)
				}
				kind := registerSymbol
				if st.registers.class == predicateClass {
					kind = predicateSymbol
				}
				s.symbols[name] = &symbol{kind: kind, typ: st.registers, row: -1}
			}
		case variableStatement:
			c.variable(s, st.variable)
		case instructionStatement:
			c.instruction(s, st)
		}
	}
	if s != outermost {
		refuse(s.call.function.last, "braces do not match")
	}
}

func (c *compiler) variable(s *scope, v *variable) {
	if s.symbols[v.name] != nil {
		refuse(v.line, "the variable %s is declared twice", v.name)
	}
	switch v.space {
	case "shared":
		s.symbols[v.name] = c.placeShared(v)
	case "local", "param":
		c.out.localBytes = roundUp(c.out.localBytes, v.align)
		kind := localSymbol
		if v.space == "param" {
			kind = localParameterSymbol
		}
		s.symbols[v.name] = &symbol{kind: kind, typ: v.typ, address: uint64(c.out.localBytes), bytes: v.bytes()}
		c.out.localBytes += v.bytes()
	default:
		refuse(v.line, ".%s inside a function is not supported: declare %s before the kernel", v.space, v.name)
	}
}

func (c *compiler) placeShared(v *variable) *symbol {
	if v.init != nil {
		refuse(v.line, "shared memory has no initial values")
	}
	if v.extern || v.array && v.count == 0 {
		c.out.usesDynamic = true
		return &symbol{kind: sharedSymbol, typ: v.typ, address: dynamicShared, bytes: -1}
	}
	c.out.staticShared = roundUp(c.out.staticShared, v.align)
	placed := &symbol{kind: sharedSymbol, typ: v.typ, address: uint64(c.out.staticShared), bytes: v.bytes()}
	c.out.staticShared += v.bytes()
	return placed
}

// moduleShared finds a shared variable of the module. The variable takes shared memory
// only in the kernels that use it.
func (c *compiler) moduleShared(name string) *symbol {
	if s := c.shared[name]; s != nil {
		return s
	}
	i := slices.IndexFunc(c.module.variables, func(v *variable) bool { return v.name == name && v.space == "shared" })
	if i < 0 {
		return nil
	}
	c.shared[name] = c.placeShared(c.module.variables[i])
	return c.shared[name]
}

func (c *compiler) resolve() {
	for _, f := range c.fixups {
		into := &c.out.code[f.at]
		for _, name := range f.labels {
			at, ok := f.scope.label(name)
			if !ok {
				refuse(f.line, "the label %s does not exist", name)
			}
			into.target = at
			if f.many {
				into.targets = append(into.targets, at)
			}
		}
	}
}

// instruction compiles one statement.
func (c *compiler) instruction(s *scope, st *statement) {
	in := &ins{c: c, scope: s, statement: st, left: slices.Clone(st.modifiers)}
	in.out = instruction{guard: -1, line: st.line, text: st.text}
	if st.guard != "" {
		p := in.predicate(argument{name: st.guard, not: st.guardNot})
		in.out.guard, in.out.guardNot = p.row, p.not
	}
	handler := handlerOf(st.opcode)
	if handler == nil {
		refuse(st.line, "the instruction %q is not known to the emulator: %s", st.opcode, st.text)
	}
	handler(in)
	if len(in.left) > 0 {
		refuse(st.line, "the emulator does not know .%s of %s", in.left[0], st.text)
	}
	if in.skip {
		return
	}
	if in.out.kind == plain && in.out.operation == nil {
		refuse(st.line, "the emulator does not support %s", st.text)
	}
	at := c.emit(in.out)
	if len(in.labels) > 0 {
		c.fixups = append(c.fixups, fixup{at: at, scope: in.labelScope, labels: in.labels, many: in.out.kind == indexedBranch, line: st.line})
	}
	if in.isReturn {
		s.call.returns = append(s.call.returns, at)
	}
}
