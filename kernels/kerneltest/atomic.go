package kerneltest

import (
	"math"
	"math/bits"
)

func atomHandler(in *ins) {
	t := in.lastType()
	returns := in.opcode == "atom"
	s := in.space()
	if s != genericSpace && s != globalSpace && s != sharedSpace {
		in.fail("atomics need global or shared memory")
	}
	in.take("noftz")
	in.order()
	operation := in.oneOf("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
	least := 16
	if operation != "cas" || t.bits != 16 {
		least = 32
	}
	in.requireWidth(t, least, 32, 64)
	f := in.atomic(operation, t)
	arguments := in.arguments
	d := int32(-1)
	if returns {
		if len(arguments) == 0 {
			in.fail("the operands are missing")
		}
		if d = in.sinkRow(); arguments[0].name != "_" {
			d = in.destination(arguments[0], t)
		}
		arguments = arguments[1:]
	} else if operation == "exch" || operation == "cas" {
		in.fail("unknown reduction")
	}
	want := 2
	if operation == "cas" {
		want = 3
	}
	if len(arguments) != want {
		in.fail("%d operands: wrong number", len(in.arguments))
	}
	o := &atomicUpdate{a: in.address(arguments[0], s), b: in.source(arguments[1], t), f: f, bytes: t.bytes(), to: d}
	o.c = o.b
	if want == 3 {
		o.c = in.source(arguments[2], t)
	}
	in.out.operation = o
}

// atomicUpdate replaces a word of memory by a function of it and of two operands.
type atomicUpdate struct {
	a     addressing
	b, c  source
	f     func(old, b, c uint64) uint64
	bytes int
	to    int32 // receives the old value; −1: nothing does
}

//go:norace
//go:nocheckptr
func (o *atomicUpdate) execute(w *warp, mask uint32) {
	base, x, y := *o.a.base.read(w), *o.b.read(w), *o.c.read(w)
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		address := o.a.at(&base, i)
		p := w.at(&o.a, address, i, o.bytes, true)
		if w.block.shadow != nil {
			w.watch(&o.a, address, i, o.bytes, updating, false)
		}
		old := readWord(p, o.bytes)
		writeWord(p, o.bytes, o.f(old, x[i], y[i]))
		if o.to >= 0 {
			w.rows[o.to][i] = old
		}
	}
}

// atomic returns the function that computes the new value from the old value and the
// operands b and c.
func (in *ins) atomic(operation string, t typ) func(old, b, c uint64) uint64 {
	mask := t.mask()
	allowed := func(ok bool) {
		if !ok {
			in.fail("unknown atomic operation")
		}
	}
	switch operation {
	case "add":
		switch {
		case t == typ{floatClass, 32}:
			// Some GPUs flush subnormals in global memory. The emulator does not.
			return func(old, b, _ uint64) uint64 { return fromSingle(single(old, false)+single(b, false), false) }
		case t == typ{floatClass, 64}:
			return func(old, b, _ uint64) uint64 {
				return math.Float64bits(math.Float64frombits(old) + math.Float64frombits(b))
			}
		}
		allowed(t.integer() && t != typ{signedClass, 64})
		return func(old, b, _ uint64) uint64 { return (old + b) & mask }
	case "min":
		allowed(t.integer())
		return func(old, b, _ uint64) uint64 {
			if less(t, b, old) {
				return b
			}
			return old
		}
	case "max":
		allowed(t.integer())
		return func(old, b, _ uint64) uint64 {
			if less(t, old, b) {
				return b
			}
			return old
		}
	case "inc":
		allowed(t == u32)
		return func(old, b, _ uint64) uint64 {
			if old >= b {
				return 0
			}
			return old + 1
		}
	case "dec":
		allowed(t == u32)
		return func(old, b, _ uint64) uint64 {
			if old == 0 || old > b {
				return b
			}
			return old - 1
		}
	}
	allowed(t.class == bitsClass)
	switch operation {
	case "and":
		return func(old, b, _ uint64) uint64 { return old & b }
	case "or":
		return func(old, b, _ uint64) uint64 { return old | b }
	case "xor":
		return func(old, b, _ uint64) uint64 { return old ^ b }
	case "exch":
		return func(_, b, _ uint64) uint64 { return b }
	case "cas":
		return func(old, b, c uint64) uint64 {
			if old == b {
				return c
			}
			return old
		}
	}
	in.fail("the atomic operation is not known")
	return nil
}
