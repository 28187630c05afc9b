package kerneltest

import "math/bits"

// This file has the instructions that compute the result of each lane from the lane's
// operands by a function.

type unaryOperation struct {
	to int32
	a  source
	f  func(uint64) uint64
}

//go:norace
func (o *unaryOperation) execute(w *warp, mask uint32) {
	to, x := &w.rows[o.to], o.a.read(w)
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros32(mask)
		to[i] = o.f(x[i])
	}
}

type binaryOperation struct {
	to   int32
	a, b source
	f    func(x, y uint64) uint64
}

//go:norace
func (o *binaryOperation) execute(w *warp, mask uint32) {
	to, x, y := &w.rows[o.to], o.a.read(w), o.b.read(w)
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros32(mask)
		to[i] = o.f(x[i], y[i])
	}
}

type ternaryOperation struct {
	to      int32
	a, b, c source
	f       func(x, y, z uint64) uint64
}

//go:norace
func (o *ternaryOperation) execute(w *warp, mask uint32) {
	to, x, y, z := &w.rows[o.to], o.a.read(w), o.b.read(w), o.c.read(w)
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros32(mask)
		to[i] = o.f(x[i], y[i], z[i])
	}
}

func lanewise1(d int32, a source, f func(uint64) uint64) operation { return &unaryOperation{d, a, f} }

func lanewise2(d int32, a, b source, f func(x, y uint64) uint64) operation {
	return &binaryOperation{d, a, b, f}
}

func lanewise3(d int32, a, b, c source, f func(x, y, z uint64) uint64) operation {
	return &ternaryOperation{d, a, b, c, f}
}

// put1, put2 and put3 compile an instruction with operands of one type.
func (in *ins) put1(t typ, f func(uint64) uint64) {
	in.count(2, 2)
	in.out.operation = lanewise1(in.destination(in.arguments[0], t), in.source(in.arguments[1], t), f)
}

func (in *ins) put2(t typ, f func(x, y uint64) uint64) {
	in.count(3, 3)
	in.out.operation = lanewise2(in.destination(in.arguments[0], t), in.source(in.arguments[1], t), in.source(in.arguments[2], t), f)
}

func (in *ins) put3(t typ, f func(x, y, z uint64) uint64) {
	in.count(4, 4)
	in.out.operation = lanewise3(in.destination(in.arguments[0], t), in.source(in.arguments[1], t),
		in.source(in.arguments[2], t), in.source(in.arguments[3], t), f)
}

// setBits writes value to the lanes of mask in a predicate.
//
//go:norace
func (w *warp) setBits(row int32, mask, value uint32) {
	w.predicates[row] = w.predicates[row]&^mask | value&mask
}

// fill writes one value to the lanes of mask in a row.
//
//go:norace
func (w *warp) fill(row int32, mask uint32, value uint64) {
	to := &w.rows[row]
	for ; mask != 0; mask &= mask - 1 {
		to[bits.TrailingZeros32(mask)] = value
	}
}

// set writes the low bits of values to the lanes of mask in a row.
//
//go:norace
func (w *warp) set(row int32, mask uint32, values *[lanes]uint64, keep uint64) {
	to := &w.rows[row]
	if mask == everyLane {
		for i := range to {
			to[i] = values[i] & keep
		}
		return
	}
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros32(mask)
		to[i] = values[i] & keep
	}
}
