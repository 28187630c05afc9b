package reduce

import (
	"slices"

	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// wordsAtATime limits the words of partials that a lane loads before it merges them.
const wordsAtATime = 12

// merge writes the merge of the block's lanes, then the merge of all blocks by the last
// block, and then the results. The code for the tree exists once and runs twice.
func (w *writer) merge() {
	b := w.b
	if len(w.kinds) > 0 {
		final, tree, finished := ptx.Register(""), b.Label(), b.Label()
		if !w.single {
			final = b.Op(ptx.Word32, "mov.u32", "0")
		}
		b.Place(tree)
		aggregate.Tree(b, w.kinds, w.accumulated, w.thread, "merging")
		if !w.single {
			b.Branch(b.Op(ptx.Predicate, "setp.ne.u32", final, "0"), finished)
			w.arrive()
			w.mergeParts()
			b.Move("mov.u32", final, "1")
			b.Branch("", tree)
			b.Place(finished)
		}
	}
	b.Emit("@%s ret", b.Op(ptx.Predicate, "setp.ne.u32", w.thread, "0"))
	w.finish()
	b.Emit("ret")
}

// arrive writes the block's partials to the scratch memory, and ends all blocks except
// the one that arrives last.
func (w *writer) arrive() {
	b := w.b
	wait := b.Label()
	b.Comment("thread 0 publishes what the block found")
	b.Branch(b.Op(ptx.Predicate, "setp.ne.u32", w.thread, "0"), wait)
	place := w.scratch(w.block)
	offset := 0
	for _, partial := range w.accumulated {
		for _, word := range partial {
			b.Emit("st.global.b64 [%s+%d], %s", place, offset, word)
			offset += 8
		}
	}
	b.Emit("fence.acq_rel.gpu")
	// A small number selects a counter of the module; larger numbers are addresses. The
	// last block resets the counter to zero.
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
	b.Emit("@%s ret", b.Op(ptx.Predicate, "setp.eq.u32", arrived, "0"))
}

// scratch returns the address of a part's words.
func (w *writer) scratch(part ptx.Register) ptx.Register {
	return w.b.Op(ptx.Word64, "mad.wide.u32", part, number(8*aggregate.Words(w.kinds)), w.own(ownScratch))
}

// mergeParts writes the merge of the blocks' partials, every 256th per lane, into the
// lane's partials. Several partials are loaded before the first is merged. Partials of
// blocks beyond the last block or the last row represent no rows, so they change
// nothing.
func (w *writer) mergeParts() {
	b := w.b
	b.Comment("the last block: every lane takes every %dth part", lanes)
	for i, kind := range w.kinds {
		aggregate.SetIdentity(b, kind, w.accumulated[i])
	}
	words := aggregate.Words(w.kinds)
	left := b.Op(ptx.Word32, "sub.s32", w.blocks, w.thread)
	place := w.scratch(w.thread)
	again, done := b.Label(), b.Label()
	b.Branch(b.Op(ptx.Predicate, "setp.le.s32", left, "0"), done)
	w.loop(again)
	together := max(wordsAtATime/words, 1)
	var loaded [][][]ptx.Register
	for t := range together {
		inside := b.Op(ptx.Predicate, "setp.gt.s32", left, number(t*lanes))
		offset := 8 * words * lanes * t
		var partials [][]ptx.Register
		for _, kind := range w.kinds {
			partial := aggregate.Identity(b, kind)
			for _, word := range partial {
				b.Emit("@%s ld.volatile.global.b64 %s, [%s+%d]", inside, word, place, offset)
				offset += 8
			}
			partials = append(partials, partial)
		}
		loaded = append(loaded, partials)
	}
	w.mergeLoaded(loaded)
	b.Move("add.s64", place, place, number(8*words*lanes*together))
	b.Move("sub.s32", left, left, number(together*lanes))
	b.Branch(b.Op(ptx.Predicate, "setp.gt.s32", left, "0"), again)
	b.Place(done)
}

// mergeLoaded merges partials in order. For long kinds it uses a loop, which moves each
// next partial to the first one's registers, because that compiles faster.
func (w *writer) mergeLoaded(loaded [][][]ptx.Register) {
	b := w.b
	merge := func(partials [][]ptx.Register) {
		for i, kind := range w.kinds {
			aggregate.Merge(b, kind, w.accumulated[i], partials[i])
		}
	}
	if !slices.ContainsFunc(w.kinds, aggregate.Kind.Long) {
		for _, partials := range loaded {
			merge(partials)
		}
		return
	}
	times := b.Op(ptx.Word32, "mov.u32", number(len(loaded)))
	next := b.Label()
	w.loop(next)
	merge(loaded[0])
	for t := range len(loaded) - 1 {
		for i, partial := range loaded[t] {
			for j, word := range partial {
				b.Move("mov.b64", word, loaded[t+1][i][j])
			}
		}
	}
	b.Move("sub.u32", times, times, "1")
	b.Branch(b.Op(ptx.Predicate, "setp.ne.u32", times, "0"), next)
}
