package substrait

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

const (
	// maxLevels limits the depth of relations and expressions, maxParts their number.
	maxLevels = 300
	maxParts  = 1 << 20
	// maxName limits names of functions, which are in paths of errors.
	maxName = 100
)

// decode reads a plan in binary form, or in the JSON of protocol buffers: then its first byte is a brace. Fields
// that this version of Substrait does not have are an error, except the locations of extensions of earlier versions.
func decode(data []byte) (*substraitpb.Plan, error) {
	plan := &substraitpb.Plan{}
	var err error
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '{' {
		if text, err = withoutLocations(text); err == nil {
			err = protojson.UnmarshalOptions{RecursionLimit: 16 * maxLevels}.Unmarshal(text, plan)
		}
	} else if err = (proto.UnmarshalOptions{RecursionLimit: 16 * maxLevels}).Unmarshal(data, plan); err == nil {
		err = onlyKnown(plan)
	}
	if err != nil {
		return nil, fmt.Errorf("substrait: the plan cannot be read: %w", err)
	}
	return plan, nil
}

// Query returns the query of a plan in binary form or in JSON. Its named tables are those of the session. Arguments
// are the values of dynamic parameters, by their numbers, that the plan itself does not bind. Errors are those of
// Statement, and those of the session for the statement.
func Query(ctx context.Context, session *sql.Session, plan []byte, arguments ...any) (gpuframe.Query, error) {
	statement, err := Statement(plan)
	if err != nil {
		return gpuframe.Query{}, err
	}
	query, err := session.Query(ctx, statement, arguments...)
	if err != nil {
		return gpuframe.Query{}, fmt.Errorf("substrait: the statement of the plan: %w", err)
	}
	return query, nil
}

// Statement returns a plan in binary form or in JSON as a statement of package sql. Errors are *Error, and those of
// protocol buffers for bytes that are no plan.
func Statement(plan []byte) (string, error) {
	decoded, err := decode(plan)
	if err != nil {
		return "", err
	}
	return statement(decoded)
}

func statement(plan *substraitpb.Plan) (string, error) {
	t := &translator{functions: map[uint32]string{}, bound: map[uint32]*substraitpb.Expression_Literal{}, weights: map[tree.Expr]int{}, tables: map[string]string{}}
	t.replacing = replacing[strings.ToLower(plan.GetVersion().GetProducer())]
	for _, e := range plan.GetExtensions() {
		if f := e.GetExtensionFunction(); f != nil {
			name, _, _ := strings.Cut(f.GetName(), ":")
			if len(name) > maxName {
				return "", failed("plan.extensions", "a function has a name of %d bytes, expected %d at most", len(name), maxName)
			}
			t.functions[f.GetFunctionAnchor()] = strings.ToLower(name)
		}
	}
	if plan.GetAdvancedExtensions().GetEnhancement() != nil {
		return "", failed("plan", "it has an enhancement: these alter what a plan means, and none is known")
	}
	for _, b := range plan.GetParameterBindings() {
		t.bound[b.GetParameterAnchor()] = b.GetValue()
	}
	var root *substraitpb.RelRoot
	for _, r := range plan.GetRelations() {
		t.relations = append(t.relations, r.GetRel())
		if r.GetRoot() != nil {
			if root != nil {
				return "", failed("plan", "it has two roots; a query has one")
			}
			root = r.GetRoot()
		}
	}
	if root == nil { // a relation alone is a plan without names
		if len(t.relations) != 1 || t.relations[0] == nil {
			return "", failed("plan", "it has no root relation")
		}
		root = &substraitpb.RelRoot{Input: t.relations[0]}
	}
	b, err := t.relation("root", root.GetInput())
	if err != nil {
		return "", err
	}
	query, err := b.named("root", root.GetNames())
	if err != nil {
		return "", err
	}
	return parse.Format(query), nil
}
