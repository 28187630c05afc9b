package codegen

import (
	"github.com/gpuframe/gpuframe/kernels/internal/ptx"
	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

var (
	// rounding are the modes of cvt that give a float without a fraction.
	rounding = map[tree.Op]string{tree.Floor: "rmi", tree.Ceil: "rpi", tree.Truncate: "rzi", tree.Round: "rni"}
	// functions are those of math.cu.
	functions = map[tree.Op]string{tree.Power: "gpuframe_pow", tree.Exp: "gpuframe_exp", tree.Log: "gpuframe_log",
		tree.Sin: "gpuframe_sin", tree.Cos: "gpuframe_cos"}
)

// function writes a function of floats.
func (l *lane) function(n *tree.Node) Value {
	k := kindOf(n.Type)
	if k.family != float {
		return l.fail(n)
	}
	x := l.value(n.Arguments[0])
	operands, valid, t := []ptx.Register{x.Registers[0]}, x.Valid, k.arithmetic()
	if n.Op == tree.Power {
		y := l.value(n.Arguments[1])
		operands, valid = append(operands, y.Registers[0]), l.and(valid, y.Valid)
	}
	if mode := rounding[n.Op]; mode != "" {
		return one(l.op(k, "cvt."+mode+"."+t+"."+t, operands...), valid)
	}
	if n.Op == tree.Sqrt {
		return one(l.op(k, "sqrt.rn."+t, operands...), valid)
	}
	return one(l.inDouble(k, functions[n.Op], operands...), valid)
}

// inDouble calls a function of float64, and rounds its result to k.
func (l *lane) inDouble(k kind, name string, operands ...ptx.Register) ptx.Register {
	double := kind{float, 64, true}
	for i := range operands {
		operands[i] = l.convertFloat(k, double, operands[i])
	}
	return l.convertFloat(double, k, l.call(double, name, operands...))
}

// call calls a function of the library, whose operands are all of 64 bits.
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

// word64 is the kind of what functions of the library take.
var word64 = kind{integer, 64, false}
