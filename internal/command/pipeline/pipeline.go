package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

// Pipeline is a sequence of verbs. The zero Pipeline has none.
type Pipeline struct {
	// Files returns the step of a document that reads the files that a text names.
	Files func(path string) (map[string]any, error)
	steps []*step
}

// Parse reads a pipeline. The source is the name of the text in errors.
func Parse(source, text string) (Pipeline, error) {
	p := newParser(source, text)
	steps := []*step{p.verb()}
	for p.accept("|") {
		steps = append(steps, p.verb())
	}
	if p.peek().kind != end {
		p.unexpected(`an operator, "," or "|"`)
	}
	return Pipeline{steps: steps}, p.err
}

// ParseVerb reads what follows the name of a verb.
func ParseVerb(source, verb, text string) (Pipeline, error) {
	p := newParser(source, text)
	verb, _ = catalog.VerbNamed(verb, "")
	if verbs[verb] == nil {
		p.fail(0, "%s", unknown("verb", verb, Verbs()))
		return Pipeline{}, p.err
	}
	s := p.step(0, verb)
	if p.peek().kind != end {
		p.unexpected(`an operator, "," or the end`)
	}
	return Pipeline{steps: []*step{s}}, p.err
}

// Then returns the verbs of p and after them those of another pipeline.
func (p Pipeline) Then(next Pipeline) Pipeline {
	p.steps = append(p.steps[:len(p.steps):len(p.steps)], next.steps...)
	return p
}

// Document returns the verbs on a source, which is a step of a document, as a document in JSON:
// a line for each step.
func (p Pipeline) Document(source map[string]any) (string, error) {
	var lines []string
	add := func(step object, inputs []int) (int, error) {
		step = maps.Clone(step)
		if len(inputs) > 0 {
			step["inputs"] = inputs
		}
		var line bytes.Buffer
		to := json.NewEncoder(&line)
		to.SetEscapeHTML(false)
		err := to.Encode(step)
		lines = append(lines, strings.TrimSpace(line.String()))
		return len(lines) - 1, err
	}
	w := walk[int]{
		source: func(b *branch) (int, error) {
			step, err := p.source(b)
			if err != nil {
				return 0, err
			}
			return add(step, nil)
		},
		verb: func(s *step, inputs []int) (int, error) { return add(s.object, inputs) },
	}
	first, err := add(source, nil)
	if err == nil {
		_, err = w.steps(first, p.steps)
	}
	return fmt.Sprintf("{\"version\": %d, \"steps\": [\n  %s\n]}\n", querydata.Version, strings.Join(lines, ",\n  ")), err
}

// source returns the step of a document that reads the source of a branch.
func (p Pipeline) source(b *branch) (map[string]any, error) {
	if b.isTable {
		return object{"verb": "table", "name": b.path}, nil
	}
	if p.Files == nil {
		return nil, b.errorAt(b.begin, errors.New("no files can be read here"))
	}
	step, err := p.Files(b.path)
	if err != nil {
		return nil, b.errorAt(b.begin, err)
	}
	return step, nil
}

// Apply adds the verbs to a query. It checks them, which reads the schemas of the sources.
// The error has an [*Error] for each problem of the first verb that does not fit.
func (p Pipeline) Apply(ctx context.Context, q gpuframe.Query) (gpuframe.Query, error) {
	if _, err := q.Schema(ctx); err != nil {
		return q, err
	}
	w := walk[gpuframe.Query]{
		source: func(b *branch) (gpuframe.Query, error) {
			step, err := p.source(b)
			if err != nil {
				return q, err
			}
			read, err := checked(ctx, q.Engine(), step)
			if err != nil {
				return q, b.errorAt(b.begin, plainly(err))
			}
			return read, nil
		},
		verb: func(s *step, inputs []gpuframe.Query) (gpuframe.Query, error) {
			next, err := checked(ctx, q.Engine(), s.object, inputs...)
			if err != nil {
				return q, s.explain(ctx, inputs, err)
			}
			return next, nil
		},
	}
	return w.steps(q, p.steps)
}

// walk visits the sources and the verbs of a pipeline, the inputs of a verb before it.
type walk[T any] struct {
	source func(b *branch) (T, error)
	verb   func(s *step, inputs []T) (T, error)
}

// steps visits verbs, of which the first has an input, and returns the last one's result.
func (w walk[T]) steps(input T, steps []*step) (T, error) {
	for _, s := range steps {
		inputs := []T{input}
		for _, b := range s.others {
			other, err := w.source(b)
			if err == nil {
				other, err = w.steps(other, b.steps)
			}
			if err != nil {
				return input, err
			}
			inputs = append(inputs, other)
		}
		next, err := w.verb(s, inputs)
		if err != nil {
			return input, err
		}
		input = next
	}
	return input, nil
}

// Read returns the query of a step of a document that reads files.
func Read(ctx context.Context, engine *gpuframe.Engine, step map[string]any) (gpuframe.Query, error) {
	return decode(ctx, engine, step)
}

// decode returns the query of a step on some inputs.
func decode(ctx context.Context, engine *gpuframe.Engine, step object, inputs ...gpuframe.Query) (gpuframe.Query, error) {
	var steps, numbers []any
	for i := range inputs {
		number := json.Number(strconv.Itoa(i))
		steps, numbers = append(steps, object{"verb": "given", "number": number}), append(numbers, number)
	}
	step = maps.Clone(step)
	step["inputs"] = numbers
	document := object{"version": json.Number(strconv.Itoa(querydata.Version)), "steps": append(steps, step)}
	return querydata.DecodeData(ctx, engine, document, querydata.Options{Given: inputs})
}

// checked is decode, which also reads the schemas.
func checked(ctx context.Context, engine *gpuframe.Engine, step object, inputs ...gpuframe.Query) (gpuframe.Query, error) {
	q, err := decode(ctx, engine, step, inputs...)
	if err == nil {
		_, err = q.Schema(ctx)
	}
	return q, err
}
