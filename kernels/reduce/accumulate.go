package reduce

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// loop begins a loop that the compiler does not unroll, because the writer has already
// unrolled it.
func (w *writer) loop(label string) {
	w.b.Place(label)
	w.b.Emit(".pragma \"nounroll\"")
}

// accumulate writes the loops over the block's rows: one that takes several rows per
// lane and iteration, which a single-block kernel does not have, and one for the
// remaining rows.
func (w *writer) accumulate() error {
	if len(w.kinds) > 0 {
		if !w.single {
			if err := w.wholeSteps(); err != nil {
				return err
			}
		}
		if err := w.rest(); err != nil {
			return err
		}
	}
	for _, lane := range w.lanes {
		if lane == nil {
			w.partials = append(w.partials, []ptx.Register{w.n})
			continue
		}
		partial := lane.Partial(w.b)
		w.partials, w.accumulated = append(w.partials, partial), append(w.accumulated, partial)
	}
	return nil
}

func (w *writer) wholeSteps() error {
	b := w.b
	step := number(lanes * w.rows)
	whole, rest := b.Label(), b.Label()
	b.Comment("whole steps of %s rows", step)
	b.Branch(b.Op(ptx.Predicate, "setp.lt.s32", w.left, step), rest)
	w.loop(whole)
	values, err := w.g.Strided(b, w.row, w.rows, lanes)
	if err != nil {
		return err
	}
	for r, v := range values {
		w.addRow(v, r*lanes, "")
	}
	b.Move("add.s64", w.row, w.row, step)
	b.Move("sub.s32", w.left, w.left, step)
	b.Branch(b.Op(ptx.Predicate, "setp.ge.s32", w.left, step), whole)
	b.Place(rest)
	return nil
}

// rest writes a loop that takes restRows rows per lane and iteration, for any number of
// rows.
func (w *writer) rest() error {
	b := w.b
	b.Comment("the rest, %d rows at a time", lanes*restRows)
	own := b.Op(ptx.Word32, "sub.s32", w.left, w.thread)
	again, done := b.Label(), b.Label()
	if !w.single {
		b.Branch(b.Op(ptx.Predicate, "setp.le.s32", w.left, "0"), done)
	}
	w.loop(again)
	inside := make([]ptx.Register, restRows)
	for r := range inside {
		inside[r] = b.Op(ptx.Predicate, "setp.gt.s32", own, number(r*lanes))
	}
	values, err := w.g.Guarded(b, w.row, w.single, inside, lanes)
	if err != nil {
		return err
	}
	for r, v := range values {
		w.addRow(v, r*lanes, inside[r])
	}
	add := "add.s64"
	if w.single {
		add = "add.u32"
	}
	b.Move(add, w.row, w.row, number(restRows*lanes))
	b.Move("sub.s32", own, own, number(restRows*lanes))
	b.Branch(b.Op(ptx.Predicate, "setp.gt.s32", own, "0"), again)
	b.Place(done)
	return nil
}

// addRow adds the outputs of row number w.row + add to the states. inside is the
// predicate that the row exists, or "" if it always does.
func (w *writer) addRow(values []codegen.Value, add int, inside ptx.Register) {
	b := w.b
	met := make(map[int]ptx.Register)
	counted := make(map[[2]int]ptx.Register)
	keep := func(value, where int) ptx.Register {
		k, ok := counted[[2]int{value, where}]
		if ok {
			return k
		}
		condition, ok := met[where]
		if !ok {
			condition = inside
			if where >= 0 {
				condition = b.Both(b.Both(condition, values[where].Valid), values[where].Registers[0])
			}
			met[where] = condition
		}
		if k = condition; value >= 0 {
			k = b.Both(condition, w.valid(values[value]))
		}
		counted[[2]int{value, where}] = k
		return k
	}
	var number ptx.Register
	for i, s := range w.plan.states {
		if w.lanes[i] == nil {
			continue
		}
		k := keep(s.value, s.where)
		if s.kind >= aggregate.FirstLeast && number == "" {
			row := w.row
			if w.single {
				row = b.Op(ptx.Word64, "cvt.u64.u32", row)
			}
			number = b.Op(ptx.Word64, "add.s64", row, ptx.Register(fmt.Sprint(add)))
		}
		var value []ptx.Register
		if s.value >= 0 {
			value = values[s.value].Registers
		}
		w.lanes[i].Add(b, value, number, k)
	}
}

// valid returns the predicate that a value is not null, or "" for always. Columns of
// the null type have no bitmap to test.
func (w *writer) valid(v codegen.Value) ptx.Register {
	if layout.Storage(v.Type).ID() == arrow.NULL {
		return w.b.Op(ptx.Predicate, "setp.ne.u32", w.thread, w.thread)
	}
	return v.Valid
}
