package gpubeam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

// ErrStep is wrapped by errors about documents that cannot be divided among workers.
var ErrStep = errors.New("the query cannot be divided among workers")

// object is a step or an expression of a document.
type object = map[string]any

// document has the steps of a query.
type document struct{ steps []object }

// parse checks a document. Its given inputs have the numbers below inputs.
func parse(text string, inputs int) (*document, error) {
	// Decoding needs no engine, because nothing runs.
	if _, err := querydata.Decode(context.Background(), nil, []byte(text), querydata.Options{Given: make([]gpuframe.Query, inputs)}); err != nil {
		return nil, err
	}
	var parsed struct {
		Steps []object `json:"steps"`
	}
	from := json.NewDecoder(strings.NewReader(text))
	from.UseNumber()
	if err := from.Decode(&parsed); err != nil {
		return nil, fmt.Errorf("%w: %w", err, querydata.ErrDocument)
	}
	return &document{parsed.Steps}, nil
}

// text returns the document of some steps.
func text(steps []object) string {
	data, _ := json.Marshal(object{"version": querydata.Version, "steps": steps}) // of values from JSON, which cannot fail
	return string(data)
}

// Names of steps and expressions that this package makes.
func givenStep(number int) object { return object{"verb": "given", "number": number} }

func column(name string) object { return object{"function": "column", "name": name} }

func named(expression any, name string) object {
	return object{"function": "as", "name": name, "arguments": []any{expression}}
}

func verbOf(step object) string {
	verb, _ := step["verb"].(string)
	return verb
}

// inputsOf returns the numbers of the steps that a step reads.
func inputsOf(step object) (numbers []int) {
	list, _ := step["inputs"].([]any)
	for _, each := range list {
		n, _ := each.(json.Number)
		at, _ := n.Int64()
		numbers = append(numbers, int(at))
	}
	return numbers
}

// expressionsOf returns the expressions of a member.
func expressionsOf(step object, member string) []any {
	list, _ := step[member].([]any)
	return list
}

// rowVerbs are the verbs that work row by row.
var rowVerbs = []string{"given", "filter", "select", "with", "drop", "rename", "drop_nulls", "fill_null", "explode", "unpivot", "union"}

// divided is a document with one step that is computed across all batches.
type divided struct {
	before []object
	wide   object
	// after are the later steps. Step 0 is the result of the wide step.
	after []object
}

// divide finds the only step with a verb. All others must work row by row.
func (d *document) divide(verb string) (*divided, error) {
	at := -1
	for i, step := range d.steps {
		switch name := verbOf(step); {
		case name == verb && at >= 0:
			return nil, fmt.Errorf("steps[%d] is a second %q, expected one: make another transform of it: %w", i, verb, ErrStep)
		case name == verb:
			at = i
		case !slices.Contains(rowVerbs, name):
			return nil, fmt.Errorf("steps[%d] has the verb %q, expected %q once and else %s: make another transform of it: %w",
				i, name, verb, strings.Join(rowVerbs, ", "), ErrStep)
		default:
			if function := wideFunction(step); function != "" {
				return nil, fmt.Errorf("steps[%d] has the function %q, which depends on other rows: %w", i, function, ErrStep)
			}
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("the document has no step %q: %w", verb, ErrStep)
	}
	division := &divided{before: d.steps[:at], wide: d.steps[at], after: []object{givenStep(0)}}
	for i, step := range d.steps[at+1:] {
		inputs := inputsOf(step)
		if len(inputs) == 0 {
			return nil, fmt.Errorf("steps[%d] comes after %q, and does not read its result: place it before: %w", at+1+i, verb, ErrStep)
		}
		if first := slices.Min(inputs); first < at {
			return nil, fmt.Errorf("steps[%d] reads step %d, which comes before %q: %w", at+1+i, first, verb, ErrStep)
		}
		division.after = append(division.after, shifted(step, -at))
	}
	return division, nil
}

// shifted returns a step with other numbers of its inputs.
func shifted(step object, by int) object {
	moved := maps.Clone(step)
	inputs := make([]any, 0, 1)
	for _, n := range inputsOf(step) {
		inputs = append(inputs, json.Number(strconv.Itoa(n+by)))
	}
	moved["inputs"] = inputs
	return moved
}

// wideFunction returns the first function in a value that depends on other rows, or "".
func wideFunction(value any) string {
	wide := ""
	each(value, func(o object) {
		name, _ := o["function"].(string)
		if wide == "" && catalog.OfDocument(name).ReadsOtherRows() {
			wide = name
		}
	})
	return wide
}

// each calls f with all objects in a value, the outer ones first.
func each(value any, f func(object)) {
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			each(e, f)
		}
	case object:
		f(v)
		for _, member := range slices.Sorted(maps.Keys(v)) {
			each(v[member], f)
		}
	}
}

// checkInput checks that a collection has batches in one window.
func checkInput(batches beam.PCollection) error {
	if !batches.IsValid() {
		return fmt.Errorf("the collection is the zero PCollection: %w", ErrBatch)
	}
	if t := batches.Type().Type(); t != reflect.TypeFor[Batch]() {
		return fmt.Errorf("the collection has elements of type %v, expected gpubeam.Batch: %w", t, ErrBatch)
	}
	if w := batches.WindowingStrategy(); w.Fn.Kind != window.GlobalWindows {
		return fmt.Errorf("the collection has windows of kind %v, expected the global window: %w", w.Fn.Kind, ErrBatch)
	}
	return nil
}
