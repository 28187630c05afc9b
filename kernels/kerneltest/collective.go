package kerneltest

import (
	"math/bits"
)

// collects makes the instruction wait for the lanes of its last operand.
func (in *ins) collects(members argument, do operation) {
	if !in.take("sync") {
		in.fail("expected .sync: without, the instruction ended with sm_70")
	}
	in.out.kind = collective
	in.out.members = in.source(members, b32)
	in.out.operation = do
}

func voteHandler(in *ins) {
	o := &vote{kind: in.oneOf("ballot", "all", "any", "uni")}
	t := in.lastType()
	in.count(3, 3)
	o.p = in.predicate(in.arguments[1])
	if o.kind == "ballot" {
		in.wantsBits(t, 32)
		o.to = in.destination(in.arguments[0], t)
	} else {
		if t.class != predicateClass || o.kind == "" {
			in.fail("expected .ballot.b32 or .all, .any or .uni of .pred")
		}
		o.to = in.predicateDestination(in.arguments[0].name)
	}
	in.collects(in.arguments[2], o)
}

type vote struct {
	kind string
	p    predicate
	to   int32 // a register for ballot, else a predicate
}

//go:norace
func (o *vote) execute(w *warp, mask uint32) {
	votes := o.p.read(w) & mask
	var yes bool
	switch o.kind {
	case "ballot":
		w.fill(o.to, mask, uint64(votes))
		return
	case "all":
		yes = votes == mask
	case "any":
		yes = votes != 0
	case "uni":
		yes = votes == mask || votes == 0
	}
	w.setBits(o.to, mask, -truth(yes))
}

// shuffleHandler follows the PTX manual's description of shfl.
func shuffleHandler(in *ins) {
	t := in.lastType()
	in.wantsBits(t, 32)
	o := &shuffle{mode: in.oneOf("up", "down", "bfly", "idx"), p: -1}
	if o.mode == "" {
		in.fail("expected .up, .down, .bfly or .idx")
	}
	in.count(5, 5)
	to := in.arguments[0]
	if to.pair != "" {
		o.p, to.pair = in.predicateDestination(to.pair), ""
	}
	o.to = in.destination(to, t)
	o.a, o.b, o.c = in.source(in.arguments[1], t), in.source(in.arguments[2], t), in.source(in.arguments[3], t)
	in.collects(in.arguments[4], o)
}

type shuffle struct {
	mode    string
	to, p   int32 // p is −1 if there is no predicate
	a, b, c source
}

//go:norace
func (o *shuffle) execute(w *warp, mask uint32) {
	values, by, clamps := o.a.read(w), o.b.read(w), o.c.read(w)
	var result [lanes]uint64
	var valid uint32
	for m := mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		n, segment, clamp := int(by[lane]&31), int(clamps[lane]>>8&31), int(clamps[lane]&31)
		most := lane&segment | clamp&^segment
		least := lane & segment
		var from int
		var inside bool
		switch o.mode {
		case "up":
			from = lane - n
			inside = from >= most
		case "down":
			from = lane + n
			inside = from <= most
		case "bfly":
			from = lane ^ n
			inside = from <= most
		case "idx":
			from = least | n&^segment
			inside = from <= most
		}
		if !inside {
			from = lane
		}
		if mask>>from&1 == 0 {
			result[lane] = undefinedWord & 0xffffffff // the lane does not take part
		} else {
			result[lane] = values[from]
		}
		valid |= truth(inside) << lane
	}
	w.set(o.to, mask, &result, ^uint64(0))
	if o.p >= 0 {
		w.setBits(o.p, mask, valid)
	}
}

func matchHandler(in *ins) {
	t := in.lastType()
	in.wantsBits(t, 32, 64)
	o := &match{all: in.oneOf("any", "all") == "all", p: -1}
	in.count(3, 3)
	to := in.arguments[0]
	if to.pair != "" {
		if !o.all {
			in.fail("only match.all has a predicate")
		}
		o.p, to.pair = in.predicateDestination(to.pair), ""
	}
	o.to, o.a = in.destination(to, b32), in.source(in.arguments[1], t)
	in.collects(in.arguments[2], o)
}

// match finds the lanes with the same value.
type match struct {
	all   bool
	to, p int32 // p is −1 if there is no predicate
	a     source
}

//go:norace
func (o *match) execute(w *warp, mask uint32) {
	x := o.a.read(w)
	var result [lanes]uint64
	for todo := mask; todo != 0; {
		value := x[bits.TrailingZeros32(todo)]
		var same uint32
		for m := todo; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros32(m); x[i] == value {
				same |= 1 << i
			}
		}
		todo &^= same
		if o.all && same != mask {
			todo, same = 0, 0
		}
		for m := same; m != 0; m &= m - 1 {
			result[bits.TrailingZeros32(m)] = uint64(same)
		}
	}
	w.set(o.to, mask, &result, ^uint64(0))
	if o.p >= 0 {
		w.setBits(o.p, mask, uint32(result[bits.TrailingZeros32(mask)]))
	}
}

func activeHandler(in *ins) {
	t := in.lastType()
	in.wantsBits(t, 32)
	in.count(1, 1)
	d := in.destination(in.arguments[0], t)
	in.out.operation = step(func(w *warp, mask uint32) { w.fill(d, mask, uint64(mask)) })
}
