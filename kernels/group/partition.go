package group

import (
	"math/bits"
	"slices"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/strategy"
	"github.com/gpuframe/gpuframe/kernels"
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

// carried is a column that moves with its rows.
type carried struct {
	source
	// width is 4 or 8. Shorter integers are extended.
	width int
	// conditions is set for the bits of conditions.
	conditions bool
	buffers    [2]memory.Slice[uint8]
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

// partitionPlan describes how rows are partitioned, and the results of partitions.
type partitionPlan struct {
	keys       *denseKeys
	conditions []source
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

// planPartitions plans partitions for dense keys, or returns nil if others are to be used.
func (r *run) planPartitions(d *denseKeys) (*partitionPlan, error) {
	chosen := strategy.OfGroup(r.call.Context())
	rows := r.rows.Capacity()
	if r.masked || d.places > mostPartitioned ||
		!chosen.Partition && (d.places < fewestPartitioned || int64(d.places) > partitionedPerRow*rows) {
		return nil, nil
	}
	for _, k := range d.keys {
		if k.constant {
			return nil, nil
		}
	}
	planned, err := r.planOutputs(&partitionPlan{keys: d})
	if planned == nil || err != nil {
		return nil, err
	}
	return r.planSizes(planned)
}

// planOutputs plans the aggregates of partitions, or returns nil.
func (r *run) planOutputs(p *partitionPlan) (*partitionPlan, error) {
	plan := p.results
	if r.parts {
		plan = p.stateOutputs
	}
	if ok, err := plan(r); err != nil || !ok {
		return nil, err
	}
	p.markPresent()
	if len(p.conditions) > 0 {
		p.carried = append(p.carried, carried{width: 4, conditions: true})
	}
	if p.decimals && slices.ContainsFunc(p.terms, func(t partitionTerm) bool { return t.kind == sumFloats }) {
		return nil, nil // the kernel has either
	}
	if len(p.carried) > mostCarried || len(p.conditions) > mostConditions || len(p.terms) > mostTerms || len(p.outputs) > mostOutputs {
		return nil, nil
	}
	return p, nil
}

// planSizes plans the sizes of partitions, or returns nil.
func (r *run) planSizes(p *partitionPlan) (*partitionPlan, error) {
	shared, err := r.call.Stream.Device().Attribute(backend.MaxSharedMemoryPerBlockOptIn)
	if err != nil {
		return nil, err
	}
	if !p.divide(strategy.OfGroup(r.call.Context()), shared, int(r.rows.Capacity()), max(r.call.Stream.Device().Info().Multiprocessors, 1)) {
		return nil, nil
	}
	return p, nil
}

// planPartitionsOfNumbers plans partitions for groups that have numbers, or returns nil. Results are
// in the order of the numbers.
func (r *run) planPartitionsOfNumbers() (*partitionPlan, error) {
	g := r.groups
	if r.call.OnHost() || g.dense != nil || g.keys.RowCount() != nil || g.capacity() == 0 || g.rows == 0 {
		return nil, nil
	}
	if inPlace, err := r.inPlace(uint64(g.capacity()), nil); inPlace || err != nil {
		return nil, err
	}
	key := denseKey{source: source{values: g.numbers.AsBytes(), form: fromUnsigned32, width: 4}, span: span{0, uint64(g.capacity())}, factor: 1}
	return r.planPartitions(&denseKeys{keys: []denseKey{key}, places: key.span.places})
}

// divide chooses the size of the partitions, of which two fit into the shared memory of a
// multiprocessor, and the levels. It returns false if two levels are not enough.
func (p *partitionPlan) divide(chosen strategy.Group, shared, rows, multiprocessors int) bool {
	const reserved = 2 << 10
	state := 4 * p.words
	total := bits.Len64(p.keys.places - 1)
	p.bits = bits.Len(uint((shared/2-reserved)/state)) - 1
	if !p.decimals && total > p.bits+usualDigitBits && total <= p.bits+1+mostDigitBits && state<<(p.bits+1) <= shared-reserved {
		p.bits++ // one level is enough
		p.wide = true
	}
	for p.mover = 0; p.mover+1 < len(moveKernels) && (chosen.SmallTiles || 2*moveBytes(moveKernels[p.mover].items) > shared); {
		p.mover++
	}
	if chosen.PlaceBits > 0 {
		p.bits = chosen.PlaceBits
	}
	p.bits, p.wide = min(max(p.bits, 1), 16), !p.decimals && (p.wide || chosen.Wide)
	parts := max(total-p.bits, 0)
	p.digits = []int{parts}
	if parts > mostDigitBits || chosen.TwoLevels && parts > 1 {
		p.digits = []int{(parts + 1) / 2, parts / 2}
	}
	// A partition with more rows than a block's part of all of them is divided. Partitions of
	// about that size are not.
	even := 1 << bits.Len(uint(max(rows/(2*multiprocessors), 4096)-1))
	p.chunkRows = even + even/8
	if chosen.ChunkRows > 0 {
		p.chunkRows = chosen.ChunkRows
	}
	return parts <= 2*mostDigitBits
}

func (p *partitionPlan) partitions() int {
	parts := 0
	for _, digits := range p.digits {
		parts += digits
	}
	return 1 << parts
}

// results plans all aggregates, or returns false if partitions do not have one.
func (p *partitionPlan) results(r *run) (ok bool, err error) {
	for i := range r.plan.outputs {
		if ok, err := p.output(r, &r.plan.outputs[i]); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// stateOutputs plans the states of a partial result, or returns false if partitions do not have one.
func (p *partitionPlan) stateOutputs(r *run) (ok bool, err error) {
	p.states = true
	list, err := r.plan.stateColumns()
	if err != nil {
		return false, err
	}
	for _, s := range list {
		if s.accumulator < 0 {
			return false, nil
		}
		a := r.plan.accumulators[s.accumulator]
		o := partitionOutput{output: &output{dataType: s.dataType, finish: finishState}, counted: noWord, form: form(a.kind), width: 8 * a.words()}
		if o.word, ok, err = p.term(r, a); err != nil || !ok {
			return false, err
		}
		for _, t := range p.terms {
			o.isSigned = o.isSigned || t.word == o.word && a.kind == sumIntegers && t.form.isSigned()
		}
		p.outputs = append(p.outputs, o)
	}
	return true, nil
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

// output plans an aggregate, or returns false if partitions do not have it.
func (p *partitionPlan) output(r *run, o *output) (ok bool, err error) {
	if !o.hasPartitions() {
		return false, nil
	}
	f, err := r.finishingOf(o)
	if err != nil {
		return false, err
	}
	planned := partitionOutput{output: o, counted: noWord, form: f.form, isSigned: f.isSigned, least: f.least}
	if planned.width = f.form.bytes(); f.form == fromDecimal {
		planned.width = 16
	}
	if planned.width == 0 || f.form == fromFloat16 {
		return false, nil
	}
	if planned.word, ok, err = p.term(r, r.plan.accumulators[o.states[0]]); !ok || err != nil {
		return false, err
	}
	if o.counted {
		counts := r.plan.accumulators[o.states[len(o.states)-1]]
		required, err := p.required(r, counts)
		if err != nil {
			return false, err
		}
		// A group has rows, so a count of all of them is used for means only.
		if required != 0 || o.finish == finishMean || o.finish == finishMeanFloat || o.finish == finishMeanDecimal {
			if planned.counted, ok, err = p.term(r, counts); !ok || err != nil {
				return false, err
			}
		}
		planned.nullable = required != 0
	}
	planned.nullable = planned.nullable || o.finish == finishInteger || o.finish == finishDecimal || o.finish == finishMeanDecimal
	p.outputs = append(p.outputs, planned)
	return true, nil
}

// term returns the first word of the state of an accumulator.
func (p *partitionPlan) term(r *run, a accumulator) (word int, ok bool, err error) {
	for _, known := range p.terms {
		if known.accumulator == a {
			return known.word, true, nil
		}
	}
	t := partitionTerm{accumulator: a, word: p.words}
	if t.required, err = p.required(r, a); err != nil {
		return 0, false, err
	}
	words := 0
	switch {
	case a.merges:
		return 0, false, nil
	case a.kind == countRows:
		words = 1
	case a.kind == sumIntegers && a.term == linear:
		words = 3
	case a.kind == sumDecimals:
		words = decimalWords
	case a.kind == greatest && a.value >= 0:
		words = 2
	case a.kind == sumFloats && a.term == linear && a.other < 0:
		words = 9
	default:
		return 0, false, nil
	}
	switch a.kind {
	case countRows:
	case sumDecimals:
		p.decimals = true
		if t.carried, t.high, err = p.carryDecimal(r, a.value); err != nil {
			return 0, false, err
		}
		t.form = fromUnsigned64
	default:
		if t.carried, t.form, ok, err = p.carry(r, a.value); !ok || err != nil {
			return 0, false, err
		}
	}
	p.words += words
	p.terms = append(p.terms, t)
	return t.word, true, nil
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
func (p *partitionPlan) required(r *run, a accumulator) (all uint32, err error) {
	for _, number := range []int{a.value, a.other, a.where} {
		if number < 0 {
			continue
		}
		c, err := r.input(number)
		if err != nil {
			return 0, err
		}
		isTrue := number == a.where
		if !isTrue && !op.Nullable(c) {
			continue
		}
		read := validityOf
		if isTrue {
			read = func(c *column.Column) (source, error) { return sourceOf(&r.call, c) }
		}
		s, err := read(c)
		if err != nil {
			return 0, err
		}
		all |= p.condition(s, isTrue)
	}
	return all, nil
}

// condition returns the bit of a condition.
func (p *partitionPlan) condition(s source, isTrue bool) uint32 {
	for i, known := range p.conditions {
		if known == s && (p.truths>>i&1 != 0) == isTrue {
			return 1 << i
		}
	}
	bit := uint32(1) << len(p.conditions)
	p.conditions = append(p.conditions, s)
	if isTrue {
		p.truths |= bit
	}
	return bit
}

// carry returns the number of the column that carries an input, and its form there.
func (p *partitionPlan) carry(r *run, number int) (index int, moved form, ok bool, err error) {
	c, err := r.input(number)
	if err != nil {
		return 0, 0, false, err
	}
	s, err := sourceOf(&r.call, c)
	if err != nil {
		return 0, 0, false, err
	}
	switch s.form {
	case fromSigned8, fromSigned16, fromSigned32:
		moved = fromSigned32
	case fromUnsigned8, fromUnsigned16, fromUnsigned32:
		moved = fromUnsigned32
	case fromSigned64, fromUnsigned64, fromFloat32, fromFloat64:
		moved = s.form
	default:
		return 0, 0, false, nil
	}
	return p.carrySource(s, max(s.width, 4)), moved, true, nil
}

// carrySource returns the number of the column that carries a source.
func (p *partitionPlan) carrySource(s source, width int) int {
	for i, known := range p.carried {
		if known.source == s {
			return i
		}
	}
	p.carried = append(p.carried, carried{source: s, width: width})
	return len(p.carried) - 1
}

// carryDecimal returns the numbers of the columns that carry the low and the high words of decimals.
func (p *partitionPlan) carryDecimal(r *run, number int) (low, high int, err error) {
	c, err := r.input(number)
	if err != nil {
		return 0, 0, err
	}
	s, err := sourceOf(&r.call, c)
	if err != nil {
		return 0, 0, err
	}
	upper := s
	if s.values.Len() > 0 {
		if upper.values, err = s.values.Slice(8, s.values.Len()); err != nil {
			return 0, 0, err
		}
	}
	return p.carrySource(s, 8), p.carrySource(upper, 8), nil
}

// argument returns the conditions as the kernels take them.
func (p *partitionPlan) conditionsArgument() any {
	fields := []any{uint32(len(p.conditions)), p.truths}
	for i := range mostConditions {
		s := source{}
		if i < len(p.conditions) {
			s = p.conditions[i]
		}
		fields = append(fields, s.argument())
	}
	return kernels.Struct(fields...)
}

// columnsArgument returns the carried columns as the kernels take them.
func (p *partitionPlan) columnsArgument() any {
	fields := []any{uint32(len(p.carried)), uint32(0)}
	for i := range mostCarried {
		c := carried{}
		if i < len(p.carried) {
			c = p.carried[i]
		}
		fields = append(fields, kernels.Struct(c.source.argument(), c.buffers[0], c.buffers[1], uint32(c.width), word(c.conditions)))
	}
	return kernels.Struct(fields...)
}
