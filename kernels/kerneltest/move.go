package kerneltest

import "math"

// The windows of the generic address space. Device memory lies below them.
const (
	windowShift  = 56
	sharedWindow = uint64(1) << windowShift
	localWindow  = uint64(2) << windowShift
	// callParameters is the offset of call parameters in the parameter space. They are
	// in local memory.
	callParameters = uint64(1) << 24
)

func movHandler(in *ins) {
	t := in.lastType()
	in.count(2, 2)
	to, from := in.arguments[0], in.arguments[1]
	switch {
	case t.class == predicateClass:
		d, p := in.predicateDestination(to.name), in.predicate(from)
		in.out.operation = &predicateLogic{kind: moved, to: d, a: p}
	case to.kind == vectorArgument:
		unpack(in, t, to.parts, from)
	case from.kind == vectorArgument:
		pack(in, t, to, from.parts)
	default:
		if value, width := dynamicRegister(from.name); value != nil {
			if width != t.bits {
				in.fail("%s has %d bits", from.name, width)
			}
			d := in.destination(to, t)
			in.out.operation = step(func(w *warp, mask uint32) {
				now := value(w)
				eachLane(mask, func(i int) { w.rows[d][i] = now })
			})
			return
		}
		in.requireWidth(t, 16, 32, 64)
		in.out.operation = newMove(in.destination(to, t), in.source(from, t), t)
	}
}

func (in *ins) part(t typ, n int) typ {
	if t.class != bitsClass || n != 2 && n != 4 || t.bits/n < 8 {
		in.fail("expected .b types and two or four parts")
	}
	return typ{bitsClass, t.bits / n}
}

func unpack(in *ins, t typ, parts []argument, from argument) {
	each := in.part(t, len(parts))
	a := in.source(from, t)
	var rows []int32
	for _, p := range parts {
		rows = append(rows, in.destination(p, each))
	}
	in.out.operation = &unpacking{rows, a, each}
}

func pack(in *ins, t typ, to argument, parts []argument) {
	each := in.part(t, len(parts))
	d := in.destination(to, t)
	var from []source
	for _, p := range parts {
		from = append(from, in.source(p, each))
	}
	in.out.operation = &packing{d, from, each}
}

// unpacking writes the parts of a register to several.
type unpacking struct {
	to   []int32
	a    source
	each typ
}

//go:norace
func (o *unpacking) execute(w *warp, mask uint32) {
	x := *o.a.read(w)
	for _, row := range o.to {
		w.set(row, mask, &x, o.each.mask())
		for i := range x {
			x[i] >>= o.each.bits
		}
	}
}

// packing is the inverse of unpacking.
type packing struct {
	to   int32
	from []source
	each typ
}

//go:norace
func (o *packing) execute(w *warp, mask uint32) {
	var x [lanes]uint64
	for n, s := range o.from {
		row := s.read(w)
		for i := range x {
			x[i] |= row[i] & o.each.mask() << (n * o.each.bits)
		}
	}
	w.set(o.to, mask, &x, ^uint64(0))
}

// cvtaHandler converts between the generic and other address spaces. A generic address
// of device memory equals its device address.
func cvtaHandler(in *ins) {
	t := in.lastType()
	in.requireWidth(t, 64)
	to := in.take("to")
	var window uint64
	switch in.oneOf("global", "const", "shared", "local", "param") {
	case "shared":
		window = sharedWindow
	case "local":
		window = localWindow
	case "param":
		in.fail("parameters are in no window")
	}
	in.count(2, 2)
	d, a := in.destination(in.arguments[0], t), in.source(in.arguments[1], t)
	switch {
	case to:
		in.out.operation = lanewise1(d, a, func(x uint64) uint64 { return x - window })
	case window != 0:
		// Addresses in a window have 32 bits: one before the beginning becomes one behind the end.
		in.out.operation = lanewise1(d, a, func(x uint64) uint64 { return window + x&math.MaxUint32 })
	default:
		in.out.operation = lanewise1(d, a, func(x uint64) uint64 { return x })
	}
}

func isspaceHandler(in *ins) {
	var window uint64
	switch space := in.oneOf("global", "shared", "local"); space {
	case "shared":
		window = 1
	case "local":
		window = 2
	case "":
		in.fail("expected .global, .shared or .local")
	}
	in.count(2, 2)
	d, a := in.predicateDestination(in.arguments[0].name), in.source(in.arguments[1], b64)
	in.out.operation = step(func(w *warp, mask uint32) {
		x := a.read(w)
		var inside uint32
		eachLane(mask, func(i int) { inside |= truth(x[i]>>windowShift == window) << i })
		w.setBits(d, mask, inside)
	})
}
