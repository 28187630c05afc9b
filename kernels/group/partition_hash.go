package group

import (
	"errors"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/strategy"
	"github.com/gpuframe/gpuframe/memory"
)

// Scattered integers have places by hashes. Rows move to partitions by the first bits of the hash of
// their key, with the key. A block then finds the keys of a partition with a hash table in shared
// memory (partition_hash.cu) and replaces the places of its rows by the slots of the table, with which
// partition_groups adds up the rows as ever. The greatest key of a group is its key. If a
// partition has more keys than slots, the groups are found in another way.

const hashThreads = 512

// errCrowded is a partition with more keys than slots.
var errCrowded = errors.New("a partition has too many keys")

// hashedKey is the key of partitions by hashes.
type hashedKey struct {
	output  output
	carried int
	form    form
}

// planHashed plans partitions by hashes of a single integer without nulls, or returns nil.
func (r *run) planHashed(q Query) (*partitionPlan, error) {
	chosen := strategy.OfGroup(r.call.Context())
	if chosen.HashedGroups == 0 || r.call.OnHost() || q.parts || q.numbered || r.masked || len(q.keys) != 1 || r.rows.Capacity() == 0 ||
		r.options.MaxGroups > 0 || r.options.Order == FirstAppearance {
		return nil, nil
	}
	key := r.rows.Column(0)
	of, err := integerType(key.Type())
	if of == nil || err != nil || op.Nullable(key) {
		return nil, err
	}
	// Twice as many places as groups, so that the tables are at most half full.
	total := bits.Len64(2*uint64(chosen.HashedGroups) - 1)
	if 1<<total > mostPartitioned {
		return nil, nil
	}
	places, err := r.hashPlaces(key, total)
	if err != nil {
		return nil, err
	}
	s, err := sourceOf(&r.call, places)
	if err != nil {
		return nil, err
	}
	number := len(r.plan.inputs)
	r.plan.inputs = append(r.plan.inputs, input{of: key.Type(), ranked: number})
	planned, err := r.planHashedBy(number, key, &denseKeys{keys: []denseKey{{source: s, span: span{0, 1 << total}, factor: 1}}, places: 1 << total})
	if planned == nil {
		r.plan.inputs = r.plan.inputs[:number]
	}
	return planned, err
}

// planHashedBy plans partitions with the key as a further input and a further aggregate.
func (r *run) planHashedBy(number int, key *column.Column, d *denseKeys) (*partitionPlan, error) {
	r.ranks[number] = key
	greatestKey := accumulator{kind: greatest, value: number, other: -1, where: -1}
	made := hashedKey{output: output{of: key.Type(), finish: finishExtreme, value: number, where: -1, rows: -1, states: []int{len(r.plan.accumulators)}}}
	r.plan.accumulators = append(r.plan.accumulators, greatestKey)
	defer func() { r.plan.accumulators = r.plan.accumulators[:len(r.plan.accumulators)-1] }()
	p := &partitionPlan{keys: d}
	r.plan.outputs = append(r.plan.outputs, made.output)
	planned, err := r.planOutputs(p)
	r.plan.outputs = r.plan.outputs[:len(r.plan.outputs)-1]
	if planned == nil || err != nil {
		return nil, err
	}
	own := p.outputs[len(p.outputs)-1]
	made.output = *own.output
	p.outputs[len(p.outputs)-1].output = &made.output
	for _, t := range p.terms {
		if t.accumulator == greatestKey {
			made.carried, made.form = t.carried, t.is
		}
	}
	p.hashed = &made
	return p, nil
}

// hashPlaces returns the places of keys.
func (r *run) hashPlaces(key *column.Column, total int) (*column.Column, error) {
	rows, counted, err := key.Extent(r.call.Context())
	if err != nil {
		return nil, err
	}
	s, err := sourceOf(&r.call, key)
	if err != nil {
		return nil, err
	}
	made, err := r.newScratch(op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: key.Len(), RowCount: key.RowCount()}, func(out op.Buffers) error {
		return launchGrid(&r.call, "partition_hash", "hash_places", rows, out.Values, s.argument(), uint32(total), counted, int64(rows))
	})
	if err == nil {
		r.owned.add(made)
	}
	return made, err
}

// findSlots replaces the places of rows by slots, if the partitions are those of hashes. It waits, and
// returns errCrowded if a partition has too many keys.
func (p *partitioning) findSlots() error {
	if p.hashed == nil {
		return nil
	}
	failed, err := p.scratch(4)
	if err != nil {
		return err
	}
	if err := failed[0].Fill(p.call.Stream, 0); err != nil {
		return err
	}
	last := len(p.levels) - 1
	c := p.carried[p.hashed.carried]
	blocks := min(p.partitions, 1<<16)
	err = p.launch("partition_hash", "partition_slots", blocks, hashThreads, uint32(8)<<p.bits, p.places[1], c.buffers[last], uint32(c.width), word(p.hashed.form.isSigned()),
		p.levels[last].starts, uint32(p.partitions), uint32(p.bits), failed[0])
	if err != nil {
		return err
	}
	words, err := memory.Reinterpret[uint32](failed[0])
	if err != nil {
		return err
	}
	var flag [1]uint32
	if err := words.Download(p.call.Context(), p.call.Stream, flag[:]); err != nil {
		return err
	}
	if flag[0] != 0 {
		return errCrowded
	}
	return nil
}

// keyFirst moves the key, the last column, to the front of a table, which it releases.
func (p *partitioning) keyFirst(table *buffer.Buffer) (*buffer.Buffer, error) {
	last := table.NumColumns() - 1
	fields, columns := []arrow.Field{{Name: p.run.names[0], Type: table.Schema().Field(last).Type, Nullable: true}}, []*column.Column{table.Column(last)}
	for i := range last {
		fields, columns = append(fields, table.Schema().Field(i)), append(columns, table.Column(i))
	}
	made, err := buffer.New(arrow.NewSchema(fields, nil), columns, table.Rows())
	return made, errors.Join(err, table.Release())
}
