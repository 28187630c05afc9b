package codegen

import (
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/expr/function"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

var (
	// rounding maps operations to the modes of cvt that round to an integer.
	rounding = map[exprtree.Op]string{exprtree.Floor: "rmi", exprtree.Ceil: "rpi", exprtree.Truncate: "rzi", exprtree.Round: "rni"}
	// functions are functions of library.cu.
	functions = map[exprtree.Op]string{exprtree.Power: "gpuframe_pow", exprtree.Exp: "gpuframe_exp", exprtree.Log: "gpuframe_log",
		exprtree.Sin: "gpuframe_sin", exprtree.Cos: "gpuframe_cos"}
)

// function writes a function of floats.
func (l *lane) function(n *exprtree.Node) Value {
	k := kindOf(n.Type)
	if k.family != float {
		return l.fail(n)
	}
	x := l.value(n.Arguments[0])
	operands, valid, t := []ptx.Register{x.Registers[0]}, x.Valid, k.arithmetic()
	if n.Op == exprtree.Power {
		y := l.value(n.Arguments[1])
		operands, valid = append(operands, y.Registers[0]), l.and(valid, y.Valid)
	}
	if mode := rounding[n.Op]; mode != "" {
		return single(l.op(k, "cvt."+mode+"."+t+"."+t, operands...), valid)
	}
	if n.Op == exprtree.Sqrt {
		return single(l.op(k, "sqrt.rn."+t, operands...), valid)
	}
	return single(l.inDouble(k, functions[n.Op], operands...), valid)
}

// registered writes a function of package function.
func (l *lane) registered(n *exprtree.Node, f *function.Function) Value {
	k, double := kindOf(n.Type), kind{float, 64, true}
	if len(n.Arguments) != f.Operands() || k.family != integer && f.OfIntegers() || k.family != float && !f.OfIntegers() {
		return l.fail(n)
	}
	var operands []ptx.Register
	valid := ptx.Register("")
	for _, argument := range n.Arguments {
		x := l.value(argument)
		operands, valid = append(operands, x.Registers[0]), l.and(valid, x.Valid)
	}
	if f.OfIntegers() {
		return single(l.wrap(k, f.Write(l.b, function.Type{Bits: k.bits, Signed: k.signed}, operands)), valid)
	}
	for i := range operands {
		operands[i] = l.convertFloat(k, double, operands[i])
	}
	return single(l.convertFloat(double, k, f.Write(l.b, function.Type{}, operands)), valid)
}

// inDouble calls a function of float64, and rounds its result to k.
func (l *lane) inDouble(k kind, name string, operands ...ptx.Register) ptx.Register {
	double := kind{float, 64, true}
	for i := range operands {
		operands[i] = l.convertFloat(k, double, operands[i])
	}
	return l.convertFloat(double, k, l.call(double, name, operands...))
}

// call calls a function of the library. All its operands have 64 bits.
func (l *lane) call(k kind, name string, operands ...ptx.Register) ptx.Register {
	return l.calls(k, name, 1, operands...)[0]
}

// calls calls a function of the library that returns several values.
func (l *lane) calls(k kind, name string, results int, operands ...ptx.Register) []ptx.Register {
	l.g.functions[name] = true
	var registers []ptx.Register
	for range results {
		registers = append(registers, l.b.Register(k.class()))
	}
	l.b.Call(name, registers, operands...)
	return registers
}

// word64 is the kind of the operands of library functions.
var word64 = kind{integer, 64, false}
