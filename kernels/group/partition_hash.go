package group

import (
	"errors"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/strategy"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Scattered integers have places by hashes. Rows move to partitions by the first bits of the hash of
// their key, with the key. A block then finds the keys of a partition with a hash table in shared
// memory (partition_hash.cu) and replaces the places of its rows by the slots of the table. Then
// partition_groups adds up the rows as it does for other places. All keys of a group are equal, so its key is
// the maximum of them. If a partition has more keys than slots, or the memory does not fit the budget, the groups
// are found in another way.
//
// This replaces the numbering of the rows by a hash table in memory, which takes several times as long if that table
// exceeds the cache. It is chosen if a sketch of the keys (sketch.go) shows more groups than tiles add up:
// numbers would then lead to the same partitions, or to records.

// errCrowded is a partition with more keys than slots.
var errCrowded = errors.New("a partition has too many keys")

// hashedKey is the key of partitions by hashes.
type hashedKey struct {
	output  output
	carried int
	form    form
	// source is the key, and bits the number of bits of a hash that are a place.
	source source
	bits   int
}

// mayBeHashed reports whether rows may be in partitions by the hashes of their key: a single integer
// without nulls, and aggregates that partitions compute.
func (r *run) mayBeHashed(q Query) (bool, error) {
	chosen := strategy.OfGroup(r.call.Context())
	if r.call.OnHost() || q.parts || q.numbered || r.masked || len(q.keys) != 1 || r.rows.Capacity() == 0 || r.options.MaxGroups > 0 ||
		r.options.Order == FirstAppearance || chosen.Numbered || chosen.HashedGroups == 0 && !chosen.Estimated && r.rows.Capacity() < fewestHashedRows {
		return false, nil
	}
	for i := range r.plan.outputs {
		if !r.plan.outputs[i].hasPartitions() {
			return false, nil
		}
	}
	key := r.rows.Column(0)
	integer, err := integerType(key.Type())
	return integer != nil && !op.Nullable(key), err
}

// planHashed plans partitions by hashes, or returns nil.
func (r *run) planHashed(q Query) (*partitionPlan, error) {
	if may, err := r.mayBeHashed(q); !may || err != nil {
		return nil, err
	}
	key := r.rows.Column(0)
	if s, known := r.spans[key]; known && s.short() && strategy.OfGroup(r.call.Context()).HashedGroups == 0 {
		return nil, nil // a table of places numbers them in little time
	}
	number := len(r.plan.inputs)
	r.plan.inputs = append(r.plan.inputs, input{dataType: key.Type(), ranked: number})
	planned, err := r.planHashedBy(number, key)
	if planned != nil {
		planned, err = r.planHashedSizes(planned, key)
	}
	if planned == nil {
		r.plan.inputs = r.plan.inputs[:number]
		delete(r.ranks, number)
	}
	return planned, err
}

// planHashedSizes plans the places of partitions and their sizes, or returns nil if they are not to be used.
func (r *run) planHashedSizes(p *partitionPlan, key *column.Column) (*partitionPlan, error) {
	places, err := r.hashedPlaces(key)
	if places == 0 || places > mostPartitioned || err != nil {
		return nil, err
	}
	if p.hashed.source, err = sourceOf(&r.call, key); err != nil {
		return nil, err
	}
	p.hashed.bits = bits.Len64(places - 1)
	// hash sets the memory of these values: the places of the rows.
	place := denseKey{source: source{form: fromUnsigned32, width: 4}, span: span{0, places}, factor: 1}
	p.keys = &denseKeys{keys: []denseKey{place}, places: places}
	if p, err = r.planSizes(p); p == nil || err != nil || !r.fits(p) {
		return nil, err
	}
	return p, nil
}

// hashedPlaces returns the number of places for the groups that are expected, a power of two, or 0 if they are too few for
// partitions by hashes, or too many for the rows.
func (r *run) hashedPlaces(key *column.Column) (uint64, error) {
	chosen := strategy.OfGroup(r.call.Context())
	if chosen.HashedGroups > 0 { // at most half of the slots are used
		return powerFrom(2 * uint64(chosen.HashedGroups)), nil
	}
	groups, err := r.distinct(key)
	if err != nil {
		return 0, err
	}
	if !chosen.Estimated {
		if groups < fewestPartitioned {
			return 0, nil
		}
		if tiled, err := r.tiled(groups, nil); tiled || err != nil {
			return 0, err
		}
	}
	places := powerFrom(withMargin(groups) * placesPerTable / groupsPerTable)
	if places > partitionedPerRow*uint64(r.rows.Capacity()) && !chosen.Estimated {
		return 0, nil
	}
	return places, nil
}

// powerFrom returns the least power of two, from two on, that is not below a number.
func powerFrom(n uint64) uint64 { return 1 << bits.Len64(max(n, 2)-1) }

// distinct returns an estimate of the number of different keys. It waits if the column has none.
func (r *run) distinct(key *column.Column) (uint64, error) {
	if groups, known := r.sketched[key]; known {
		return groups, nil
	}
	if groups, known := key.DistinctEstimate(); known {
		return groups, nil
	}
	estimate, err := sketch(&r.call, key)
	return estimate.distinct, err
}

// fits reports whether the memory of partitions fits the budget, with a result of as many groups as
// their tables are made for.
func (r *run) fits(planned *partitionPlan) bool {
	p := &partitioning{partitionPlan: planned, call: &r.call, rows: int(r.rows.Capacity()), partitions: planned.partitions()}
	bytes := uint64(0)
	for _, sizes := range [][]uint64{p.stateSizes(), p.rowSizes(), p.hashSizes()} {
		for _, size := range sizes {
			bytes += size
		}
	}
	groups := min(planned.keys.places*groupsPerTable/placesPerTable, uint64(p.rows))
	for i := range planned.outputs {
		bytes += uint64(planned.outputs[i].width+1) * groups
	}
	return bytes <= r.call.Manager.Stats().Remaining
}

// planHashedBy plans partitions with the key as a further input and a further aggregate.
func (r *run) planHashedBy(number int, key *column.Column) (*partitionPlan, error) {
	r.ranks[number] = key
	greatestKey := accumulator{kind: greatest, value: number, other: -1, where: -1}
	hashed := hashedKey{output: output{dataType: key.Type(), finish: finishExtreme, value: number, where: -1, rows: -1, states: []int{len(r.plan.accumulators)}}}
	r.plan.accumulators = append(r.plan.accumulators, greatestKey)
	defer func() { r.plan.accumulators = r.plan.accumulators[:len(r.plan.accumulators)-1] }()
	p := new(partitionPlan)
	r.plan.outputs = append(r.plan.outputs, hashed.output)
	planned, err := r.planOutputs(p)
	r.plan.outputs = r.plan.outputs[:len(r.plan.outputs)-1]
	if planned == nil || err != nil {
		return nil, err
	}
	own := p.outputs[len(p.outputs)-1]
	hashed.output = *own.output
	p.outputs[len(p.outputs)-1].output = &hashed.output
	for _, t := range p.terms {
		if t.accumulator == greatestKey {
			hashed.carried, hashed.form = t.carried, t.form
		}
	}
	p.hashed = &hashed
	return p, nil
}

// hashSizes returns the memory of the places of rows by hashes.
func (p *partitioning) hashSizes() []uint64 { return []uint64{4 * uint64(p.rows)} }

// hash makes places of the hashes of keys, if the partitions are those of hashes.
func (p *partitioning) hash() error {
	if p.hashed == nil {
		return nil
	}
	places, err := p.scratch(p.hashSizes()...)
	if err != nil {
		return err
	}
	p.keys.keys[0].values = places[0]
	return launchGrid(p.call, "partition_hash", "hash_places", p.rows, places[0], p.hashed.source.argument(), uint32(p.hashed.bits), p.counted, int64(p.rows))
}

// findSlots replaces the places of rows by slots, if the partitions are those of hashes. A flag is set if a
// partition has too many keys.
func (p *partitioning) findSlots() error {
	if p.hashed == nil {
		return nil
	}
	if err := p.failed.Fill(p.call.Stream, 0); err != nil {
		return err
	}
	// The tables of partitions with several chunks take the memory of the states of their chunks, which come later.
	if err := p.slots.Fill(p.call.Stream, 0); err != nil {
		return err
	}
	last := len(p.levels) - 1
	keys := p.carried[p.hashed.carried].buffers[last]
	tableWords := uint64(p.words) << p.bits / 2
	argument := kernels.Struct(p.places[1], keys, uint32(p.hashed.form), uint32(p.bits), uint32(p.partitions), uint32(0), p.levels[last].starts, p.slots, tableWords, p.failed)
	kernelNames := []string{"partition_slots", "partition_chunk_slots"}
	if p.mostListed == 0 {
		kernelNames = kernelNames[:1]
	}
	for _, entry := range kernelNames {
		if err := p.launch("partition_hash", entry, p.partitions+p.mostListed, hashThreads, uint32(8)<<p.bits, argument, p.chunks); err != nil {
			return err
		}
	}
	return nil
}

// groupsFound waits for the number of groups. It returns errCrowded if a partition has too many keys for
// its table.
func (p *partitioning) groupsFound() (int, error) {
	words, err := memory.Reinterpret[int64](p.totals)
	if err != nil {
		return 0, err
	}
	var totals [2]int64
	read := totals[:1]
	if p.hashed != nil {
		read = totals[:]
	}
	if words, err = words.Slice(0, len(read)); err != nil {
		return 0, err
	}
	if err := words.Download(p.call.Context(), p.call.Stream, read); err != nil {
		return 0, err
	}
	if totals[1] != 0 {
		return 0, errCrowded
	}
	return int(totals[0]), nil
}

// keyFirst moves the key, the last column, to the front of a table, which it releases.
func (p *partitioning) keyFirst(table *buffer.Buffer) (*buffer.Buffer, error) {
	last := table.NumColumns() - 1
	fields, columns := []arrow.Field{{Name: p.run.names[0], Type: table.Schema().Field(last).Type, Nullable: true}}, []*column.Column{table.Column(last)}
	for i := range last {
		fields, columns = append(fields, table.Schema().Field(i)), append(columns, table.Column(i))
	}
	hashed, err := op.Table(arrow.NewSchema(fields, nil), columns, table.Rows())
	return hashed, errors.Join(err, table.Release())
}
