package group

import (
	"math/bits"
	"slices"

	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

// Many groups of integers in a range are found by partitions. The place of a row is the
// combination of its keys, as that of dense keys. Rows are moved, with the values that the
// aggregates read, to partitions of 2^bits consecutive places. A block then adds up the rows
// of one partition in shared memory, where each place has a state, and writes the results of
// the places that have rows. No row reads or changes memory at random, and no states are
// in global memory. partition.cuh has the kernels.

// moveKernels are the kernels that move rows, for tiles of some rows of each thread. The first ones
// fit twice into the shared memory of large devices.
var moveKernels = []struct {
	suffix string
	items  int
}{{"", 12}, {"_small", 8}}

// moveBytes is the size of MoveMemory.
func moveBytes(items int) int {
	return 10*partitionThreads*items + 2*4<<mostDigitBits + 4*partitionThreads/32 + 8
}

// carried is a column that moves with its rows: an input, or the bits of conditions.
type carried struct {
	// source is that of the input: bind sets it.
	source
	input int
	// high selects the high words of decimals.
	high bool
	// width is 4 or 8. Shorter integers are extended.
	width int
	// conditions is set for the bits of conditions.
	conditions bool
	buffers    [2]memory.Slice[uint8]
}

// condition is that an input is true, or not null.
type condition struct {
	input  int
	isTrue bool
	// source is that of the input, or of its validity: bind sets it.
	source source
}

// partitionTerm is an accumulator of a partition. Its state begins with word word.
type partitionTerm struct {
	accumulator
	word     int
	required uint32
	// carried is the number of the column with its values, and form their form there.
	carried int
	form    form
	// high is the number of the column with the high words of decimals.
	high int
}

// partitionOutput is an aggregate of a partition.
type partitionOutput struct {
	*output
	word, counted    int
	form             form
	width            int
	isSigned, least  bool
	nullable         bool
	values, validity memory.Slice[uint8]
}

// partitionPlan describes how rows are partitioned, and the results of partitions. It is made of facts alone: bind finds
// its columns.
type partitionPlan struct {
	// places is the number of places, keys those that have them: bind sets the keys.
	places     uint64
	keys       *denseKeys
	conditions []condition
	truths     uint32
	carried    []carried
	terms      []partitionTerm
	outputs    []partitionOutput
	// words is the number of words of 32 bits of a state. Word present is not 0 if a group has
	// rows. Rows set it if marks is set; otherwise it is part of a term.
	words   int
	present int
	marks   bool
	// bits is the logarithm of the places of a partition, and digits those of the parts of
	// each level.
	bits      int
	digits    []int
	chunkRows int
	// wide is set if a multiprocessor has one block, of twice the threads. mover is the number
	// of the kernels that move rows.
	wide  bool
	mover int
	// states is set for the states of a partial result, as the outputs.
	states bool
	// decimals is set if there are sums of decimals.
	decimals bool
	// hashed is the key, if the places are those of hashes, or nil.
	hashed *hashedKey
}

// planPartitions plans partitions for the places of the keys, or returns nil if the kernels do not support them.
func (f *facts) planPartitions() *partitionPlan {
	if slices.ContainsFunc(f.keys, func(k keyFacts) bool { return k.constant }) {
		return nil
	}
	return f.planPartitionsOf(f.places)
}

// planPartitionsOf plans partitions for a number of places, or returns nil.
func (f *facts) planPartitionsOf(places uint64) *partitionPlan {
	if f.onHost || f.masked || places == 0 || places > mostPartitioned {
		return nil
	}
	p := &partitionPlan{places: places}
	if !p.planOutputs(f) || !p.divide(f) {
		return nil
	}
	return p
}

// planOutputs plans the aggregates of partitions, or returns false.
func (p *partitionPlan) planOutputs(f *facts) bool {
	plan := p.planResults
	if f.asStates {
		plan = p.planStates
	}
	if !plan(f) || p.hashed != nil && !p.planKey(f) {
		return false
	}
	p.markPresent()
	if len(p.conditions) > 0 {
		p.carried = append(p.carried, carried{width: 4, conditions: true})
	}
	if p.decimals && slices.ContainsFunc(p.terms, func(t partitionTerm) bool { return t.kind == sumFloats }) {
		return false // the kernel has either
	}
	return len(p.carried) <= mostCarried && len(p.conditions) <= mostConditions && len(p.terms) <= mostTerms && len(p.outputs) <= mostOutputs
}

// divide chooses the size of the partitions, of which two fit into the shared memory of a
// multiprocessor, and the levels. It returns false if two levels are not enough.
func (p *partitionPlan) divide(f *facts) bool {
	state := 4 * p.words
	total := bits.Len64(p.places - 1)
	p.bits = bits.Len(uint((f.shared/2-partitionReserve)/state)) - 1
	if !p.decimals && total > p.bits+usualDigitBits && total <= p.bits+1+mostDigitBits && state<<(p.bits+1) <= f.shared-partitionReserve {
		p.bits++ // one level is enough
		p.wide = true
	}
	for p.mover = 0; p.mover+1 < len(moveKernels) && (moveKernels[p.mover].items > f.MoveRows || 2*moveBytes(moveKernels[p.mover].items) > f.shared); {
		p.mover++
	}
	if f.PlaceBits > 0 {
		p.bits = f.PlaceBits
	}
	p.bits, p.wide = min(max(p.bits, 1), mostPlaceBits), !p.decimals && (p.wide || f.PartitionThreads > partitionThreads)
	digits := max(total-p.bits, 0)
	p.digits = []int{digits}
	if digits > f.DigitBits {
		p.digits = []int{(digits + 1) / 2, digits / 2}
	}
	// A partition with more rows than a block's share of all of them is divided. Partitions of
	// about that size are not.
	even := 1 << bits.Len(uint(max(int(f.rows)/(2*f.multiprocessors), fewestChunkedRows)-1))
	p.chunkRows = even + even/8
	if f.ChunkRows > 0 {
		p.chunkRows = f.ChunkRows
	}
	return digits <= 2*mostDigitBits
}

func (p *partitionPlan) partitions() int {
	total := 0
	for _, bits := range p.digits {
		total += bits
	}
	return 1 << total
}

// planResults plans all aggregates, or returns false if partitions do not have one.
func (p *partitionPlan) planResults(f *facts) bool {
	for i := range f.plan.outputs {
		if !p.planResult(f, &f.plan.outputs[i]) {
			return false
		}
	}
	return true
}

// planStates plans the states of a partial result, or returns false if partitions do not have one.
func (p *partitionPlan) planStates(f *facts) bool {
	p.states = true
	list, err := f.plan.stateColumns()
	if err != nil {
		return false
	}
	for _, s := range list {
		if s.accumulator < 0 {
			return false
		}
		a := f.plan.accumulators[s.accumulator]
		o := partitionOutput{output: &output{dataType: s.dataType, finish: finishState}, counted: noWord, form: form(a.kind), width: 8 * a.words()}
		var ok bool
		if o.word, ok = p.term(f, a); !ok {
			return false
		}
		for _, t := range p.terms {
			o.isSigned = o.isSigned || t.word == o.word && a.kind == sumIntegers && t.form.isSigned()
		}
		p.outputs = append(p.outputs, o)
	}
	return true
}

// hasPartitions reports whether partitions may have an aggregate.
func (o *output) hasPartitions() bool {
	if o.method != byState {
		return false
	}
	switch o.finish {
	case finishCount, finishInteger, finishExtreme, finishMean, finishFloat, finishMeanFloat, finishDecimal, finishMeanDecimal:
		return true
	}
	return false
}

// planResult plans an aggregate, or returns false if partitions do not have it.
func (p *partitionPlan) planResult(f *facts, o *output) bool {
	if !o.hasPartitions() {
		return false
	}
	stored, isSigned, least, err := f.plan.form(o)
	if err != nil {
		return false
	}
	result := partitionOutput{output: o, counted: noWord, form: stored, isSigned: isSigned, least: least}
	if result.width = stored.bytes(); stored == fromDecimal {
		result.width = 16
	}
	if result.width == 0 || stored == fromF16 {
		return false
	}
	var ok bool
	if result.word, ok = p.term(f, f.plan.accumulators[o.states[0]]); !ok {
		return false
	}
	if o.counted {
		counts := f.plan.accumulators[o.states[len(o.states)-1]]
		required := p.required(f, counts)
		// A group has rows, so a count of all of them is used for means only.
		if required != 0 || o.finish == finishMean || o.finish == finishMeanFloat || o.finish == finishMeanDecimal {
			if result.counted, ok = p.term(f, counts); !ok {
				return false
			}
		}
		result.nullable = required != 0
	}
	result.nullable = result.nullable || o.finish == finishInteger || o.finish == finishDecimal || o.finish == finishMeanDecimal
	p.outputs = append(p.outputs, result)
	return true
}

// term returns the first word of the state of an accumulator.
func (p *partitionPlan) term(f *facts, a accumulator) (word int, ok bool) {
	for _, known := range p.terms {
		if known.accumulator == a {
			return known.word, true
		}
	}
	words := a.partitionWords()
	if words == 0 {
		return 0, false
	}
	t := partitionTerm{accumulator: a, word: p.words, required: p.required(f, a)}
	switch a.kind {
	case countRows:
	case sumDecimals:
		p.decimals = true
		t.carried, t.high, t.form = p.carry(carried{input: a.value, width: 8}), p.carry(carried{input: a.value, high: true, width: 8}), fromU64
	default:
		if t.form = f.movedForm(a.value); t.form == fromNothing {
			return 0, false
		}
		t.carried = p.carry(carried{input: a.value, width: t.form.bytes()})
	}
	p.words += words
	p.terms = append(p.terms, t)
	return t.word, true
}

// partitionWords returns the number of words of 32 bits of the state of an accumulator in a partition, or 0 if partitions
// do not have it.
func (a accumulator) partitionWords() int {
	switch {
	case a.merges:
		return 0
	case a.kind == countRows:
		return 1
	case a.kind == sumIntegers && a.term == linear:
		return 3
	case a.kind == sumDecimals:
		return decimalWords
	case a.kind == greatest && a.value >= 0:
		return 2
	case a.kind == sumFloats && a.term == linear && a.other < 0:
		return 9
	}
	return 0
}

// markPresent chooses the word that shows whether a group has rows: a count or the head of a sum
// of floats of all rows, or another word.
func (p *partitionPlan) markPresent() {
	for _, t := range p.terms {
		if t.required == 0 && (t.kind == countRows || t.kind == sumFloats) {
			p.present = t.word
			return
		}
	}
	p.present, p.marks = p.words, true
	p.words++
}

// required returns the conditions that a row has to meet.
func (p *partitionPlan) required(f *facts, a accumulator) (all uint32) {
	for _, number := range []int{a.value, a.other, a.where} {
		if number >= 0 && (number == a.where || f.inputs[number].nullable) {
			all |= p.condition(number, number == a.where)
		}
	}
	return all
}

// condition returns the bit of a condition.
func (p *partitionPlan) condition(input int, isTrue bool) uint32 {
	for i, known := range p.conditions {
		if known.input == input && known.isTrue == isTrue {
			return 1 << i
		}
	}
	bit := uint32(1) << len(p.conditions)
	p.conditions = append(p.conditions, condition{input: input, isTrue: isTrue})
	if isTrue {
		p.truths |= bit
	}
	return bit
}

// movedForm returns the form of the values of an input in partitions, or fromNothing if they cannot be moved.
func (f *facts) movedForm(input int) form {
	stored, err := formOfType(f.inputs[input].dataType)
	if err != nil {
		return fromNothing
	}
	switch stored {
	case fromI8, fromI16, fromI32:
		return fromI32
	case fromU8, fromU16, fromU32:
		return fromU32
	case fromI64, fromU64, fromF32, fromF64:
		return stored
	}
	return fromNothing
}

// carry returns the number of a column that moves.
func (p *partitionPlan) carry(c carried) int {
	for i := range p.carried {
		if known := &p.carried[i]; known.input == c.input && known.high == c.high {
			return i
		}
	}
	p.carried = append(p.carried, c)
	return len(p.carried) - 1
}

// conditionsArgument returns the conditions as the kernels take them.
func (p *partitionPlan) conditionsArgument() any {
	l := conditionsLayout{count: uint32(len(p.conditions)), truths: p.truths}
	for i := range p.conditions {
		l.condition[i] = p.conditions[i].source.layout()
	}
	return l.asArgument()
}

// columnsArgument returns the carried columns as the kernels take them.
func (p *partitionPlan) columnsArgument() any {
	l := columnsLayout{count: uint32(len(p.carried))}
	for i := range p.carried {
		c := &p.carried[i]
		l.column[i] = carriedLayout{from: c.source.layout(), first: c.buffers[0], second: c.buffers[1], width: uint32(c.width), conditions: kernelset.Flag(c.conditions)}
	}
	return l.asArgument()
}

// bind finds the columns that a plan reads. Deferred inputs become columns.
func (r *groupFinder) bind(p *partitionPlan) error {
	for i := range p.conditions {
		c := &p.conditions[i]
		values, err := r.input(c.input)
		if err != nil {
			return err
		}
		if c.isTrue {
			c.source, err = sourceOf(&r.call, values)
		} else {
			c.source, err = validityOf(values)
		}
		if err != nil {
			return err
		}
	}
	for i := range p.carried {
		c := &p.carried[i]
		if c.conditions {
			continue
		}
		if p.hashed != nil && c.input == p.hashed.input {
			c.source = p.hashed.source
			continue
		}
		values, err := r.input(c.input)
		if err != nil {
			return err
		}
		if c.source, err = sourceOf(&r.call, values); err != nil {
			return err
		}
		if c.high && c.source.values.Len() > 0 {
			if c.source.values, err = c.source.values.Slice(8, c.source.values.Len()); err != nil {
				return err
			}
		}
	}
	return nil
}

// findPartitions plans partitions of the places of keys.
func (r *groupFinder) findPartitions() (err error) {
	p := r.facts.partitions
	if p.keys, err = r.denseKeys(); err == nil {
		err = r.bind(p)
	}
	r.partitions = p
	return err
}

// planPartitionsOfNumbers plans partitions for groups that have numbers, or returns nil. Results are
// in the order of the numbers.
func (r *groupFinder) planPartitionsOfNumbers() (*partitionPlan, error) {
	g, f := r.groups, r.facts
	if r.call.OnHost() || r.merges || g.dense != nil || g.keys.RowCount() != nil || g.capacity() == 0 || g.rows == 0 {
		return nil, nil
	}
	places := uint64(g.capacity())
	if chooseAdder(f, places, true) != partitionsName {
		return nil, nil
	}
	p := f.planPartitionsOf(places)
	key := denseKey{source: source{values: g.numbers.AsBytes(), form: fromU32, width: 4}, span: span{0, places}, factor: 1}
	p.keys = &denseKeys{keys: []denseKey{key}, places: places}
	return p, r.bind(p)
}
