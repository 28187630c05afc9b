package gpubeam

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Join matches the rows of two collections by the step "join" of a document, in which left is the
// given input 0 and right the given input 1. Both sides are divided by a hash of the keys, and
// each partition is joined by one worker. The keys of both sides have one type, or are
// integers, or floats, or strings, of different widths. Cross joins, and joins with conditions
// only, are an error.
//
// A side without rows needs a batch without rows, because its columns are unknown otherwise.
//
// # Errors
//
// The errors are those of [GroupBy].
func Join(s beam.Scope, options Options, document string, left, right beam.PCollection) (beam.PCollection, error) {
	joined, err := tryJoin(s, options, document, left, right)
	if err != nil {
		return beam.PCollection{}, fmt.Errorf("gpubeam: Join: %w", err)
	}
	return joined, nil
}

func tryJoin(s beam.Scope, options Options, document string, left, right beam.PCollection) (none beam.PCollection, err error) {
	if options, err = options.withDefaults("Join"); err != nil {
		return none, err
	}
	if _, err := newJoining(document); err != nil {
		return none, err
	}
	s = s.Scope("gpubeam." + options.Name)
	var sides []beam.PCollection
	for i, batches := range []beam.PCollection{left, right} {
		name := []string{"left", "right"}[i]
		if err := checkInput(batches); err != nil {
			return none, fmt.Errorf("%s side: %w", name, err)
		}
		parts, err := beam.TryParDo(s, &sideFn{Stage: stage{options.Name + ", " + name + " side", options}, Document: document, Side: i}, batches)
		if err != nil {
			return none, err
		}
		sides = append(sides, parts[0])
	}
	grouped, err := beam.TryCoGroupByKey(s, sides...)
	if err != nil {
		return none, err
	}
	joined, err := beam.TryParDo(s, &joinFn{Stage: stage{options.Name + ", join", options}, Document: document}, grouped)
	if err != nil {
		return none, err
	}
	return joined[0], nil
}

func init() {
	register.DoFn3x1[context.Context, Batch, func(int64, Batch), error](&sideFn{})
	register.DoFn5x1[context.Context, int64, func(*Batch) bool, func(*Batch) bool, func(Batch), error](&joinFn{})
}

// joining is a document with a step "join", divided: a document for each side with the columns of
// the keys, and one for the join of the sides.
type joining struct {
	sides [2]string
	keys  int
	final string
}

func newJoining(document string) (*joining, error) {
	d, err := parse(document, 2)
	if err != nil {
		return nil, err
	}
	w, err := d.divide("join")
	if err != nil {
		return nil, err
	}
	if kind, _ := w.wide["kind"].(string); kind == "cross" {
		return nil, fmt.Errorf("the kind of the join is \"cross\", which no hash divides: use Query with a file for the small side: %w", ErrStep)
	}
	var keys [2][]any
	for _, key := range expressionsOf(w.wide, "keys") {
		keys[0], keys[1] = append(keys[0], key), append(keys[1], key)
	}
	for _, pair := range expressionsOf(w.wide, "on") {
		if o, ok := pair.(object); ok {
			keys[0], keys[1] = append(keys[0], o["left"]), append(keys[1], o["right"])
		}
	}
	j := &joining{keys: len(keys[0])}
	if j.keys == 0 {
		return nil, fmt.Errorf("the join has no keys, so no hash divides it: add keys: %w", ErrStep)
	}
	if function := wideFunction(w.wide); function != "" {
		return nil, fmt.Errorf("the join has the function %q, which depends on other rows: %w", function, ErrStep)
	}
	inputs := inputsOf(w.wide)
	for side := range j.sides {
		if j.sides[side], err = sideDocument(w.before, inputs[side], side, keys[side]); err != nil {
			return nil, err
		}
	}
	step := shifted(w.wide, 0)
	step["inputs"] = []int{0, 1}
	steps := []object{given(0), given(1), step}
	for _, later := range w.after[1:] {
		steps = append(steps, shifted(later, 2))
	}
	j.final = text(steps)
	return j, nil
}

func keyName(i int) string { return fmt.Sprintf("gpubeam key %d", i) }

// sideDocument returns the document of the side that ends with a step, and columns of its keys. All
// inputs of the side have the number of the side.
func sideDocument(before []object, last, side int, keys []any) (string, error) {
	needed := map[int]bool{last: true}
	for at := last; at >= 0; at-- {
		if !needed[at] {
			continue
		}
		if step := before[at]; verbOf(step) == "given" && fmt.Sprint(step["number"]) != fmt.Sprint(side) {
			return "", fmt.Errorf("steps[%d] is the given input %v, expected %d on this side of the join: %w", at, step["number"], side, ErrStep)
		}
		for _, n := range inputsOf(before[at]) {
			needed[n] = true
		}
	}
	steps := slices.Clone(before[:last+1])
	for i, step := range steps {
		if verbOf(step) == "given" || !needed[i] {
			steps[i] = given(0)
		}
	}
	var columns []any
	for i, key := range keys {
		columns = append(columns, named(key, keyName(i)))
	}
	return text(append(steps, object{"verb": "with", "inputs": []int{last}, "expressions": columns})), nil
}

// sideFn computes the rows of one side, and divides them by a hash of the keys.
type sideFn struct {
	Stage    stage
	Document string
	Side     int

	join  *joining
	known bool
}

// Setup opens the engine.
func (f *sideFn) Setup() (err error) {
	if f.join, err = newJoining(f.Document); err != nil {
		return err
	}
	return f.Stage.Setup()
}

// Teardown gives the engine back.
func (f *sideFn) Teardown() error { return f.Stage.Teardown() }

// StartBundle forgets that the schema was sent.
func (f *sideFn) StartBundle(context.Context, func(int64, Batch)) { f.known = false }

// ProcessElement divides a batch. The first one of a bundle sends the schema to all partitions,
// because a partition may have rows of the other side only.
func (f *sideFn) ProcessElement(ctx context.Context, b Batch, emit func(int64, Batch)) error {
	var parts []arrow.Record
	err := f.Stage.run(ctx, noPartition, func(e *gpuframe.Engine) error {
		rows, err := wholeResult(ctx, e, f.join.sides[f.Side], []arrow.Record{b.record})
		if err != nil {
			return err
		}
		var keys []expr.Expr
		for i := range f.join.keys {
			keys = append(keys, expr.Col(keyName(i)))
		}
		parts, err = partition(ctx, e, rows, keys, f.Stage.Options.Partitions, 0)
		return err
	})
	if err != nil {
		return err
	}
	for i, part := range parts {
		if part.NumRows() > 0 || !f.known {
			emit(int64(i), Batch{part})
		}
	}
	f.known = true
	return nil
}

// joinFn joins the sides of a partition.
type joinFn struct {
	Stage    stage
	Document string

	join *joining
}

// Setup opens the engine.
func (f *joinFn) Setup() (err error) {
	if f.join, err = newJoining(f.Document); err != nil {
		return err
	}
	return f.Stage.Setup()
}

// Teardown gives the engine back.
func (f *joinFn) Teardown() error { return f.Stage.Teardown() }

// ProcessElement joins the sides of a partition.
func (f *joinFn) ProcessElement(ctx context.Context, number int64, left, right func(*Batch) bool, emit func(Batch)) error {
	var sides [2][]arrow.Record
	var types [2][]arrow.Field
	for i, next := range []func(*Batch) bool{left, right} {
		for b := (Batch{}); next(&b); {
			narrow, keys := withoutLast(b.record, f.join.keys)
			sides[i], types[i] = append(sides[i], narrow), keys
		}
		if len(sides[i]) == 0 {
			return f.Stage.failed(number, 1, fmt.Errorf("the %s side has no batch, so its columns are unknown: add a batch without rows: %w", []string{"left", "right"}[i], ErrBatch))
		}
	}
	for i := range types[0] {
		if a, b := types[0][i].Type, types[1][i].Type; hashClass(a) != hashClass(b) {
			return f.Stage.failed(number, 1, fmt.Errorf("key %d is %v on the left side and %v on the right side, which have different hashes: cast one: %w", i, a, b, ErrStep))
		}
	}
	var records []arrow.Record
	err := f.Stage.run(ctx, number, func(e *gpuframe.Engine) (err error) {
		records, err = answer(ctx, e, f.Stage.Name, f.join.final, sides[0], sides[1])
		return err
	})
	if err != nil {
		return err
	}
	emitAll(records, emit)
	return nil
}

// withoutLast returns a record without its last columns, and the fields of these.
func withoutLast(record arrow.Record, n int) (arrow.Record, []arrow.Field) {
	fields := record.Schema().Fields()
	kept := len(fields) - n
	metadata := record.Schema().Metadata()
	return array.NewRecord(arrow.NewSchema(fields[:kept], &metadata), record.Columns()[:kept], record.NumRows()), fields[kept:]
}

// hashClass names a set of types: equal values of its types have equal hashes.
func hashClass(t arrow.DataType) string {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return hashClass(d.ValueType)
	}
	switch id := t.ID(); {
	case arrow.IsInteger(id):
		return "integer"
	case id == arrow.STRING || id == arrow.LARGE_STRING:
		return "string"
	case id == arrow.FLOAT32 || id == arrow.FLOAT64:
		return "float"
	}
	return t.String()
}
