package codegen

import (
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// logic writes the operations on bools.
func (l *lane) logic(n *exprtree.Node) Value {
	x := l.value(n.Arguments[0])
	if n.Op == exprtree.Not {
		return single(l.not(x.Registers[0]), x.Valid)
	}
	y := l.value(n.Arguments[1])
	a, b := x.Registers[0], y.Registers[0]
	switch n.Op {
	case exprtree.AndStrict:
		return single(combine(l.b, "and", a, b), l.and(x.Valid, y.Valid))
	case exprtree.OrStrict:
		return single(combine(l.b, "or", a, b), l.and(x.Valid, y.Valid))
	case exprtree.Xor:
		return single(combine(l.b, "xor", a, b), l.and(x.Valid, y.Valid))
	}
	// Kleene logic: a valid false operand decides an and, a valid true operand an or.
	result := combine(l.b, map[exprtree.Op]string{exprtree.And: "and", exprtree.Or: "or"}[n.Op], a, b)
	if x.Valid == "" && y.Valid == "" {
		return single(result, "")
	}
	decides := func(v Value) ptx.Register {
		p := v.Registers[0]
		if n.Op == exprtree.And {
			p = l.not(p)
		}
		return l.and(p, v.Valid)
	}
	first, second := decides(x), decides(y)
	decided := l.or(first, second)
	valid := l.or(l.and(x.Valid, y.Valid), decided)
	return single(result, valid)
}

// nulls writes the operations that test for nulls or choose between operands.
func (l *lane) nulls(n *exprtree.Node) Value {
	x := l.value(n.Arguments[0])
	switch n.Op {
	case exprtree.IsValid, exprtree.IsNull:
		valid := x.Valid
		if argument := n.Arguments[0]; argument.Op == exprtree.Column && exprtree.KindOf(argument.Type) == exprtree.Other && l.inputs[argument.Input].dictionary {
			valid = l.inputs[argument.Input].codes // Arrow's bitmap, for types that nothing else is computed with
		}
		if valid == "" {
			valid = l.predicate("setp.eq.u32", "0", "0")
		}
		if n.Op == exprtree.IsNull {
			valid = l.not(valid)
		}
		return single(valid, "")
	case exprtree.IsNaN:
		k := kindOf(n.Arguments[0].Type)
		if k.family != float {
			return l.fail(n)
		}
		return single(l.predicate("setp.nan."+k.arithmetic(), x.Registers[0], x.Registers[0]), x.Valid)
	case exprtree.IfElse:
		return l.choice(n.Arguments)
	}
	for _, argument := range n.Arguments[1:] {
		if x.Valid == "" || l.err != nil {
			break // never null: the others are irrelevant
		}
		next := l.value(argument)
		result := Value{Registers: l.choose(x.Valid, x, next), Class: x.Class}
		if next.Valid != "" {
			result.Valid = l.or(x.Valid, next.Valid)
		}
		x = result
	}
	return x
}

// choice is a choice by several conditions, from the last one to the first.
func (l *lane) choice(arguments []*exprtree.Node) Value {
	values := make([]Value, len(arguments))
	for i, argument := range arguments {
		values[i] = l.value(argument)
	}
	last := len(arguments) - 1
	result := values[last]
	for i := last - 2; i >= 0; i -= 2 {
		result = l.ifElse(values[i], values[i+1], result)
	}
	return result
}

func (l *lane) ifElse(condition, x, y Value) Value {
	if l.err != nil {
		return Value{}
	}
	p := condition.Registers[0]
	result := Value{Registers: l.choose(p, x, y), Valid: condition.Valid}
	switch {
	case x.Valid == "" && y.Valid == "":
	case x.Valid == "":
		result.Valid = l.and(result.Valid, l.or(p, y.Valid))
	case y.Valid == "":
		result.Valid = l.and(result.Valid, l.or(l.not(p), x.Valid))
	default:
		result.Valid = l.and(result.Valid, l.either(p, ptx.Predicate, x.Valid, y.Valid))
	}
	return result
}
