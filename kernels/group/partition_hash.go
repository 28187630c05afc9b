package group

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
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

// hashedKey is the key of partitions by hashes. It moves like an input, and is an aggregate of its groups.
type hashedKey struct {
	output output
	// input is the number that it has in place of an input.
	input   int
	carried int
	form    form
	// source is the key, and bits the number of bits of a hash that are a place.
	source source
	bits   int
}

// planHashes plans partitions by hashes for the number of groups that is expected, or returns nil.
func (f *facts) planHashes() *partitionPlan {
	if !f.mayHash() {
		return nil
	}
	var places uint64
	switch {
	case f.Groups > 0: // at most half of the slots are used
		places = powerFrom(2 * uint64(f.Groups))
	case f.estimated:
		places = powerFrom(withMargin(f.groups) * placesPerTable / groupsPerTable)
	default:
		return nil
	}
	p := f.planHashesOf(places)
	if p == nil || f.bytesOf(p) > f.budget {
		return nil
	}
	return p
}

// planHashesOf plans partitions by hashes with a number of places, or returns nil if the kernels do not support them.
func (f *facts) planHashesOf(places uint64) *partitionPlan {
	if places > mostPartitioned {
		return nil
	}
	number := len(f.inputs)
	withKey := *f
	withKey.inputs = append(slices.Clip(f.inputs), inputFacts{dataType: f.keys[0].dataType})
	key := &hashedKey{input: number, bits: bits.Len64(places - 1)}
	key.output = output{dataType: f.keys[0].dataType, finish: finishExtreme, value: number, where: -1, rows: -1}
	p := &partitionPlan{places: places, hashed: key}
	if !p.planOutputs(&withKey) || !p.divide(f) {
		return nil
	}
	return p
}

// planKey plans the key as an aggregate: the greatest one of its group. It is the last output.
func (p *partitionPlan) planKey(f *facts) bool {
	key := p.hashed
	stored, err := formOfType(key.output.dataType)
	if err != nil {
		return false
	}
	result := partitionOutput{output: &key.output, counted: noWord, form: stored, isSigned: stored.isSigned(), width: stored.bytes()}
	var ok bool
	if result.word, ok = p.term(f, accumulator{kind: greatest, value: key.input, other: -1, where: -1}); !ok {
		return false
	}
	last := p.terms[len(p.terms)-1]
	key.carried, key.form = last.carried, last.form
	p.outputs = append(p.outputs, result)
	return true
}

// powerFrom returns the least power of two, from two on, that is not below a number.
func powerFrom(n uint64) uint64 { return 1 << bits.Len64(max(n, 2)-1) }

// distinct returns an estimate of the number of different keys. It waits if the column has none.
func (r *groupFinder) distinct(key *column.Column) (uint64, error) {
	if groups, known := key.DistinctEstimate(); known {
		return groups, nil
	}
	estimate, err := sketch(&r.call, key)
	return estimate.distinct, err
}

// bytesOf returns the memory of partitions, with a result of as many groups as their tables are made for.
func (f *facts) bytesOf(planned *partitionPlan) uint64 {
	p := &partitioning{partitionPlan: planned, rows: int(f.rows), partitions: planned.partitions()}
	bytes := uint64(0)
	for _, sizes := range [][]uint64{p.stateSizes(), p.rowSizes(), p.hashSizes()} {
		for _, size := range sizes {
			bytes += size
		}
	}
	groups := min(planned.places*groupsPerTable/placesPerTable, uint64(p.rows))
	for i := range planned.outputs {
		bytes += uint64(planned.outputs[i].width+1) * groups
	}
	return bytes
}

// findHashes plans partitions by the hashes of the key.
func (r *groupFinder) findHashes() (err error) {
	p := r.facts.hashes
	if p.hashed.source, err = sourceOf(&r.call, r.rows.Column(0)); err != nil {
		return err
	}
	// hash sets the memory of these values: the places of the rows.
	place := denseKey{source: source{form: fromU32, width: 4}, span: span{0, p.places}, factor: 1}
	p.keys = &denseKeys{keys: []denseKey{place}, places: p.places}
	r.partitions = p
	return r.bind(p)
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
	hashed := hashedLayout{
		places: p.places[1], keys: keys, form: uint32(p.hashed.form), bits: uint32(p.bits), partitions: uint32(p.partitions),
		starts: p.levels[last].starts, tables: p.slots, tableWords: tableWords, failed: p.failed,
	}
	kernelNames := []string{"partition_slots", "partition_chunk_slots"}
	if p.mostListed == 0 {
		kernelNames = kernelNames[:1]
	}
	for _, entry := range kernelNames {
		if err := p.launch("partition_hash", entry, p.partitions+p.mostListed, hashThreads, uint32(8)<<p.bits, hashed.asArgument(), p.chunks.asArgument()); err != nil {
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
	fields, columns := []arrow.Field{{Name: p.finder.names[0], Type: table.Schema().Field(last).Type, Nullable: true}}, []*column.Column{table.Column(last)}
	for i := range last {
		fields, columns = append(fields, table.Schema().Field(i)), append(columns, table.Column(i))
	}
	hashed, err := op.Table(arrow.NewSchema(fields, nil), columns, table.Rows())
	return hashed, errors.Join(err, table.Release())
}
