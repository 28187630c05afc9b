package emulator

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
	a := in.address(in.arguments[1], s)
	a.volatile = synchronizing
	var rows []int32
	var register typ
	for _, part := range in.vector(in.arguments[0]) {
		row, width := in.wideRow(part, t)
		rows, register = append(rows, row), typ{unsignedClass, width}
	}
	in.widthOfAccess(t, len(rows))
	each, keep := t.bytes(), register.mask()
	whole := each * len(rows)
	in.out.run = func(w *warp, mask uint32) {
		base := *a.base.of(w)
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			address := a.of(&base, i)
			p := w.at(&a, address, i, whole, false)
			if w.block.shadow != nil {
				w.watch(&a, address, i, whole, reading, nil)
			}
			for n, row := range rows {
				w.rows[row][i] = extend(t, readWord(unsafe.Add(p, n*each), each)) & keep
			}
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
	a := in.address(in.arguments[0], s)
	a.volatile = synchronizing
	var from []source
	for _, part := range in.vector(in.arguments[1]) {
		from = append(from, in.wideSource(part, t))
	}
	in.widthOfAccess(t, len(from))
	each := t.bytes()
	whole := each * len(from)
	in.out.run = func(w *warp, mask uint32) {
		base := a.base.of(w)
		var values [4]*[lanes]uint64
		for n := range from {
			values[n] = from[n].of(w)
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			address := a.of(base, i)
			p := w.at(&a, address, i, whole, true)
			if w.block.shadow != nil {
				w.watch(&a, address, i, whole, writing, func() bool {
					for n := range from {
						if readWord(unsafe.Add(p, n*each), each) != values[n][i]&t.mask() {
							return false
						}
					}
					return true
				})
			}
			for n := range from {
				writeWord(unsafe.Add(p, n*each), each, values[n][i])
			}
		}
	}
}

func nothingHandler(in *ins) {
	fence := in.opcode == "membar" || in.opcode == "fence"
	in.left = nil
	in.out.run = func(w *warp, _ uint32) {
		if fence {
			w.block.epoch++
		}
	}
}
