package kerneltest

type arithmeticKind uint8

const (
	moved arithmeticKind = iota
	added
	subtracted
	multiplied
	multipliedAdded
	conjoined
	disjoined
	differing
	shiftedLeft
	shiftedRight
	shiftedRightSigned
)

// arithmetic is one of the integer instructions that most kernels consist of. One
// computes all lanes in a loop without calls, also those that are not active.
type arithmetic struct {
	kind    arithmeticKind
	extend  uint8 // 64 minus the width of a and b if they are signed; else 0
	to      int32
	a, b, c source
	keep    uint64 // the bits of the result
}

// signExtension returns the field extend of an arithmetic instruction.
func signExtension(t typ) uint8 {
	if t.signed() {
		return uint8(64 - t.bits)
	}
	return 0
}

//go:norace
func (o *arithmetic) execute(w *warp, mask uint32) {
	x, y := o.a.read(w), o.b.read(w)
	shift := o.extend & 63
	var result [lanes]uint64
	switch o.kind {
	case moved:
		for i := range result {
			result[i] = uint64(int64(x[i]<<shift) >> shift)
		}
	case added:
		for i := range result {
			result[i] = x[i] + y[i]
		}
	case subtracted:
		for i := range result {
			result[i] = x[i] - y[i]
		}
	case multiplied:
		for i := range result {
			result[i] = uint64((int64(x[i]<<shift) >> shift) * (int64(y[i]<<shift) >> shift))
		}
	case multipliedAdded:
		z := o.c.read(w)
		for i := range result {
			result[i] = uint64((int64(x[i]<<shift)>>shift)*(int64(y[i]<<shift)>>shift)) + z[i]
		}
	case conjoined:
		for i := range result {
			result[i] = x[i] & y[i]
		}
	case disjoined:
		for i := range result {
			result[i] = x[i] | y[i]
		}
	case differing:
		for i := range result {
			result[i] = x[i] ^ y[i]
		}
	case shiftedLeft:
		for i := range result {
			result[i] = x[i] << y[i]
		}
	case shiftedRight:
		for i := range result {
			result[i] = x[i] >> y[i]
		}
	case shiftedRightSigned:
		for i := range result {
			result[i] = uint64(int64(x[i]<<shift) >> shift >> y[i])
		}
	}
	w.set(o.to, mask, &result, o.keep)
}

// newMove returns the instruction that copies values of a type.
func newMove(d int32, a source, t typ) operation {
	return &arithmetic{kind: moved, to: d, a: a, b: a, keep: t.mask()}
}

// integers compiles an arithmetic instruction with two operands of type t and a result
// of type to.
func (in *ins) integers(kind arithmeticKind, to, t typ) {
	in.count(3, 3)
	in.out.operation = &arithmetic{kind: kind, extend: signExtension(t), to: in.destination(in.arguments[0], to),
		a: in.source(in.arguments[1], t), b: in.source(in.arguments[2], t), keep: to.mask()}
}

// multiplyAdd compiles a·b + c, with operands of type t and a sum of type to.
func (in *ins) multiplyAdd(to, t typ) {
	in.count(4, 4)
	in.out.operation = &arithmetic{kind: multipliedAdded, extend: signExtension(t), to: in.destination(in.arguments[0], to),
		a: in.source(in.arguments[1], t), b: in.source(in.arguments[2], t), c: in.source(in.arguments[3], to), keep: to.mask()}
}
