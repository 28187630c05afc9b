package kerneltest

import "math/bits"

func (in *ins) wantsBits(t typ, widths ...int) {
	if t.class != bitsClass {
		in.fail("the instruction needs a .b type")
	}
	in.requireWidth(t, widths...)
}

func logicHandler(in *ins) {
	t := in.lastType()
	if t.class == predicateClass {
		predicateLogicHandler(in)
		return
	}
	in.wantsBits(t, 16, 32, 64)
	mask := t.mask()
	switch in.opcode {
	case "and", "or", "xor":
		in.integers(logic[in.opcode], t, t)
	case "not":
		in.put1(t, func(x uint64) uint64 { return ^x & mask })
	case "cnot":
		in.put1(t, func(x uint64) uint64 {
			if x == 0 {
				return 1
			}
			return 0
		})
	}
}

// predicateLogic is an instruction of predicates.
type predicateLogic struct {
	kind arithmeticKind
	to   int32
	a, b predicate
	not  bool // of the result
}

//go:norace
func (o *predicateLogic) execute(w *warp, mask uint32) {
	value := o.a.read(w)
	switch o.kind {
	case conjoined:
		value &= o.b.read(w)
	case disjoined:
		value |= o.b.read(w)
	case differing:
		value ^= o.b.read(w)
	}
	if o.not {
		value = ^value
	}
	w.setBits(o.to, mask, value)
}

func predicateLogicHandler(in *ins) {
	o := &predicateLogic{kind: logic[in.opcode], not: in.opcode == "not"}
	if o.not {
		in.count(2, 2)
	} else {
		in.count(3, 3)
		o.b = in.predicate(in.arguments[2])
	}
	o.to, o.a = in.predicateDestination(in.arguments[0].name), in.predicate(in.arguments[1])
	in.out.operation = o
}

var logic = map[string]arithmeticKind{"and": conjoined, "or": disjoined, "xor": differing, "not": moved}

func shiftHandler(in *ins) {
	t := in.lastType()
	in.requireWidth(t, 16, 32, 64)
	if t.float() || in.opcode == "shl" && t.class != bitsClass {
		in.fail("the instruction does not exist for this type")
	}
	in.count(3, 3)
	kind := shiftedRight
	switch {
	case in.opcode == "shl":
		kind = shiftedLeft
	case t.signed():
		kind = shiftedRightSigned
	}
	in.out.operation = &arithmetic{kind: kind, extend: signExtension(t), to: in.destination(in.arguments[0], t),
		a: in.source(in.arguments[1], t), b: in.source(in.arguments[2], u32), keep: t.mask()}
}

func funnelHandler(in *ins) {
	t := in.lastType()
	in.wantsBits(t, 32)
	direction, mode := in.oneOf("l", "r"), in.oneOf("clamp", "wrap")
	if direction == "" || mode == "" {
		in.fail("expected .l or .r and .clamp or .wrap")
	}
	in.count(4, 4)
	d := in.destination(in.arguments[0], t)
	a, b, c := in.source(in.arguments[1], t), in.source(in.arguments[2], t), in.source(in.arguments[3], u32)
	in.out.operation = lanewise3(d, a, b, c, func(low, high, n uint64) uint64 {
		if mode == "clamp" {
			n = min(n, 32)
		} else {
			n &= 31
		}
		both := high<<32 | low
		if direction == "l" {
			return both << n >> 32
		}
		return both >> n & 0xffffffff
	})
}

func bitsHandler(in *ins) {
	t := in.lastType()
	in.requireWidth(t, 32, 64)
	if in.opcode == "brev" {
		in.wantsBits(t, 32, 64)
		shift := 64 - t.bits
		in.put1(t, func(x uint64) uint64 { return bits.Reverse64(x) >> shift })
		return
	}
	in.count(2, 2)
	d, a := in.destination(in.arguments[0], u32), in.source(in.arguments[1], t)
	switch in.opcode {
	case "popc":
		in.wantsBits(t, 32, 64)
		in.out.operation = lanewise1(d, a, func(x uint64) uint64 { return uint64(bits.OnesCount64(x)) })
	case "clz":
		in.wantsBits(t, 32, 64)
		above := 64 - t.bits
		in.out.operation = lanewise1(d, a, func(x uint64) uint64 { return uint64(bits.LeadingZeros64(x) - above) })
	case "bfind":
		in.wantsInteger(t, 32, 64)
		amount := in.take("shiftamt")
		in.out.operation = lanewise1(d, a, func(x uint64) uint64 {
			x = extend(t, x)
			if t.signed() && int64(x) < 0 {
				x = ^x
			}
			at := bits.Len64(x) - 1
			if amount && at >= 0 {
				at = t.bits - 1 - at
			}
			return uint64(uint32(at))
		})
	}
}

func fieldHandler(in *ins) {
	t := in.lastType()
	if in.opcode == "bfi" {
		in.wantsBits(t, 32, 64)
		in.count(5, 5)
		d, a, b := in.destination(in.arguments[0], t), in.source(in.arguments[1], t), in.source(in.arguments[2], t)
		at, length := in.source(in.arguments[3], u32), in.source(in.arguments[4], u32)
		in.out.operation = step(func(w *warp, mask uint32) {
			to, x, y, p, n := &w.rows[d], a.read(w), b.read(w), at.read(w), length.read(w)
			eachLane(mask, func(i int) {
				position, count := p[i]&0xff, n[i]&0xff
				field := (uint64(1)<<count - 1) << position & t.mask()
				to[i] = y[i]&^field | x[i]<<position&field
			})
		})
		return
	}
	in.wantsInteger(t, 32, 64)
	in.count(4, 4)
	d, a := in.destination(in.arguments[0], t), in.source(in.arguments[1], t)
	at, length := in.source(in.arguments[2], u32), in.source(in.arguments[3], u32)
	in.out.operation = lanewise3(d, a, at, length, func(x, position, count uint64) uint64 {
		position, count = position&0xff, count&0xff
		field := x >> position
		if count < uint64(t.bits) {
			field &= 1<<count - 1
		}
		if !t.signed() || count == 0 {
			return field
		}
		// The sign is the highest bit of the field, or of the value if the field
		// reaches beyond it.
		if x>>min(position+count-1, uint64(t.bits-1))&1 != 0 {
			have := count
			if position+count > uint64(t.bits) {
				have = uint64(t.bits) - min(position, uint64(t.bits))
			}
			field |= ^uint64(0) << have & t.mask()
		}
		return field & t.mask()
	})
}

func permuteHandler(in *ins) {
	t := in.lastType()
	in.wantsBits(t, 32)
	in.put3(t, func(x, y, selector uint64) uint64 {
		all := y<<32 | x
		var result uint64
		for i := range 4 {
			pick := selector >> (4 * i) & 15
			part := all >> (8 * (pick & 7)) & 0xff
			if pick&8 != 0 {
				part = uint64(uint8(int8(part) >> 7))
			}
			result |= part << (8 * i)
		}
		return result
	})
}

func lop3Handler(in *ins) {
	t := in.lastType()
	in.wantsBits(t, 32)
	in.count(5, 5)
	table := in.arguments[4]
	if table.kind != numberArgument {
		in.fail("the table is a number")
	}
	lut := in.number(table.number, u32)
	if lut > 255 {
		in.fail("the table has eight bits")
	}
	in.out.operation = lanewise3(in.destination(in.arguments[0], t), in.source(in.arguments[1], t), in.source(in.arguments[2], t),
		in.source(in.arguments[3], t), func(x, y, z uint64) uint64 {
			var result uint64
			for i := range 8 {
				if lut>>i&1 == 0 {
					continue
				}
				term := uint64(0xffffffff)
				for j, v := range [3]uint64{z, y, x} {
					if i>>j&1 == 0 {
						v = ^v
					}
					term &= v
				}
				result |= term
			}
			return result
		})
}
