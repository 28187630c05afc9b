package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/names"
)

// Pipeline is a sequence of verbs. The zero Pipeline has none.
type Pipeline struct{ steps []step }

// step is one verb.
type step struct {
	source, text string
	begin        int
	// nodes are the expressions and columns of the verb.
	nodes []*node
	apply func(gpuframe.Query) gpuframe.Query
}

// Parse reads a pipeline. The source is the name of the text in errors.
func Parse(source, text string) (Pipeline, error) {
	p, err := newParser(source, text)
	if err != nil {
		return Pipeline{}, err
	}
	var made Pipeline
	for {
		s, err := p.verb()
		if err != nil {
			return Pipeline{}, err
		}
		made.add(p, s)
		if p.peek().kind == end {
			return made, nil
		}
		if !p.accept("|") {
			return Pipeline{}, p.unexpected(`an operator, "," or "|"`)
		}
	}
}

// ParseVerb reads what follows the name of a verb.
func ParseVerb(source, verb, text string) (Pipeline, error) {
	p, err := newParser(source, text)
	if err != nil {
		return Pipeline{}, err
	}
	read := verbs[verb]
	if read == nil {
		return Pipeline{}, p.failAt(0, errors.New(names.Unknown("verb", verb, Verbs())))
	}
	s, err := read(p)
	if err != nil {
		return Pipeline{}, err
	}
	if p.peek().kind != end {
		return Pipeline{}, p.unexpected(`an operator, "," or the end`)
	}
	var made Pipeline
	made.add(p, s)
	return made, nil
}

func (p *Pipeline) add(from *parser, s step) {
	s.source, s.text = from.source, from.text
	p.steps = append(p.steps, s)
}

// Then returns the verbs of p and after them those of another pipeline.
func (p Pipeline) Then(next Pipeline) Pipeline {
	return Pipeline{append(p.steps[:len(p.steps):len(p.steps)], next.steps...)}
}

// Apply adds the verbs to a query. It checks them, which reads the schemas of the sources.
// The error has an [*Error] for each problem of the first verb that does not fit.
func (p Pipeline) Apply(ctx context.Context, q gpuframe.Query) (gpuframe.Query, error) {
	if _, err := q.Schema(ctx); err != nil {
		return q, err
	}
	for _, s := range p.steps {
		next := s.apply(q)
		if _, err := next.Schema(ctx); err != nil {
			return q, s.explain(ctx, q, err)
		}
		q = next
	}
	return q, nil
}

// explain finds the expressions that are the reason that the verb does not fit the query.
func (s step) explain(ctx context.Context, q gpuframe.Query, err error) error {
	var found []error
	for _, n := range s.nodes {
		if at, reason := fault(ctx, q, n); reason != nil {
			found = append(found, &Error{s.source, s.text, at.begin, reason})
		}
	}
	if len(found) == 0 {
		found = append(found, &Error{s.source, s.text, s.begin, plainly(err)})
	}
	return errors.Join(found...)
}

// fault returns the smallest expression that does not fit the query, and the reason.
func fault(ctx context.Context, q gpuframe.Query, n *node) (*node, error) {
	for _, o := range n.operands {
		if at, err := fault(ctx, q, o); err != nil {
			return at, err
		}
	}
	if n.null {
		return nil, nil
	}
	_, err := q.Select(n.value.As("value")).Schema(ctx)
	if err == nil {
		return nil, nil
	}
	if n.column != "" {
		if schema, failed := q.Schema(ctx); failed == nil {
			columns := make([]string, schema.NumFields())
			for i, f := range schema.Fields() {
				columns[i] = f.Name
			}
			return n, unknownColumn{names.Unknown("column", n.column, columns), err}
		}
	}
	return n, plainly(err)
}

// unknownColumn is the error for a column that a query does not have.
type unknownColumn struct {
	message string
	error
}

func (u unknownColumn) Error() string { return u.message }

func (u unknownColumn) Unwrap() error { return u.error }

// plainly returns the problems of a query without the places in this program.
func plainly(err error) error {
	var problems *gpuframe.QueryError
	if !errors.As(err, &problems) || len(problems.Problems) == 0 {
		return err
	}
	plain := problems.Problems[0].Err
	for _, p := range problems.Problems[1:] {
		plain = fmt.Errorf("%w; %w", plain, p.Err)
	}
	return plain
}
