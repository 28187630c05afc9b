package gpubeam

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// reduction is a query with results for parts of the rows that can be combined in any order.
type reduction interface {
	// part computes the result of a batch.
	part(ctx context.Context, e *gpuframe.Engine, batch arrow.Record) (arrow.Record, error)
	// combine makes one result of several.
	combine(ctx context.Context, e *gpuframe.Engine, parts []arrow.Record) (arrow.Record, error)
	// finish makes the answer, in one or more records, of all results of a partition.
	finish(ctx context.Context, e *gpuframe.Engine, parts []arrow.Record) ([]arrow.Record, error)
	// keys are the columns of a result by which rows are divided into partitions. Without keys
	// all rows are in one partition.
	keys(schema *arrow.Schema) []expr.Expr
}

// newReduction returns the reduction of a document with a wide step.
func newReduction(verb, document string) (reduction, error) {
	switch verb {
	case "group":
		return newGrouping(document)
	case "distinct":
		return newDistinct(document)
	}
	return newTop(document)
}

// reduce adds the stages of a reduction to a pipeline.
func reduce(s beam.Scope, function, verb string, options Options, document string, batches beam.PCollection) (beam.PCollection, error) {
	reduced, err := tryReduce(s, function, verb, options, document, batches)
	if err != nil {
		return beam.PCollection{}, fmt.Errorf("gpubeam: %s: %w", function, err)
	}
	return reduced, nil
}

func tryReduce(s beam.Scope, function, verb string, options Options, document string, batches beam.PCollection) (none beam.PCollection, err error) {
	if options, err = options.withDefaults(function); err != nil {
		return none, err
	}
	if _, err := newReduction(verb, document); err != nil {
		return none, err
	}
	if err := checkInput(batches); err != nil {
		return none, err
	}
	s = s.Scope("gpubeam." + options.Name)
	r := reducing{Verb: verb, Document: document}
	parts, err := beam.TryParDo(s, &partFn{Stage: stage{options.Name + ", parts", options}, Of: r}, batches)
	if err != nil {
		return none, err
	}
	grouped, err := beam.TryGroupByKey(s, parts[0])
	if err != nil {
		return none, err
	}
	merged, err := beam.TryParDo(s, &mergeFn{Stage: stage{options.Name + ", merge", options}, Of: r}, grouped)
	if err != nil {
		return none, err
	}
	return merged[0], nil
}

func init() {
	register.DoFn3x1[context.Context, Batch, func(int64, Batch), error](&partFn{})
	register.DoFn4x1[context.Context, int64, func(*Batch) bool, func(Batch), error](&mergeFn{})
	register.Emitter2[int64, Batch]()
	register.Iter1[Batch]()
}

// reducing is a reduction that travels as its document, and results of parts.
type reducing struct {
	Verb, Document string

	reduction reduction
	parts     []arrow.Record
}

func (r *reducing) setup() (err error) {
	r.reduction, err = newReduction(r.Verb, r.Document)
	return err
}

// leastParts is the number of results from which on they are combined, if the later ones have
// as many rows together as the first one.
const leastParts = 16

// add adds a result, and combines all if there are many.
func (r *reducing) add(ctx context.Context, s *stage, partition int64, part arrow.Record) error {
	r.parts = append(r.parts, part)
	rows := int64(0)
	for _, p := range r.parts[1:] {
		rows += p.NumRows()
	}
	if len(r.parts) < leastParts || rows < r.parts[0].NumRows() {
		return nil
	}
	var combined arrow.Record
	err := s.run(ctx, partition, func(e *gpuframe.Engine) (err error) {
		combined, err = r.reduction.combine(ctx, e, r.parts)
		return err
	})
	if errors.Is(err, memory.ErrBudget) {
		return nil // finish divides them, or fails
	}
	if err == nil {
		r.parts = []arrow.Record{combined}
	}
	return err
}

// partFn computes the results of the batches of a bundle, and divides them by a hash.
type partFn struct {
	Stage stage
	Of    reducing
}

// Setup opens the engine.
func (f *partFn) Setup() error {
	if err := f.Of.setup(); err != nil {
		return err
	}
	return f.Stage.Setup()
}

// Teardown gives the engine back.
func (f *partFn) Teardown() error { return f.Stage.Teardown() }

// StartBundle begins without results.
func (f *partFn) StartBundle(context.Context, func(int64, Batch)) { f.Of.parts = nil }

// ProcessElement computes the result of a batch.
func (f *partFn) ProcessElement(ctx context.Context, b Batch, _ func(int64, Batch)) error {
	var part arrow.Record
	err := f.Stage.run(ctx, noPartition, func(e *gpuframe.Engine) (err error) {
		part, err = f.Of.reduction.part(ctx, e, b.record)
		return err
	})
	if err != nil {
		return err
	}
	return f.Of.add(ctx, &f.Stage, noPartition, part)
}

// FinishBundle emits the rows of each partition. A bundle without rows emits its schema.
func (f *partFn) FinishBundle(ctx context.Context, emit func(int64, Batch)) error {
	parts := f.Of.parts
	f.Of.parts = nil
	if len(parts) == 0 {
		return nil
	}
	var divided [][]arrow.Record
	rows := int64(0)
	for _, part := range parts {
		var partitions []arrow.Record
		err := f.Stage.run(ctx, noPartition, func(e *gpuframe.Engine) (err error) {
			partitions, err = partition(ctx, e, part, f.Of.reduction.keys(part.Schema()), f.Stage.Options.Partitions, 0)
			return err
		})
		if err != nil {
			return err
		}
		divided, rows = append(divided, partitions), rows+part.NumRows()
	}
	if rows == 0 {
		emit(0, Batch{parts[0]})
	}
	for _, partitions := range divided {
		for i, record := range partitions {
			if record.NumRows() > 0 {
				emit(int64(i), Batch{record})
			}
		}
	}
	return nil
}

// mergeFn merges the results of a partition.
type mergeFn struct {
	Stage stage
	Of    reducing
}

// Setup opens the engine.
func (f *mergeFn) Setup() error {
	if err := f.Of.setup(); err != nil {
		return err
	}
	return f.Stage.Setup()
}

// Teardown gives the engine back.
func (f *mergeFn) Teardown() error { return f.Stage.Teardown() }

// ProcessElement merges the results of a partition.
func (f *mergeFn) ProcessElement(ctx context.Context, number int64, parts func(*Batch) bool, emit func(Batch)) error {
	f.Of.parts = nil
	for b := (Batch{}); parts(&b); {
		if err := f.Of.add(ctx, &f.Stage, number, b.record); err != nil {
			return err
		}
	}
	records, err := f.finish(ctx, number, f.Of.parts, 0)
	if f.Of.parts = nil; err != nil {
		return err
	}
	emitAll(records, emit)
	return nil
}

const (
	// mostLevels is how often a partition is divided again if memory does not suffice for it, and
	// divisions the number of parts that it is divided into.
	mostLevels = 4
	divisions  = 8
)

// finish makes the answer of a partition. If memory does not suffice, it divides the rows by
// another hash and makes the answer of each part.
func (f *mergeFn) finish(ctx context.Context, number int64, parts []arrow.Record, level int) (records []arrow.Record, err error) {
	err = f.Stage.run(ctx, number, func(e *gpuframe.Engine) (err error) {
		records, err = f.Of.reduction.finish(ctx, e, parts)
		return err
	})
	keys := f.Of.reduction.keys(parts[0].Schema())
	if !errors.Is(err, memory.ErrBudget) || level == mostLevels || len(keys) == 0 {
		return records, err
	}
	smaller := make([][]arrow.Record, divisions)
	for _, part := range parts {
		var divided []arrow.Record
		failure := f.Stage.run(ctx, number, func(e *gpuframe.Engine) (err error) {
			divided, err = partition(ctx, e, part, keys, divisions, level+1)
			return err
		})
		if failure != nil {
			return nil, err // that of the whole partition
		}
		for i, record := range divided {
			if record.NumRows() > 0 {
				smaller[i] = append(smaller[i], record)
			}
		}
	}
	records = nil
	for _, list := range smaller {
		if len(list) == 0 {
			continue
		}
		answer, err := f.finish(ctx, number, list, level+1)
		if err != nil {
			return nil, err
		}
		records = append(records, answer...)
	}
	return records, nil
}
