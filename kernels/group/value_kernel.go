package group

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/ptx"
	"github.com/gpuframe/gpuframe/kernels"
)

// valueReader has the properties of an accumulator that its code depends on.
type valueReader struct {
	kind                  accumulatorKind
	least, marks, signed  bool
	form                  form // of the values
	words, word           int
	value, other, onlyFor int // outputs of the program, or negative; onlyFor is the condition
}

// valueCode writes the code that replaces the hole of tile_values.cu: it finds the groups of some rows
// and adds the values of their expressions to the slots of the groups.
type valueCode struct {
	// keys are the forms of the dense keys, which are the first outputs of the program. If dense is not
	// set each row has the number of its group.
	dense bool
	keys  []form
	// tile is the number of rows of a thread.
	tile    int
	readers []valueReader

	g *codegen.Generator
	b *ptx.Builder
	holeOperands
	ranges []keyRange
	// numbers are those of the groups of the rows, if the keys are not dense.
	numbers []ptx.Register
	row     valueRow
}

// keyRange is the least value of a key, the number of its values and its factor.
type keyRange struct{ least, places, factor ptx.Register }

// holeOperands are the registers that the kernel passes to the hole.
type holeOperands struct {
	first, own, firstGroup, known, shift, copies, trash, sums, extremes, apart, batch, windows, span ptx.Register
}

// valueRow has registers that several accumulators of a row share.
type valueRow struct {
	values []codegen.Value
	// slots are the places of the row's slot by the predicates that it was dropped by, conditions
	// the predicates of outputs.
	slots      map[[2]ptx.Register]ptx.Register
	conditions map[int]ptx.Register
	sums       []*pendingSum
}

// moreWords returns the number of words behind those of the program.
func (c *valueCode) moreWords() int {
	if c.dense {
		return max(3*len(c.keys), 1)
	}
	return 1
}

// addWords appends these words.
func (c *valueCode) addWords(words *kernels.Words, g *grouping) {
	if !c.dense {
		words.AddAddress(g.numbers.Pointer(), g.numbers.Block())
		return
	}
	if len(c.keys) == 0 {
		words.Add(0)
	}
	for i := range g.dense.keys {
		if k := &g.dense.keys[i]; !k.constant {
			words.Add(k.span.least)
			words.Add(k.span.places)
			words.Add(k.factor)
		}
	}
}

// text returns the module of the kernel.
func (c *valueCode) text(g *codegen.Generator) (string, error) {
	template, err := aggregateSet.Entry(valuesFile, valuesEntry)
	if err != nil {
		return "", err
	}
	c.g = g
	return g.SpliceRows(template, valuesEntry, "values", c.moreWords(), c.hole)
}

// hole writes the code.
func (c *valueCode) hole(b *ptx.Builder, operands []string) error {
	to := []*ptx.Register{&c.first, &c.own, &c.firstGroup, &c.known, &c.shift, &c.copies, &c.trash, &c.sums, &c.extremes, &c.apart, &c.batch, &c.windows, &c.span}
	if len(operands) != len(to) {
		return fmt.Errorf("it has %d operands, expected %d", len(operands), len(to))
	}
	for i, operand := range operands {
		*to[i] = ptx.Register(operand)
	}
	c.b = b
	inside := make([]ptx.Register, c.tile)
	for i := range inside {
		inside[i] = b.Op(ptx.Predicate, "setp.gt.u32", c.own, immediate(i*tileThreads))
	}
	c.loadRanges(inside)
	return c.g.GuardedEach(b, c.first, inside, tileThreads, func(i int, values []codegen.Value) {
		c.row = valueRow{values: values, slots: map[[2]ptx.Register]ptx.Register{}, conditions: map[int]ptx.Register{}}
		slot := c.only(c.slot(i), inside[i])
		for j := range c.readers {
			c.add(j, slot)
		}
		c.finishSums()
	})
}

func immediate(n int) ptx.Register { return ptx.Register(fmt.Sprint(n)) }

func (c *valueCode) word(i int) ptx.Register {
	return c.b.Op(ptx.Word64, "ld.param.u64", c.g.Word(c.g.Words()+i))
}

// loadRanges loads the ranges of the keys, or the numbers of the rows.
func (c *valueCode) loadRanges(inside []ptx.Register) {
	c.ranges, c.numbers = nil, nil
	if c.dense {
		for k := range c.keys {
			c.ranges = append(c.ranges, keyRange{c.word(3 * k), c.word(3*k + 1), c.b.Op(ptx.Word32, "cvt.u32.u64", c.word(3*k+2))})
		}
		return
	}
	address := c.b.Op(ptx.Word64, "add.s64", c.word(0), c.b.Op(ptx.Word64, "shl.b64", c.first, "2"))
	for i, predicate := range inside {
		loaded := c.b.Op(ptx.Word32, "mov.u32", "0")
		c.b.Emit("@%s ld.global.nc.u32 %s, [%s+%d]", predicate, loaded, address, 4*i*tileThreads)
		c.numbers = append(c.numbers, loaded)
	}
}

// slot writes the place of the slot of row i: that of its group, if the block has it.
func (c *valueCode) slot(i int) ptx.Register {
	b, group := c.b, ptx.Register("0")
	var within []ptx.Register
	if !c.dense {
		group = c.numbers[i]
	}
	for k, key := range c.keys {
		v, limits := c.row.values[k], c.ranges[k]
		place := b.Op(ptx.Word64, "sub.s64", c.wide(v, key), limits.least)
		if v.Valid != "" {
			place = b.Op(ptx.Word64, "selp.b64", place, b.Op(ptx.Word64, "sub.s64", limits.places, "1"), v.Valid)
		}
		within = append(within, b.Op(ptx.Predicate, "setp.lt.u64", place, limits.places))
		group = b.Op(ptx.Word32, "mad.lo.u32", b.Op(ptx.Word32, "cvt.u32.u64", place), limits.factor, group)
	}
	own := b.Op(ptx.Word32, "sub.u32", group, c.firstGroup)
	within = append(within, b.Op(ptx.Predicate, "setp.lt.u32", own, c.known))
	slot := b.Op(ptx.Word32, "add.u32", b.Op(ptx.Word32, "shl.b32", own, c.shift), c.copies)
	for _, predicate := range within {
		slot = c.only(slot, predicate)
	}
	return slot
}

// only returns a place if a predicate holds, or else that of the rows that are dropped.
func (c *valueCode) only(slot, when ptx.Register) ptx.Register {
	if when == "" {
		return slot
	}
	key := [2]ptx.Register{slot, when}
	chosen, ok := c.row.slots[key]
	if !ok {
		chosen = c.b.Op(ptx.Word32, "selp.b32", slot, c.trash, when)
		c.row.slots[key] = chosen
	}
	return chosen
}

// valid returns the predicate that an output is not null, or "".
func (c *valueCode) valid(output int) ptx.Register {
	if output < 0 {
		return ""
	}
	return c.row.values[output].Valid
}

// holds returns the predicate that a condition is true, or "".
func (c *valueCode) holds(output int) ptx.Register {
	if output < 0 {
		return ""
	}
	predicate, ok := c.row.conditions[output]
	if !ok {
		predicate = codegen.Holds(c.b, c.row.values[output])
		c.row.conditions[output] = predicate
	}
	return predicate
}

// add writes the addition of a row to an accumulator.
func (c *valueCode) add(number int, slot ptx.Register) {
	b, r := c.b, &c.readers[number]
	slot = c.only(c.only(c.only(slot, c.holds(r.onlyFor)), c.valid(r.value)), c.valid(r.other))
	if r.kind == greatest {
		at := b.Op(ptx.Word32, "mad.lo.u32", c.apart, immediate(r.word), slot)
		c.raise(b.Op(ptx.Word32, "mad.lo.u32", at, "2", c.extremes), c.image(r))
		return
	}
	address := b.Op(ptx.Word32, "mad.lo.u32", c.apart, immediate(r.word), b.Op(ptx.Word32, "add.u32", slot, c.sums))
	switch r.kind {
	case countRows:
		c.count(address, r.marks)
	case sumFloats:
		c.addFloat(number, slot, address)
	case sumIntegers:
		c.sum(address, c.integerWords(r))
	case sumDecimals:
		x := c.row.values[r.value].Registers
		low, high := c.halves(x[0]), c.halves(x[1])
		c.sum(address, append(append(low, high...), b.Op(ptx.Word32, "shr.s32", high[1], "31")))
	}
}

// count adds a row to a count, or marks it.
func (c *valueCode) count(address ptx.Register, marks bool) {
	if !marks {
		c.b.Op(ptx.Word32, "atom.shared.add.u32", "["+address+"]", "1")
		return
	}
	marked := c.b.Op(ptx.Word32, "ld.volatile.shared.u32", "["+address+"]")
	unmarked := c.b.Op(ptx.Predicate, "setp.eq.u32", marked, "0")
	c.b.Emit("@%s atom.shared.or.b32 %s, [%s], 1", unmarked, c.b.Register(ptx.Word32), address)
}

// wide returns an integer or a bool extended to 64 bits by its sign.
func (c *valueCode) wide(v codegen.Value, stored form) ptx.Register {
	x := v.Registers[0]
	switch {
	case v.Class == ptx.Predicate:
		return c.b.Op(ptx.Word64, "selp.b64", "1", "0", x)
	case v.Class == ptx.Word32 && stored.isSigned():
		return c.b.Op(ptx.Word64, "cvt.s64.s32", x)
	case v.Class == ptx.Word32:
		return c.b.Op(ptx.Word64, "cvt.u64.u32", x)
	}
	return x
}

// halves returns the low and the high half of 64 bits.
func (c *valueCode) halves(x ptx.Register) []ptx.Register {
	low, high := c.b.Register(ptx.Word32), c.b.Register(ptx.Word32)
	c.b.Emit("mov.b64 {%s, %s}, %s", low, high, x)
	return []ptx.Register{low, high}
}

// integerWords returns the words of a sum's value.
func (c *valueCode) integerWords(r *valueReader) []ptx.Register {
	words := c.halves(c.wide(c.row.values[r.value], r.form))[:min(r.words, 2)]
	if r.words < 3 {
		return words
	}
	if !r.signed {
		return append(words, "0")
	}
	return append(words, c.b.Op(ptx.Word32, "shr.s32", words[1], "31"))
}

// pendingSum is a value that is added to the words of a slot, those of 32 bits from the lowest on.
type pendingSum struct {
	// address is that of the next word, carry 0 or 1 of the words before it.
	address, carry ptx.Register
	words          []ptx.Register
}

// sum begins the addition of words to those of a slot.
func (c *valueCode) sum(address ptx.Register, words []ptx.Register) {
	c.row.sums = append(c.row.sums, &pendingSum{address: address, words: words})
}

// finishSums writes the additions to all sums of a row. An addition returns the old word after some time, and
// the carry depends on it: so all sums add their first words before one adds its second.
func (c *valueCode) finishSums() {
	for range 2 {
		for _, s := range c.row.sums {
			c.addWord(s)
		}
	}
	for _, s := range c.row.sums {
		if len(s.words) == 0 {
			continue
		}
		end := ""
		if len(s.words) > 1 { // a short number: nothing is left to add
			end = c.b.Label()
			rest := c.b.Op(ptx.Word32, "or.b32", c.b.Op(ptx.Word32, "or.b32", s.words[0], s.words[1]), s.carry)
			c.b.Branch(c.b.Op(ptx.Predicate, "setp.eq.u32", rest, "0"), end)
		}
		for len(s.words) > 0 {
			c.addWord(s)
		}
		if end != "" {
			c.b.Place(end)
		}
	}
}

// addWord writes the addition of the next word of a sum, if it has one. A word above the lowest often is zero with
// its carry: then it adds nothing, and the hardware has fewer additions to one address to put in order.
func (c *valueCode) addWord(s *pendingSum) {
	if len(s.words) == 0 {
		return
	}
	b, term, when := c.b, s.words[0], ""
	var beyond ptx.Register
	if s.carry != "" {
		term = b.Op(ptx.Word32, "add.u32", term, s.carry)
		beyond = b.Op(ptx.Predicate, "setp.lt.u32", term, s.carry)
		when = "@" + string(b.Op(ptx.Predicate, "setp.ne.u32", term, "0")) + " "
	}
	old := b.Op(ptx.Word32, "mov.u32", "0")
	b.Emit("%satom.shared.add.u32 %s, [%s], %s", when, old, s.address, term)
	if s.words = s.words[1:]; len(s.words) == 0 {
		return
	}
	carries := b.Op(ptx.Predicate, "setp.lt.u32", b.Op(ptx.Word32, "add.u32", old, term), term)
	s.carry = b.Op(ptx.Word32, "selp.u32", "1", "0", carries)
	if beyond != "" { // then the term is 0, and adds no carry
		s.carry = b.Op(ptx.Word32, "selp.u32", "1", s.carry, beyond)
	}
	s.address = b.Op(ptx.Word32, "add.u32", s.address, c.apart)
}

// image writes the image of a value, as Source::image does.
func (c *valueCode) image(r *valueReader) ptx.Register {
	b, v := c.b, c.row.values[r.value]
	reverse := ptx.Register("0")
	if r.least {
		reverse = "-1"
	}
	if !r.form.isFloat() {
		x := c.wide(v, r.form)
		if r.form.isSigned() {
			x = b.Op(ptx.Word64, "xor.b64", x, signBit)
		}
		return b.Op(ptx.Word64, "xor.b64", x, reverse)
	}
	x := c.double(v)
	bits := b.Op(ptx.Word64, "mov.b64", x)
	spread := b.Op(ptx.Word64, "or.b64", b.Op(ptx.Word64, "shr.s64", bits, "63"), signBit)
	image := b.Op(ptx.Word64, "xor.b64", b.Op(ptx.Word64, "xor.b64", bits, spread), reverse)
	return b.Op(ptx.Word64, "selp.b64", "0", image, b.Op(ptx.Predicate, "setp.nan.f64", x, x))
}

const signBit = "0x8000000000000000"

// double returns a float as float64.
func (c *valueCode) double(v codegen.Value) ptx.Register {
	if v.Class == ptx.Float32 {
		return c.b.Op(ptx.Float64, "cvt.f64.f32", v.Registers[0])
	}
	return v.Registers[0]
}

// raise writes the maximum of an extreme and an image.
func (c *valueCode) raise(address, image ptx.Register) {
	old := c.b.Op(ptx.Word64, "ld.volatile.shared.u64", "["+address+"]")
	below := c.b.Op(ptx.Predicate, "setp.lt.u64", old, image)
	c.b.Emit("@%s atom.shared.max.u64 %s, [%s], %s", below, c.b.Register(ptx.Word64), address, image)
}
