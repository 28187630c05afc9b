package gpubeam

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

// Query runs a query on each batch separately. The document may have every verb. It may also read
// files, which each worker must be able to open. The result is a collection of [Batch], one or more for each batch.
//
// # Errors
//
// The error wraps querydata.ErrDocument for a malformed document, and [ErrOptions].
func Query(s beam.Scope, options Options, document string, batches beam.PCollection) (beam.PCollection, error) {
	options, err := options.withDefaults("Query")
	if err == nil {
		_, err = parse(document, 1)
	}
	if err == nil {
		err = checkInput(batches)
	}
	if err != nil {
		return beam.PCollection{}, fmt.Errorf("gpubeam: Query: %w", err)
	}
	s = s.Scope("gpubeam." + options.Name)
	results, err := beam.TryParDo(s, &queryFn{Stage: stage{options.Name, options}, Document: document}, batches)
	if err != nil {
		return beam.PCollection{}, fmt.Errorf("gpubeam: Query: %w", err)
	}
	return results[0], nil
}

func init() {
	register.DoFn3x1[context.Context, Batch, func(Batch), error](&queryFn{})
	register.Emitter1[Batch]()
}

// queryFn runs a query on each batch.
type queryFn struct {
	Stage    stage
	Document string
}

// Setup opens the engine.
func (f *queryFn) Setup() error { return f.Stage.Setup() }

// Teardown gives the engine back.
func (f *queryFn) Teardown() error { return f.Stage.Teardown() }

// ProcessElement runs the query on a batch.
func (f *queryFn) ProcessElement(ctx context.Context, b Batch, emit func(Batch)) error {
	var records []arrow.Record
	err := f.Stage.run(ctx, noPartition, func(e *gpuframe.Engine) (err error) {
		records, err = answer(ctx, e, f.Stage.Name, f.Document, []arrow.Record{b.record})
		return err
	})
	if err != nil {
		return err
	}
	emitAll(records, emit)
	return nil
}

func emitAll(records []arrow.Record, emit func(Batch)) {
	for _, r := range records {
		emit(Batch{r})
	}
}

// answer runs a document on records, and returns the result in parts. A
// result without rows is one record without rows.
func answer(ctx context.Context, e *gpuframe.Engine, tag, document string, inputs ...[]arrow.Record) (records []arrow.Record, err error) {
	q, err := onRecords(e, document, inputs...)
	if err != nil {
		return nil, err
	}
	for frame, err := range q.Batches(ctx, gpuframe.Tag(tag)) {
		if err != nil {
			return nil, err
		}
		record, err := frame.Record(ctx)
		if err := errors.Join(err, frame.Release()); err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	if len(records) > 0 {
		return records, nil
	}
	schema, err := q.Schema(ctx)
	if err != nil {
		return nil, err
	}
	return []arrow.Record{emptyRecord(schema)}, nil
}

// onRecords returns the query of a document on records. Each input has
// one record or more, of one schema.
func onRecords(e *gpuframe.Engine, document string, inputs ...[]arrow.Record) (gpuframe.Query, error) {
	var queries []gpuframe.Query
	for i, records := range inputs {
		for _, r := range records {
			if r == nil {
				return gpuframe.Query{}, fmt.Errorf("input %d has the zero Batch: %w", i, ErrBatch)
			}
			if !sameTypes(r.Schema(), records[0].Schema()) {
				return gpuframe.Query{}, fmt.Errorf("input %d has batches of different schemas, %v and %v: %w", i, records[0].Schema(), r.Schema(), ErrBatch)
			}
		}
		queries = append(queries, e.Records(records[0].Schema(), records...))
	}
	return querydata.Decode(context.Background(), e, []byte(document), querydata.Options{Given: queries})
}

// sameTypes reports whether the columns have the same names and types.
func sameTypes(a, b *arrow.Schema) bool {
	if a.NumFields() != b.NumFields() {
		return false
	}
	for i, f := range a.Fields() {
		if g := b.Field(i); f.Name != g.Name || !arrow.TypeEqual(f.Type, g.Type) {
			return false
		}
	}
	return true
}
