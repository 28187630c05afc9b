package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

// explain finds the expressions that are the reason that the verb does not fit its inputs.
func (s *step) explain(ctx context.Context, inputs []gpuframe.Query, err error) error {
	var faults []error
	look := func(q gpuframe.Query, nodes []*node) {
		for _, n := range nodes {
			if at, reason := fault(ctx, q, n); reason != nil {
				faults = append(faults, s.errorAt(at.begin, reason))
			}
		}
	}
	look(inputs[0], s.nodes)
	for i, b := range s.others {
		look(inputs[i+1], b.nodes)
	}
	if len(s.conditions) > 0 {
		pairs := maps.Clone(s.object)
		pairs["kind"], pairs["where"] = "inner", nil
		if q, failed := checked(ctx, inputs[0].Engine(), pairs, inputs...); failed == nil {
			look(q, s.conditions)
		}
	}
	if len(faults) == 0 {
		faults = append(faults, s.errorAt(s.placeOf(err), plainly(err)))
	}
	return errors.Join(faults...)
}

// placeOf returns where the member begins that an error of the decoder is about, or the verb.
func (s *step) placeOf(err error) int {
	var malformed *querydata.Error
	if errors.As(err, &malformed) {
		if place, ok := s.places[malformed.Member]; ok {
			return place
		}
	}
	return s.begin
}

// fault returns the smallest expression that does not fit the query, and the reason.
func fault(ctx context.Context, q gpuframe.Query, n *node) (*node, error) {
	if n.isNull() {
		return nil, nil
	}
	value := object{"function": "as", "name": "value", "arguments": []any{n.object}}
	_, err := checked(ctx, q.Engine(), object{"verb": "select", "expressions": []any{value}}, q)
	if err == nil {
		return nil, nil
	}
	for _, operand := range n.operands {
		if at, err := fault(ctx, q, operand); err != nil {
			return at, err
		}
	}
	if n.calls("column") {
		return n, unknownColumn(ctx, q, n, err)
	}
	return n, plainly(err)
}

// unknownColumn is the error for a column that a query does not have, with those that it has.
func unknownColumn(ctx context.Context, q gpuframe.Query, n *node, err error) error {
	schema, failed := q.Schema(ctx)
	if failed != nil {
		return plainly(err)
	}
	columns := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		columns[i] = f.Name
	}
	return replaced{names.Unknown("column", n.object["name"].(string), columns), err}
}

// replaced is an error with another message.
type replaced struct {
	message string
	error
}

func (r replaced) Error() string { return r.message }

func (r replaced) Unwrap() error { return r.error }

// plainly returns the problems of a query without the places in this program, and those of a
// document without the places in it.
func plainly(err error) error {
	var malformed *querydata.Error
	if errors.As(err, &malformed) {
		reason := malformed.Reason
		if strings.HasPrefix(reason, "is ") || strings.HasPrefix(reason, "has ") {
			reason = malformed.Member + " " + reason
		}
		return errors.New(reason)
	}
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
