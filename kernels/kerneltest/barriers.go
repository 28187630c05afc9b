package kerneltest

// barrierHandler compiles bar and barrier, of the block and of the warp.
func barrierHandler(in *ins) {
	in.out.aligned = in.opcode == "bar" || in.take("aligned")
	if in.take("warp") {
		in.count(1, 1)
		in.out.aligned = false
		in.collects(in.arguments[0], step(func(w *warp, _ uint32) { w.syncs++ }))
		return
	}
	in.take("cta")
	in.out.kind = barrierWait
	arguments := in.arguments
	switch in.oneOf("sync", "arrive", "red") {
	case "sync":
		in.count(1, 2)
	case "arrive":
		in.count(2, 2)
		in.out.arrive = true
	case "red":
		in.count(3, 4)
		arguments = in.reduceBarrier()
	default:
		in.fail("expected .sync, .arrive or .red")
	}
	in.out.barrier = in.source(arguments[0], u32)
	if len(arguments) > 1 {
		in.out.threads, in.out.hasThreads = in.source(arguments[1], u32), true
	}
}

// reduceBarrier returns the operands that name the barrier.
func (in *ins) reduceBarrier() []argument {
	t := in.lastType()
	last := len(in.arguments) - 1
	in.out.value = in.predicate(in.arguments[last])
	switch in.oneOf("popc", "and", "or") {
	case "popc":
		d := in.destination(in.arguments[0], t)
		in.out.reduce = countReduction
		in.out.result = func(w *warp, lane int, value uint32) { w.rows[d][lane] = uint64(value) }
		return in.arguments[1:last]
	case "and":
		in.out.reduce = andReduction
	case "or":
		in.out.reduce = orReduction
	default:
		in.fail("expected .popc, .and or .or")
	}
	p := in.predicateDestination(in.arguments[0].name)
	in.out.result = func(w *warp, lane int, value uint32) { w.setBits(p, 1<<lane, -value) }
	return in.arguments[1:last]
}
