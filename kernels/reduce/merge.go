package reduce

import (
	"github.com/gpuframe/gpuframe/kernels/internal/combine"
	"github.com/gpuframe/gpuframe/kernels/internal/ptx"
)

// wordsAtATime bounds how many words of partials a lane loads before it merges them.
const wordsAtATime = 12

// merge writes the merging of the block's lanes, and by the last block of all the
// blocks, and then the results. The tree stands there once and is run twice.
func (w *writer) merge() {
	b := w.b
	final := b.Op(ptx.Word32, "mov.u32", "0")
	tree, finished, exit := b.Label(), b.Label(), b.Label()
	b.Place(tree)
	combine.Tree(b, w.kinds, w.accumulated, w.thread, "merging")
	b.Branch(b.Op(ptx.Predicate, "setp.ne.u32", final, "0"), finished)
	b.Branch(b.Op(ptx.Predicate, "setp.eq.u32", w.blocks, "1"), finished)

	w.arrive(exit)
	w.mergeParts()
	b.Move("mov.u32", final, "1")
	b.Branch("", tree)

	b.Place(finished)
	b.Branch(b.Op(ptx.Predicate, "setp.ne.u32", w.thread, "0"), exit)
	w.finish()
	b.Place(exit)
	b.Emit("ret")
}

// arrive writes the block's partials to the scratch memory and branches away but in
// the last block to come here.
func (w *writer) arrive(exit string) {
	b := w.b
	wait := b.Label()
	b.Comment("thread 0 publishes what the block found")
	b.Branch(b.Op(ptx.Predicate, "setp.ne.u32", w.thread, "0"), wait)
	place := w.scratch(b.Op(ptx.Word64, "cvt.u64.u32", w.block))
	stride := w.stride()
	for _, partial := range w.accumulated {
		for _, word := range partial {
			b.Emit("st.global.b64 [%s], %s", place, word)
			b.Move("add.s64", place, place, stride)
		}
	}
	b.Emit("fence.acq_rel.gpu")
	// A small number is that of a counter in the module, all others are addresses.
	// The counter goes back to zero with the last block.
	counter := w.own(ownCounter)
	inModule := b.Op(ptx.Predicate, "setp.lt.u64", counter, number(maxCounters))
	base := b.Op(ptx.Word64, "mov.u64", "counters")
	own := b.Op(ptx.Word64, "mad.lo.u64", counter, "4", base)
	address := b.Op(ptx.Word64, "selp.b64", own, counter, inModule)
	last := b.Op(ptx.Word32, "sub.u32", w.blocks, "1")
	ticket := b.Op(ptx.Word32, "atom.global.inc.u32", "["+address+"]", last)
	isLast := b.Op(ptx.Predicate, "setp.eq.u32", ticket, last)
	b.Emit("fence.acq_rel.gpu")
	b.Emit("st.shared.u32 [arrived], %s", b.Op(ptx.Word32, "selp.u32", "1", "0", isLast))
	b.Place(wait)
	b.Emit("bar.sync 0")
	arrived := b.Op(ptx.Word32, "ld.shared.u32", "[arrived]")
	b.Branch(b.Op(ptx.Predicate, "setp.eq.u32", arrived, "0"), exit)
}

// scratch returns the address of a part's first word. The parts' words lie side by
// side, so that lanes load them together.
func (w *writer) scratch(part ptx.Register) ptx.Register {
	return w.b.Op(ptx.Word64, "mad.lo.u64", part, "8", w.own(ownScratch))
}

// stride is how far apart a part's words lie.
func (w *writer) stride() ptx.Register { return w.b.Op(ptx.Word64, "mul.wide.u32", w.blocks, "8") }

// mergeParts writes the merging of the parts' partials, each lane every 256th, into
// the lane's partials. Several are loaded before the first is merged; those beyond
// the last part are of no rows, which changes nothing.
func (w *writer) mergeParts() {
	b := w.b
	b.Comment("the last block: every lane takes every %dth part", lanes)
	for i, kind := range w.kinds {
		combine.SetIdentity(b, kind, w.accumulated[i])
	}
	count := b.Op(ptx.Word64, "sub.s64", b.Op(ptx.Word64, "add.s64", w.n, w.rowsOfPart), "1")
	count = b.Op(ptx.Word64, "div.u64", count, w.rowsOfPart)
	part := b.Op(ptx.Word64, "mov.u64", w.thread64)
	place, stride := w.scratch(part), w.stride()
	again, done := b.Label(), b.Label()
	b.Branch(b.Op(ptx.Predicate, "setp.ge.s64", part, count), done)
	w.loop(again)
	together := max(wordsAtATime/max(combine.Words(w.kinds), 1), 1)
	var loaded [][][]ptx.Register
	for t := range together {
		inside := b.Op(ptx.Predicate, "setp.lt.s64", b.Op(ptx.Word64, "add.s64", part, number(t*lanes)), count)
		address := b.Op(ptx.Word64, "add.s64", place, number(t*lanes*8))
		var partials [][]ptx.Register
		for _, kind := range w.kinds {
			words := combine.Identity(b, kind)
			for _, word := range words {
				b.Emit("@%s ld.volatile.global.b64 %s, [%s]", inside, word, address)
				b.Move("add.s64", address, address, stride)
			}
			partials = append(partials, words)
		}
		loaded = append(loaded, partials)
	}
	for _, partials := range loaded {
		for i, kind := range w.kinds {
			combine.Merge(b, kind, w.accumulated[i], partials[i])
		}
	}
	b.Move("add.s64", part, part, number(together*lanes))
	b.Move("add.s64", place, place, number(together*lanes*8))
	b.Branch(b.Op(ptx.Predicate, "setp.lt.s64", part, count), again)
	b.Place(done)
}
