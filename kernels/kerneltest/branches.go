package kerneltest

func branchHandler(in *ins) {
	in.take("uni")
	in.count(1, 1)
	if in.scope.find(in.arguments[0].name) != nil {
		in.fail("%s is not a label", in.arguments[0].name)
	}
	in.out.kind = branch
	in.labels, in.labelScope = []string{in.arguments[0].name}, in.scope
}

func indexedHandler(in *ins) {
	if !in.take("idx") {
		in.fail("expected brx.idx")
	}
	in.take("uni")
	in.count(2, 2)
	list := in.scope.find(in.arguments[1].name)
	if list == nil || list.kind != targetsSymbol {
		in.fail("%s is not a list of targets", in.arguments[1].name)
	}
	in.out.kind = indexedBranch
	in.out.index = in.source(in.arguments[0], u32)
	in.labels, in.labelScope = list.targets, list.scope
}

func exitHandler(in *ins) {
	in.count(0, 0)
	in.out.kind = leave
}

func returnHandler(in *ins) {
	in.take("uni")
	in.count(0, 0)
	if in.scope.call.outer == nil {
		in.out.kind = leave
		return
	}
	in.out.kind = branch
	in.isReturn = true
}

func trapHandler(in *ins) {
	in.count(0, 0)
	in.out.operation = step(func(w *warp, mask uint32) {
		eachLane(mask, func(lane int) { w.fault(lane, ErrTrap, "trap") })
	})
}

// callHandler inlines the function. Parameters in memory are shared with the caller;
// registers are copied.
func callHandler(in *ins) {
	in.take("uni")
	if in.guard != "" {
		in.fail("a call with a guard is not supported: branch around it")
	}
	arguments := in.arguments
	var results, values []argument
	if len(arguments) > 0 && arguments[0].kind == listArgument {
		results, arguments = arguments[0].parts, arguments[1:]
	}
	if len(arguments) == 0 || arguments[0].kind != nameArgument {
		in.fail("expected the name of a function")
	}
	name := arguments[0].name
	if len(arguments) > 1 {
		if values = arguments[1].parts; arguments[1].kind != listArgument || len(arguments) > 2 {
			in.fail("unsupported form of call: calls by address are not supported")
		}
	}
	f := in.c.module.functions[name]
	switch {
	case f == nil || !f.hasBody:
		in.fail("the function %s has no body here", name)
	case f.entry:
		in.fail("%s is a kernel", name)
	case len(results) != len(f.results) || len(values) != len(f.parameters):
		in.fail("%s takes %d parameters and gives %d results", name, len(f.parameters), len(f.results))
	}
	for outer := in.scope.call; outer != nil; outer = outer.outer {
		if outer.function == f {
			in.fail("%s calls itself, which is not supported", name)
		}
	}
	top := in.scope
	for top.parent != nil {
		top = top.parent
	}
	inner := newScope(top, &call{outer: in.scope.call, function: f})
	for i := range f.parameters {
		in.bind(inner, &f.parameters[i], values[i], true)
	}
	for i := range f.results {
		in.bind(inner, &f.results[i], results[i], false)
	}
	in.c.body(inner)
	end := in.c.here()
	for _, at := range inner.call.returns {
		in.c.out.code[at].target = end
	}
	for i := range f.results {
		if p := &f.results[i]; p.register {
			in.move(results[i], in.scope, argument{name: p.name}, inner, p.typ)
		}
	}
	in.skip = true
}

// bind declares a formal parameter in the function's scope.
func (in *ins) bind(inner *scope, p *parameter, actual argument, copies bool) {
	if inner.symbols[p.name] != nil {
		in.fail("the parameter %s is declared twice", p.name)
	}
	if p.register {
		kind := registerSymbol
		if p.typ.class == predicateClass {
			kind = predicateSymbol
		}
		inner.symbols[p.name] = &symbol{kind: kind, typ: p.typ, row: -1}
		if copies {
			in.move(argument{name: p.name}, inner, actual, in.scope, p.typ)
		}
		return
	}
	variable := in.scope.find(actual.name)
	if variable == nil || variable.kind != localParameterSymbol {
		in.fail("the argument for %s is not a .param variable", p.name)
	}
	if variable.bytes != p.bytes() {
		in.fail("the argument for %s has %d bytes, not %d", p.name, variable.bytes, p.bytes())
	}
	inner.symbols[p.name] = variable
}

// move emits a mov between two scopes.
func (in *ins) move(to argument, toScope *scope, from argument, fromScope *scope, t typ) {
	m := &ins{c: in.c, scope: fromScope, statement: in.statement}
	if t.class == predicateClass {
		p := m.predicate(from)
		m.scope = toScope
		d := m.predicateDestination(to.name)
		in.c.emit(instruction{guard: -1, line: in.line, text: in.text, operation: &predicateLogic{kind: moved, to: d, a: p}})
		return
	}
	a := m.source(from, t)
	m.scope = toScope
	d := m.destination(to, t)
	in.c.emit(instruction{guard: -1, line: in.line, text: in.text, operation: newMove(d, a, t)})
}
