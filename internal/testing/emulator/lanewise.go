package emulator

import "math/bits"

// This file compiles lane-wise instructions: each lane's result is a function of its
// operands.

func lanewise1(d int32, a source, f func(uint64) uint64) step {
	return func(w *warp, mask uint32) {
		to, x := &w.rows[d], a.of(w)
		if mask == everyLane {
			for i := range to {
				to[i] = f(x[i])
			}
			return
		}
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask)
			to[i] = f(x[i])
		}
	}
}

func lanewise2(d int32, a, b source, f func(x, y uint64) uint64) step {
	return func(w *warp, mask uint32) {
		to, x, y := &w.rows[d], a.of(w), b.of(w)
		if mask == everyLane {
			for i := range to {
				to[i] = f(x[i], y[i])
			}
			return
		}
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask)
			to[i] = f(x[i], y[i])
		}
	}
}

func lanewise3(d int32, a, b, c source, f func(x, y, z uint64) uint64) step {
	return func(w *warp, mask uint32) {
		to, x, y, z := &w.rows[d], a.of(w), b.of(w), c.of(w)
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask)
			to[i] = f(x[i], y[i], z[i])
		}
	}
}

// put1, put2 and put3 compile an instruction with operands of one type.
func (in *ins) put1(t typ, f func(uint64) uint64) {
	in.count(2, 2)
	in.out.run = lanewise1(in.destination(in.arguments[0], t), in.source(in.arguments[1], t), f)
}

func (in *ins) put2(t typ, f func(x, y uint64) uint64) {
	in.count(3, 3)
	in.out.run = lanewise2(in.destination(in.arguments[0], t), in.source(in.arguments[1], t), in.source(in.arguments[2], t), f)
}

func (in *ins) put3(t typ, f func(x, y, z uint64) uint64) {
	in.count(4, 4)
	in.out.run = lanewise3(in.destination(in.arguments[0], t), in.source(in.arguments[1], t),
		in.source(in.arguments[2], t), in.source(in.arguments[3], t), f)
}

// setBits writes value to the lanes of mask in a predicate.
func (w *warp) setBits(row int32, mask, value uint32) {
	w.predicates[row] = w.predicates[row]&^mask | value&mask
}
