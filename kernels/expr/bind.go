package expr

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// Bind resolves the columns of expressions in a schema, finds the types of all
// operations and inserts conversions. An operation that several of the expressions share
// is computed once. Bind stores its result with the first of the expressions, so calling
// it again with the same expressions and the same schema, by address, is cheap. It may be
// called from any goroutine.
//
// # Errors
//
// The error is an [*Error] with the operation that was refused and the reason. An
// unknown column is an error that wraps buffer.ErrSchema and lists the columns of the
// schema.
func Bind(schema *arrow.Schema, expressions ...Expr) (*Bound, error) {
	b, err := bind(schema, expressions)
	if err != nil {
		return nil, err
	}
	return (*Bound)(b.public), nil
}

// bound is the stored result of binding a list of expressions to a schema.
type bound struct {
	schema  *arrow.Schema
	nodes   []*node
	program *exprtree.Program
	// projected is the schema of the expressions, for Project.
	projected *arrow.Schema
	// public is the program and the projected schema for callers of Bind.
	public *exprtree.Bound
	// steps are the operators to run before the programs, whose inputs are the columns of
	// extended: those of the schema and one for each step.
	steps    []step
	extended *arrow.Schema
	// computed is the program of the outputs that are not plain columns, nil if all are.
	// passed has the field of each output that is a plain column, and -1 for the others.
	computed *exprtree.Program
	passed   []int
}

// boundList has the latest results for lists of expressions that begin with a node.
type boundList struct {
	entries [8]*bound
	next    int
}

func (b *bound) binds(schema *arrow.Schema, expressions []Expr) bool {
	if b == nil || len(b.nodes) != len(expressions) {
		return false
	}
	for i, e := range expressions {
		if b.nodes[i] != e.node {
			return false
		}
	}
	return sameSchema(b.schema, schema)
}

// sameSchema reports whether two schemas are equal, with their metadata. Operators make another
// schema in each call.
func sameSchema(a, b *arrow.Schema) bool {
	if a == b {
		return true
	}
	if a.NumFields() != b.NumFields() || a.Endianness() != b.Endianness() || !sameMetadata(a.Metadata(), b.Metadata()) {
		return false
	}
	for i := range a.NumFields() {
		x, y := a.Field(i), b.Field(i)
		if x.Name != y.Name || x.Nullable != y.Nullable || x.Type != y.Type && !arrow.TypeEqual(x.Type, y.Type, arrow.CheckMetadata()) || !sameMetadata(x.Metadata, y.Metadata) {
			return false
		}
	}
	return true
}

func sameMetadata(a, b arrow.Metadata) bool { return a.Len() == 0 && b.Len() == 0 || a.Equal(b) }

func bind(schema *arrow.Schema, expressions []Expr) (*bound, error) {
	if schema == nil {
		return nil, fmt.Errorf("expr: the schema is nil: %w", ErrMissing)
	}
	var list *boundList
	if len(expressions) > 0 && expressions[0].node != nil {
		if list = expressions[0].node.bound.Load(); list != nil {
			for _, b := range list.entries {
				if b.binds(schema, expressions) {
					return b, nil
				}
			}
		}
	}
	b, err := bindAnew(schema, expressions)
	if err != nil {
		return nil, err
	}
	if len(expressions) > 0 {
		remember(expressions[0].node, list, b)
	}
	return b, nil
}

// remember stores b with the node, in place of the oldest entry. If another goroutine was
// faster its entry stays, and b is computed again when it is needed.
func remember(n *node, old *boundList, b *bound) {
	list := &boundList{}
	if old != nil {
		*list = *old
	}
	list.entries[list.next] = b
	list.next = (list.next + 1) % len(list.entries)
	n.bound.CompareAndSwap(old, list)
}

func bindAnew(schema *arrow.Schema, expressions []Expr) (*bound, error) {
	apart, replaced, err := stepsOf(schema, expressions)
	if err != nil {
		return nil, err
	}
	b := &bound{schema: schema, steps: apart.steps, extended: apart.schema, passed: make([]int, len(expressions))}
	var computed []Expr
	for i, e := range expressions {
		b.nodes = append(b.nodes, e.node)
		if replaced != nil {
			e = replaced[i]
		}
		b.passed[i] = -1
		if n := e.node.plain(); n != nil && n.op == exprtree.Column {
			b.passed[i], _ = field(b.extended, n.text)
			continue
		}
		computed = append(computed, e)
	}
	if replaced == nil {
		b.program, err = build(schema, expressions)
	} else {
		b.program, err = build(b.extended, replaced)
	}
	if err != nil {
		return nil, err
	}
	var fields []arrow.Field
	for i, output := range b.program.Outputs {
		f := arrow.Field{Name: expressions[i].Name(), Type: output.Type, Nullable: true}
		if b.passed[i] >= 0 {
			passed := b.extended.Field(b.passed[i])
			f.Nullable, f.Metadata = passed.Nullable, passed.Metadata
		}
		fields = append(fields, f)
	}
	b.projected = schemaOf(fields, schema)
	b.public = exprtree.NewBound(b.program, b.projected)
	if len(b.steps) > 0 {
		b.public = b.public.WithSteps(schema.NumFields(), apart.reads(schema.NumFields()))
	}
	switch len(computed) {
	case 0:
	case len(expressions):
		b.computed = b.program
	default:
		b.computed, err = build(b.extended, computed)
	}
	return b, err
}

// plain returns the node without names given by As.
func (n *node) plain() *node {
	for n != nil && n.op == alias {
		n = n.arguments[0]
	}
	return n
}

func field(schema *arrow.Schema, name string) (int, bool) {
	indices := schema.FieldIndices(name)
	if len(indices) == 0 {
		return -1, false
	}
	return indices[0], true
}

func build(schema *arrow.Schema, expressions []Expr) (*exprtree.Program, error) {
	b := newBinder(schema)
	outputs := make([]*exprtree.Node, len(expressions))
	for i, e := range expressions {
		b.root = e.node
		o, err := b.bind(e.node)
		if err == nil {
			outputs[i], err = b.alone(o)
		}
		if err != nil {
			return nil, err
		}
	}
	return exprtree.NewProgram(b.inputs, b.types, outputs), nil
}
