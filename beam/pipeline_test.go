package gpubeam_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	gpubeam "github.com/gpuframe/gpuframe/beam"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	os.Exit(m.Run())
}

func init() {
	register.DoFn4x1[context.Context, *sdf.LockRTracker, string, func(gpubeam.Batch), sdf.ProcessContinuation](&sourceFn{})
	register.DoFn2x0[context.Context, gpubeam.Batch](&collectFn{})
	register.DoFn3x1[context.Context, gpubeam.Batch, func(gpubeam.Batch), error](&failingFn{})
}

// shared are the inputs and outputs of pipelines, by names. The workers run in this process.
var shared = struct {
	sync.Mutex
	inputs   map[string][]arrow.Record
	outputs  map[string][]arrow.Record
	failures map[string]int
	bundles  map[string]int
}{inputs: map[string][]arrow.Record{}, outputs: map[string][]arrow.Record{}, failures: map[string]int{}, bundles: map[string]int{}}

// sourceFn emits each of some records in a separate bundle: it returns after each one.
type sourceFn struct{}

func (*sourceFn) CreateInitialRestriction(input string) offsetrange.Restriction {
	shared.Lock()
	defer shared.Unlock()
	return offsetrange.Restriction{Start: 0, End: int64(len(shared.inputs[input]))}
}

func (*sourceFn) SplitRestriction(_ string, r offsetrange.Restriction) []offsetrange.Restriction {
	return []offsetrange.Restriction{r}
}

func (*sourceFn) RestrictionSize(_ string, r offsetrange.Restriction) float64 { return r.Size() }

func (*sourceFn) CreateTracker(r offsetrange.Restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(offsetrange.NewTracker(r))
}

func (*sourceFn) ProcessElement(_ context.Context, tracker *sdf.LockRTracker, input string, emit func(gpubeam.Batch)) sdf.ProcessContinuation {
	at := tracker.GetRestriction().(offsetrange.Restriction).Start
	if !tracker.TryClaim(at) {
		return sdf.StopProcessing()
	}
	shared.Lock()
	record := shared.inputs[input][at]
	shared.bundles[input]++
	shared.Unlock()
	emit(gpubeam.NewBatch(record))
	return sdf.ResumeProcessingIn(0)
}

// collectFn keeps the elements of a collection.
type collectFn struct {
	Output string
	made   []arrow.Record
}

func (f *collectFn) StartBundle(context.Context) { f.made = nil }

func (f *collectFn) ProcessElement(_ context.Context, b gpubeam.Batch) {
	f.made = append(f.made, b.Record())
}

func (f *collectFn) FinishBundle(context.Context) {
	shared.Lock()
	defer shared.Unlock()
	shared.outputs[f.Output] = append(shared.outputs[f.Output], f.made...)
}

// failingFn passes batches on, and fails at one of them the first times.
type failingFn struct {
	Input     string
	At, Times int
	seen      int
}

func (f *failingFn) StartBundle(context.Context, func(gpubeam.Batch)) { f.seen = 0 }

func (f *failingFn) ProcessElement(_ context.Context, b gpubeam.Batch, emit func(gpubeam.Batch)) error {
	if f.seen++; f.seen > f.At {
		shared.Lock()
		defer shared.Unlock()
		if shared.failures[f.Input]++; shared.failures[f.Input] <= f.Times {
			return fmt.Errorf("failure %d of the test", shared.failures[f.Input])
		}
	}
	emit(b)
	return nil
}

// source adds records to a pipeline, each in a separate bundle.
func source(t *testing.T, s beam.Scope, name string, records []arrow.Record) beam.PCollection {
	t.Helper()
	name = t.Name() + " " + name
	shared.Lock()
	shared.inputs[name] = records
	shared.Unlock()
	return beam.ParDo(s, &sourceFn{}, beam.Create(s, name))
}

// runPipeline runs a pipeline on Prism and returns the batches of its result.
func runPipeline(t *testing.T, build func(s beam.Scope) beam.PCollection) []arrow.Record {
	t.Helper()
	made, err := tryPipeline(t, build)
	require.NoError(t, err)
	return made
}

func tryPipeline(t *testing.T, build func(s beam.Scope) beam.PCollection) ([]arrow.Record, error) {
	t.Helper()
	p := beam.NewPipeline()
	s := p.Root()
	shared.Lock()
	delete(shared.outputs, t.Name())
	shared.Unlock()
	beam.ParDo0(s, &collectFn{Output: t.Name()}, build(s))
	_, err := prism.Execute(t.Context(), p)
	shared.Lock()
	defer shared.Unlock()
	return shared.outputs[t.Name()], err
}

// closed requires that the engines hold no memory, and that they close.
func closed(t *testing.T) {
	t.Helper()
	for _, e := range gpubeam.Engines() {
		require.True(t, e.InUse == 0 || e.Budget == abandoned.Budget, "device memory between bundles: %+v", e)
	}
	require.NoError(t, gpubeam.Close())
	for _, e := range gpubeam.Engines() {
		require.Equal(t, abandoned.Budget, e.Budget)
	}
}

// split cuts a record into parts of about the same size.
func split(record arrow.Record, parts int) (list []arrow.Record) {
	rows := record.NumRows()
	for i := range int64(parts) {
		list = append(list, record.NewSlice(i*rows/int64(parts), (i+1)*rows/int64(parts)))
	}
	return list
}

// rowTexts returns the rows of records as sorted texts, with the bits of floats.
func rowTexts(records []arrow.Record) []string {
	var rows []string
	for _, r := range records {
		texts := make([]string, r.NumRows())
		for i, c := range r.Columns() {
			for row := range texts {
				texts[row] += fmt.Sprintf("%s=%s;", r.ColumnName(i), valueText(c, row))
			}
		}
		rows = append(rows, texts...)
	}
	slices.Sort(rows)
	return rows
}

func valueText(c arrow.Array, row int) string {
	if c.IsNull(row) {
		return "null"
	}
	switch c := c.(type) {
	case *array.Float64:
		return fmt.Sprintf("%x", c.Value(row))
	case *array.Dictionary:
		return valueText(c.Dictionary(), c.GetValueIndex(row))
	case *array.List:
		begin, end := c.ValueOffsets(row)
		text := "["
		for i := begin; i < end; i++ {
			text += valueText(c.ListValues(), int(i)) + " "
		}
		return text + "]"
	}
	return c.ValueStr(row)
}

// single returns the answer of one engine to a document.
func single(t *testing.T, document string, inputs ...arrow.Record) []arrow.Record {
	t.Helper()
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	var given []gpuframe.Query
	for _, r := range inputs {
		given = append(given, e.Records(r.Schema(), r))
	}
	q, err := querydata.Decode(t.Context(), e, []byte(document), querydata.Options{Given: given})
	require.NoError(t, err)
	frame, err := q.Collect(t.Context())
	require.NoError(t, err)
	record, err := frame.Record(t.Context())
	require.NoError(t, err)
	require.NoError(t, frame.Release())
	return []arrow.Record{record}
}

// numbers returns a record with the columns i = 0, 1, … and x = i/3.
func numbers(rows int) arrow.Record {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "i", Type: arrow.PrimitiveTypes.Int64}, {Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil))
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Float64Builder).Append(float64(i) / 3)
	}
	return b.NewRecord()
}

var (
	onHost = gpubeam.Options{Device: "host", Partitions: 4}
	// abandoned has another engine, for jobs that fail: their workers may end later.
	abandoned = gpubeam.Options{Device: "host", Partitions: 4, Budget: 1 << 30}
)
