package emulator

import (
	"math/bits"
)

// collects makes the instruction wait for the lanes of its last operand.
func (in *ins) collects(members argument, run step) {
	if !in.take("sync") {
		in.fail("expected .sync: without, the instruction ended with sm_70")
	}
	in.out.kind = collective
	in.out.members = in.source(members, b32)
	in.out.run = run
}

func voteHandler(in *ins) {
	kind := in.oneOf("ballot", "all", "any", "uni")
	t := in.lastType()
	in.count(3, 3)
	p := in.predicate(in.arguments[1])
	var run step
	if kind == "ballot" {
		in.wantsBits(t, 32)
		d := in.destination(in.arguments[0], t)
		run = func(w *warp, mask uint32) {
			votes := uint64(p.of(w) & mask)
			eachLane(mask, func(i int) { w.rows[d][i] = votes })
		}
	} else {
		if t.class != predicateClass || kind == "" {
			in.fail("expected .ballot.b32 or .all, .any or .uni of .pred")
		}
		d := in.predicateDestination(in.arguments[0].name)
		run = func(w *warp, mask uint32) {
			votes := p.of(w) & mask
			var yes bool
			switch kind {
			case "all":
				yes = votes == mask
			case "any":
				yes = votes != 0
			case "uni":
				yes = votes == mask || votes == 0
			}
			w.setBits(d, mask, -truth(yes))
		}
	}
	in.collects(in.arguments[2], run)
}

// shuffleHandler follows the PTX manual's description of shfl.
func shuffleHandler(in *ins) {
	t := in.lastType()
	in.wantsBits(t, 32)
	mode := in.oneOf("up", "down", "bfly", "idx")
	if mode == "" {
		in.fail("expected .up, .down, .bfly or .idx")
	}
	in.count(5, 5)
	to := in.arguments[0]
	p := int32(-1)
	if to.pair != "" {
		p, to.pair = in.predicateDestination(to.pair), ""
	}
	d := in.destination(to, t)
	a, b, c := in.source(in.arguments[1], t), in.source(in.arguments[2], t), in.source(in.arguments[3], t)
	in.collects(in.arguments[4], func(w *warp, mask uint32) {
		values, by, clamps := *a.of(w), *b.of(w), *c.of(w)
		var found uint32
		for m := mask; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			n, segment, clamp := int(by[lane]&31), int(clamps[lane]>>8&31), int(clamps[lane]&31)
			most := lane&segment | clamp&^segment
			least := lane & segment
			var from int
			var inside bool
			switch mode {
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
				w.rows[d][lane] = undefinedWord & 0xffffffff // the lane does not take part
			} else {
				w.rows[d][lane] = values[from]
			}
			found |= truth(inside) << lane
		}
		if p >= 0 {
			w.setBits(p, mask, found)
		}
	})
}

func matchHandler(in *ins) {
	t := in.lastType()
	in.wantsBits(t, 32, 64)
	kind := in.oneOf("any", "all")
	in.count(3, 3)
	to := in.arguments[0]
	p := int32(-1)
	if to.pair != "" {
		if kind != "all" {
			in.fail("only match.all has a predicate")
		}
		p, to.pair = in.predicateDestination(to.pair), ""
	}
	d, a := in.destination(to, b32), in.source(in.arguments[1], t)
	in.collects(in.arguments[2], func(w *warp, mask uint32) {
		x := a.of(w)
		var result [lanes]uint64
		eachLane(mask, func(i int) {
			eachLane(mask, func(j int) { result[i] |= uint64(truth(x[i] == x[j])) << j })
		})
		var every uint32
		eachLane(mask, func(i int) {
			if kind == "all" {
				if result[i] != uint64(mask) {
					result[i] = 0
				} else {
					every |= 1 << i
				}
			}
		})
		eachLane(mask, func(i int) { w.rows[d][i] = result[i] })
		if p >= 0 {
			w.setBits(p, mask, every)
		}
	})
}

func activeHandler(in *ins) {
	t := in.lastType()
	in.wantsBits(t, 32)
	in.count(1, 1)
	d := in.destination(in.arguments[0], t)
	in.out.run = func(w *warp, mask uint32) {
		eachLane(mask, func(i int) { w.rows[d][i] = uint64(mask) })
	}
}
