package kerneltest

import (
	"math/bits"
	"unsafe"
)

// order removes the modifiers that order and cache an access. The emulator executes all
// accesses in one order, so it ignores them. synchronizing is true for accesses with
// which threads synchronize; the search for races ignores those.
func (in *ins) order() (synchronizing bool) {
	for _, m := range []string{"relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "mmio"} {
		synchronizing = in.take(m) || synchronizing
	}
	for _, m := range []string{"weak", "cta", "cluster", "gpu", "sys", "gl", "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt",
		"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate",
		"L2::64B", "L2::128B", "L2::256B", "L2::evict_first", "L2::evict_last", "L2::evict_normal"} {
		in.take(m)
	}
	return synchronizing
}

// vector returns the elements of a vector operand, or the operand itself.
func (in *ins) vector(a argument) []argument {
	n := 1
	if in.take("v2") {
		n = 2
	} else if in.take("v4") {
		n = 4
	}
	if n == 1 && a.kind != vectorArgument {
		return []argument{a}
	}
	if a.kind != vectorArgument || len(a.parts) != n {
		in.fail("expected %d operands in braces", n)
	}
	return a.parts
}

func loadHandler(in *ins) {
	t := in.lastType()
	in.count(2, 2)
	s := in.space()
	synchronizing := in.order()
	o := &load{a: in.address(in.arguments[1], s), t: t}
	o.a.volatile = synchronizing
	var register typ
	for _, part := range in.vector(in.arguments[0]) {
		row, width := in.wideRow(part, t)
		o.to, register = append(o.to, row), typ{unsignedClass, width}
	}
	in.widthOfAccess(t, len(o.to))
	o.keep = register.mask()
	in.out.operation = o
}

// load reads an element for each of its destinations.
type load struct {
	a    addressing
	t    typ
	to   []int32
	keep uint64
}

//go:norace
//go:nocheckptr
func (o *load) execute(w *warp, mask uint32) {
	base := *o.a.base.read(w)
	each := o.t.bytes()
	whole := each * len(o.to)
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		address := o.a.at(&base, i)
		p := w.at(&o.a, address, i, whole, false)
		if w.block.shadow != nil {
			w.watch(&o.a, address, i, whole, reading, false)
		}
		for n, row := range o.to {
			w.rows[row][i] = extend(o.t, readWord(unsafe.Add(p, n*each), each)) & o.keep
		}
	}
}

func (in *ins) widthOfAccess(t typ, n int) {
	if t.class == predicateClass || t.bytes()*n > 16 {
		in.fail("an access of %d bits", t.bits*n)
	}
}

func storeHandler(in *ins) {
	t := in.lastType()
	in.count(2, 2)
	s := in.space()
	if s == constSpace {
		in.fail("constant memory is not written")
	}
	synchronizing := in.order()
	o := &store{a: in.address(in.arguments[0], s), t: t}
	o.a.volatile = synchronizing
	for _, part := range in.vector(in.arguments[1]) {
		o.from = append(o.from, in.wideSource(part, t))
	}
	in.widthOfAccess(t, len(o.from))
	in.out.operation = o
}

// store writes an element for each of its operands.
type store struct {
	a    addressing
	t    typ
	from []source
}

//go:norace
//go:nocheckptr
func (o *store) execute(w *warp, mask uint32) {
	base := o.a.base.read(w)
	var values [4]*[lanes]uint64
	for n := range o.from {
		values[n] = o.from[n].read(w)
	}
	each := o.t.bytes()
	whole := each * len(o.from)
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		address := o.a.at(base, i)
		p := w.at(&o.a, address, i, whole, true)
		same := true
		for n := range o.from {
			to, x := unsafe.Add(p, n*each), values[n][i]
			if w.block.shadow != nil && same {
				same = readWord(to, each) == x&o.t.mask()
			}
			writeWord(to, each, x)
		}
		if w.block.shadow != nil {
			w.watch(&o.a, address, i, whole, writing, same)
		}
	}
}

func nothingHandler(in *ins) {
	fence := in.opcode == "membar" || in.opcode == "fence"
	in.left = nil
	in.out.operation = step(func(w *warp, _ uint32) {
		if fence {
			w.block.epoch++
		}
	})
}
