package group

import (
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

// level is the memory of a division of rows: struct Level of partition.cuh.
type level struct {
	shift, digits, parents, tileRows     int
	counts, starts, cursors, tilesBefore memory.Slice[uint8]
}

func (l *level) argument() any {
	s := levelLayout{
		shift: uint32(l.shift), digits: uint32(l.digits), parents: uint32(l.parents), tileRows: uint32(l.tileRows),
		counts: l.counts, starts: l.starts, cursors: l.cursors, tilesBefore: l.tilesBefore,
	}
	return s.asArgument()
}

// partitioning is the work of a plan.
type partitioning struct {
	*partitionPlan
	finder     *groupFinder
	call       *op.Call
	rows       int
	counted    memory.Slice[int64]
	partitions int
	levels     []level
	// mostListed is the most chunks other than the first of their partitions, mostSlots the
	// most states of chunks.
	mostListed, mostSlots int
	chunks                chunksLayout
	slots                 memory.Slice[uint8]
	// groups and offsets are the number of groups of each partition, and before it.
	groups, offsets memory.Slice[uint8]
	// totals has the number of all groups and, for partitions by hashes, the flag failed behind it.
	totals, failed memory.Slice[uint8]
	// placesOfGroups are the places of each partition's groups. The results of aggregates have
	// the same positions.
	placesOfGroups memory.Slice[uint8]
	// places are the places of partitioned rows: after the first level of two, and at the end.
	places [2]memory.Slice[uint8]
	// starts is where each partition begins, and a last end. sorted is set if rows stay where they are: then met has
	// the conditions that they meet.
	starts, met memory.Slice[uint8]
	sorted      bool
	owned       release.Stack
}

// aggregatePartitions computes the aggregates by partitions. The groups are in the order of their
// places.
func (r *aggregation) aggregatePartitions() (*buffer.Buffer, error) {
	n, counted, err := r.rows.Extent(r.call.Context())
	if err != nil {
		return nil, err
	}
	p := &partitioning{partitionPlan: r.partitions, finder: &r.groupFinder, call: &r.call, rows: int(n), counted: counted, partitions: r.partitions.partitions()}
	table, err := p.table()
	return release.OnError(table, err, p.owned.Release())
}

func (p *partitioning) table() (*buffer.Buffer, error) {
	if err := p.findSorted(); err != nil {
		return nil, err
	}
	steps := []func() error{p.allocateState, p.allocateRows, p.hash, p.move, p.findSlots, p.aggregate}
	if p.sorted {
		steps = []func() error{p.allocateSorted, p.placeSorted, p.aggregate}
	}
	for _, step := range steps {
		if err := cancel.Error(p.call.Context()); err != nil {
			return nil, err
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	if p.finder.groups != nil { // each has rows
		return p.result(p.finder.groups.capacity())
	}
	groups, err := p.groupsFound()
	if err != nil {
		return nil, err
	}
	return p.result(groups)
}

// scratch allocates memory that is released at the end.
func (p *partitioning) scratch(sizes ...uint64) ([]memory.Slice[uint8], error) {
	block, slices, err := p.call.Scratch(sizes...)
	if err == nil {
		p.owned.Add(block)
	}
	return slices, err
}

// stateSizes returns the memory of the levels and of the chunks.
func (p *partitioning) stateSizes() (sizes []uint64) {
	parents := uint64(1)
	for _, digits := range p.digits {
		parents <<= digits
		sizes = append(sizes, 4*parents, 4*parents+4, 4*parents, 4*parents+4)
	}
	return append(sizes, p.chunkSizes()...)
}

// chunkSizes returns the memory of the chunks and of the numbers of groups, and counts the chunks.
func (p *partitioning) chunkSizes() []uint64 {
	p.mostListed = p.rows / p.chunkRows
	p.mostSlots = 2 * p.mostListed
	n := uint64(p.partitions)
	return []uint64{4, 4, 4 * n, 4 * n, 8*uint64(p.mostListed) + 8, 4 * n, 4 * n, 16}
}

// takeChunks takes the memory of chunkSizes, and clears it.
func (p *partitioning) takeChunks(all []memory.Slice[uint8]) (err error) {
	p.chunks = chunksLayout{chunkRows: uint32(p.chunkRows), slots: all[0], listed: all[1], firstSlot: all[2], done: all[3], list: all[4]}
	for _, cleared := range []memory.Slice[uint8]{all[0], all[1], all[3]} {
		if err := cleared.Fill(p.call.Stream, 0); err != nil {
			return err
		}
	}
	p.groups, p.offsets, p.totals = all[5], all[6], all[7]
	p.failed, err = p.totals.Slice(8, 16)
	return err
}

// allocateState allocates the memory of the levels and of the chunks, and clears it.
func (p *partitioning) allocateState() error {
	sizes := p.stateSizes()
	const perLevel = 4
	parents, shift := 1, p.bits
	for _, digits := range p.digits {
		shift += digits
	}
	for _, digits := range p.digits {
		shift -= digits
		p.levels = append(p.levels, level{shift: shift, digits: 1 << digits, parents: parents, tileRows: p.tileRows()})
		parents <<= digits
	}
	all, err := p.scratch(sizes...)
	if err != nil {
		return err
	}
	for i := range p.levels {
		l := &p.levels[i]
		l.counts, l.starts, l.cursors = all[0], all[1], all[2]
		if i+1 < len(p.levels) {
			l.tilesBefore = all[3]
		}
		all = all[perLevel:]
		if err := l.counts.Fill(p.call.Stream, 0); err != nil {
			return err
		}
	}
	p.starts = p.levels[len(p.levels)-1].starts
	return p.takeChunks(all)
}

// rowSizes returns the memory of partitioned rows, and of the results of groups.
func (p *partitioning) rowSizes() []uint64 {
	n := uint64(p.rows)
	sizes := []uint64{2 * n}
	if len(p.digits) > 1 {
		sizes = append(sizes, 4*n)
	}
	for range p.digits {
		for _, c := range p.carried {
			sizes = append(sizes, uint64(c.width)*n)
		}
	}
	return append(sizes, p.resultSizes()...)
}

// resultSizes returns the memory of the results of groups, and of the states of chunks.
func (p *partitioning) resultSizes() []uint64 {
	places := uint64(p.partitions) << p.bits
	sizes := append([]uint64{}, 4*places, 4*uint64(p.words)<<p.bits*uint64(p.mostSlots))
	for _, o := range p.outputs {
		valid := uint64(0)
		if o.nullable {
			valid = places
		}
		sizes = append(sizes, uint64(o.width)*places, valid)
	}
	return sizes
}

// allocateRows allocates the memory of partitioned rows, and of the results of groups.
func (p *partitioning) allocateRows() error {
	all, err := p.scratch(p.rowSizes()...)
	if err != nil {
		return err
	}
	take := func() memory.Slice[uint8] {
		first := all[0]
		all = all[1:]
		return first
	}
	p.places[1] = take()
	if len(p.levels) > 1 {
		p.places[0] = take()
	}
	for level := range p.levels {
		for i := range p.partitionPlan.carried {
			p.partitionPlan.carried[i].buffers[level] = take()
		}
	}
	p.takeResults(all)
	return nil
}

// takeResults takes the memory of resultSizes.
func (p *partitioning) takeResults(all []memory.Slice[uint8]) {
	p.placesOfGroups, p.slots = all[0], all[1]
	for i := range p.outputs {
		p.outputs[i].values, p.outputs[i].validity = all[2+2*i], all[3+2*i]
	}
}

// launch launches a kernel of partitions.
func (p *partitioning) launch(file, entry string, blocks, threads int, shared uint32, arguments ...any) error {
	f, err := p.call.Kernel(&aggregateSet, file, entry)
	if err != nil {
		return err
	}
	return f.Launch(p.call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: uint32(threads)}, shared, arguments...)
}

// move moves the rows to their partitions.
func (p *partitioning) move() error {
	mover, tiles := &moveKernels[p.mover], (p.rows+p.tileRows()-1)/p.tileRows()
	shared := uint32(moveBytes(mover.items))
	loops := max(p.call.Stream.Device().Info().Multiprocessors, 1) * residentBlocks
	first := &p.levels[0]
	keys := p.keys.argument()
	err := p.launch("partition", "partition_count", min((p.rows+countedRows-1)/countedRows, loops), partitionThreads, 0,
		keys, p.counted, int64(p.rows), first.argument())
	if err != nil {
		return err
	}
	last := len(p.levels) == 1
	if err := p.findStarts(memory.Slice[uint8]{}, first, last); err != nil {
		return err
	}
	moved := movedLayout{places: p.places[0]}
	if last {
		moved = movedLayout{places: p.places[1], narrow: p.narrow()}
	}
	entry := "partition_move"
	if p.movesPlain() && !tuningOf(p.call.Context()).Without.Has(plainMoves) {
		entry += "_plain"
	}
	err = p.launch("partition", entry+mover.suffix, tiles, partitionThreads, shared, keys, p.counted, int64(p.rows), first.argument(),
		p.columnsArgument(), p.conditionsArgument(), moved.asArgument())
	if err != nil || last {
		return err
	}
	second := &p.levels[1]
	// The last tile of each part may be short.
	tiles += first.digits
	if err := p.launch("partition", "partition_count_again", tiles, partitionThreads, 0, p.places[0], first.argument(), second.argument()); err != nil {
		return err
	}
	if err := p.findStarts(first.starts, second, true); err != nil {
		return err
	}
	moved = movedLayout{from: p.places[0], places: p.places[1], narrow: p.narrow()}
	return p.launch("partition", "partition_move_again"+mover.suffix, tiles, partitionThreads, shared, first.argument(), second.argument(),
		p.columnsArgument(), p.conditionsArgument(), moved.asArgument())
}

// movesPlain reports whether rows have one key of 4 bytes without nulls, and columns of 4 or 8 bytes.
func (p *partitionPlan) movesPlain() bool {
	k := &p.keys.keys[0]
	return len(p.keys.keys) == 1 && k.width == 4 && k.valid.Len() == 0 &&
		!slices.ContainsFunc(p.carried, func(c carried) bool { return c.conditions || c.source.width != c.width })
}

func (p *partitioning) tileRows() int { return partitionThreads * moveKernels[p.mover].items }

// narrow returns the bits of a place within its partition.
func (p *partitioning) narrow() uint32 { return 1<<p.bits - 1 }

// findStarts finds where the parts of a level begin, and the chunks of the last one.
func (p *partitioning) findStarts(parents memory.Slice[uint8], l *level, last bool) error {
	chunks := p.chunks
	if !last {
		chunks = chunksLayout{}
	}
	return p.launch("partition", "partition_starts", l.parents, partitionThreads, 0, parents, l.argument(), chunks.asArgument())
}

// aggregate computes the results of all groups.
func (p *partitioning) aggregate() error {
	l := aggregationLayout{
		bits: uint32(p.bits), partitions: uint32(p.partitions), words: uint32(p.words), terms: uint32(len(p.terms)), outputs: uint32(len(p.outputs)),
		present: uint32(p.present), marks: kernelset.Flag(p.marks), states: kernelset.Flag(p.states),
		starts: p.starts, places: p.places[1], conditions: p.conditionsMet(), groups: p.groups, placesOfGroups: p.placesOfGroups, slots: p.slots,
	}
	for i := range p.terms {
		t := &p.terms[i]
		l.term[i] = termLayout{kind: uint32(t.kind), word: uint32(t.word), least: kernelset.Flag(t.least), required: t.required}
		p.rowsOfTerm(&l.term[i], t)
		l.sumsFloats |= kernelset.Flag(t.kind == sumFloats)
	}
	for i := range p.outputs {
		o := &p.outputs[i]
		l.output[i] = outputLayout{
			finish: uint32(o.finish), word: uint32(o.word), counted: uint32(o.counted), form: uint32(o.form), isSigned: kernelset.Flag(o.isSigned), least: kernelset.Flag(o.least),
			width: uint32(o.width), factor: uint32(o.factor), values: o.values, valid: o.validity,
		}
	}
	shared := uint32(4*p.words) << p.bits
	entry, threads := "partition_groups", partitionThreads
	if p.decimals {
		entry += "_decimals"
	}
	if p.wide {
		entry, threads = entry+"_wide", 2*partitionThreads
	}
	if err := p.launch("partition_groups", entry, p.partitions+p.mostListed, threads, shared, l.asArgument(), p.chunks.asArgument()); err != nil {
		return err
	}
	return p.launch("partition_groups", "partition_offsets", 1, partitionThreads, 0, p.groups, p.offsets, p.totals, uint32(p.partitions))
}

// result returns the table of all groups.
func (p *partitioning) result(groups int) (*buffer.Buffer, error) {
	var temporaries release.Stack
	var fields []arrow.Field
	var columns []*column.Column
	add := func(name string, nullable bool, result op.Result, from compactedLayout) error {
		result.Length = groups
		c, err := newColumn(p.call, result, func(out op.Buffers) error { return p.compact(out, groups, result.Nullable, from) })
		if err != nil {
			return err
		}
		temporaries.Add(c)
		fields, columns = append(fields, arrow.Field{Name: name, Type: result.Type, Nullable: nullable}), append(columns, c)
		return nil
	}
	if p.finder.groups != nil {
		keys := p.finder.groups.keys
		for i, f := range keys.Schema().Fields() {
			fields, columns = append(fields, arrow.Field{Name: p.finder.names[i], Type: f.Type, Nullable: true}), append(columns, keys.Column(i))
		}
	}
	for i := range p.keys.keys {
		k := &p.keys.keys[i]
		if k.column == nil { // the numbers of groups
			continue
		}
		result := op.Result{Type: k.column.Type(), Nullable: op.Nullable(k.column)}
		if err := add(p.finder.names[i], true, result, compactedLayout{least: k.span.least, places: k.span.places, factor: k.factor, width: uint32(k.width)}); err != nil {
			return nil, errors.Join(err, temporaries.Release())
		}
	}
	for i := range p.outputs {
		o := &p.outputs[i]
		name := o.aggregate.Name
		if p.states {
			name = func() string { return stateName(i) }
		}
		if err := add(name(), o.output.nullable, op.Result{Type: o.dataType, Nullable: o.nullable}, compactedLayout{from: o.values, fromValid: o.validity, width: uint32(o.width)}); err != nil {
			return nil, errors.Join(&AggregateError{i, o.aggregate, err}, temporaries.Release())
		}
	}
	table, err := op.Table(arrow.NewSchema(fields, nil), columns, buffer.Rows{Count: int64(groups)})
	table, err = release.OnError(table, err, temporaries.Release())
	if err != nil || p.hashed == nil {
		return table, err
	}
	return p.keyFirst(table)
}

// compact writes a column of the result.
func (p *partitioning) compact(out op.Buffers, groups int, nullable bool, from compactedLayout) error {
	bytes := memory.Slice[uint8]{}
	var block *memory.Block
	if nullable {
		var scratch []memory.Slice[uint8]
		var err error
		if block, scratch, err = p.call.Scratch(uint64(groups)); err != nil {
			return err
		}
		bytes = scratch[0]
	}
	from.to, from.valid = out.Values, bytes
	blocks := min(p.partitions, 1<<16)
	err := p.launch("partition_groups", "partition_compact", blocks, compactThreads, 0, p.groups, p.offsets, p.placesOfGroups,
		uint32(p.partitions), uint32(p.bits), from.asArgument())
	if err == nil && nullable {
		err = launchRows(p.call, "partition_groups", "pack_validity", (groups+63)/64*64, out.Valid, bytes, uint64(groups))
	}
	return errors.Join(err, block.Release())
}
