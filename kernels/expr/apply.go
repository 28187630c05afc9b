package expr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/kernels"
)

// Operator computes a column of columns in a separate step, before the kernel of the
// expression that reads its result. The functions of lists and structs are operators. A
// program links only the operators that it names.
//
// Operators with equal fields are the same operation: see [Expr.Same]. Those with expressions have
// a method Same(Operator) bool instead. They are immutable and used from any goroutine.
type Operator interface {
	// Name is the name of the function in messages.
	Name() string
	// Result returns the type of the result for operands of given types. An error wraps
	// [ErrType].
	Result(operands []arrow.DataType) (arrow.DataType, error)
	// Run computes the result, which the caller releases. It has the length and the row
	// count of the operands.
	Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error)
}

// Preparer is an operator with work before its first run that takes long, such as a pattern to
// compile. [Prepare] does it, or else Run.
type Preparer interface {
	Operator
	// Prepare does the work and reports what is wrong with it.
	Prepare(ctx context.Context) error
}

// Prepare prepares the operators of expressions.
//
// # Errors
//
// The error is an [*Error], or that of a context that is done.
func Prepare(ctx context.Context, expressions ...Expr) error {
	seen := make(map[*node]bool)
	var prepare func(n *node) error
	prepare = func(n *node) error {
		if n == nil || !n.steps || seen[n] {
			return nil
		}
		seen[n] = true
		for _, argument := range n.arguments {
			if err := prepare(argument); err != nil {
				return err
			}
		}
		if p, ok := n.value.(Preparer); ok && n.op == apply {
			if err := p.Prepare(ctx); err != nil {
				return refusedStep(Expr{n}, Expr{n}, err)
			}
		}
		return nil
	}
	for _, e := range expressions {
		if err := prepare(e.node); err != nil {
			return cmp.Or(cancel.Error(ctx), err)
		}
	}
	return cancel.Error(ctx)
}

// PartOperator is an operator whose result is a timestamp, of which it can compute a part
// without the timestamp: [Expr.Hour] of it is then one step, not two.
type PartOperator interface {
	Operator
	// Part returns the operator of a part: "year", "quarter", "month", "day", "day_of_year",
	// "weekday", "hour", "minute", "second" or "subsecond".
	Part(name string) (Operator, bool)
}

// partOf returns the step for a part of the result of an operator.
func partOf(part Expr) (Expr, bool) {
	n := part.node
	if n.op < exprtree.Year || n.op > exprtree.Subsecond || len(n.arguments) != 1 || n.arguments[0] == nil || n.arguments[0].op != apply {
		return Expr{}, false
	}
	whole, ok := n.arguments[0].value.(PartOperator)
	if !ok {
		return Expr{}, false
	}
	operator, ok := whole.Part(n.name())
	return Apply(operator, Expr{n.arguments[0]}.Operands()...), ok
}

// Apply is the result of an operator on one or more operands. Evaluate computes it before
// the rest of the expression. It cannot be estimated, and [EvaluateRecord] refuses it.
func Apply(o Operator, operands ...Expr) Expr {
	applied := makeMany(apply, operands...)
	applied.node.value = o
	return applied
}

// Operator returns the operator if the outermost operation of e is one.
func (e Expr) Operator() (o Operator, ok bool) {
	if e.node == nil || e.node.op != apply {
		return nil, false
	}
	o, ok = e.node.value.(Operator)
	return o, ok
}

// step is an operator that is applied to expressions on the columns of a table and on the
// results of steps before it.
type step struct {
	operator Operator
	operands []Expr
}

// stepPrefix begins the names of the columns of steps. No column of a user has such a name.
const stepPrefix = "\x01step "

// apart divides expressions into steps and expressions without operators on the columns of
// the table and of the steps.
type apart struct {
	schema *arrow.Schema
	steps  []step
	// known are the operators that have a step, by its number.
	known []Expr
	err   error
	// replaced has the results of replace, for all expressions: operators, and casts that may be one,
	// look at their operands before these are replaced. root is the expression for messages.
	replaced *Substitution
	root     Expr
}

// stepsOf returns the steps of expressions, the schema with their columns, and the
// expressions on these: nil if there are no operators.
func stepsOf(schema *arrow.Schema, expressions []Expr) (a *apart, replaced []Expr, err error) {
	a = &apart{schema: schema}
	if !slices.ContainsFunc(expressions, Expr.hasSteps) {
		return a, nil, nil
	}
	for _, e := range expressions {
		replaced = append(replaced, a.replace(e, e))
	}
	if len(a.steps) == 0 && a.err == nil {
		return a, nil, nil
	}
	return a, replaced, a.err
}

// hasSteps reports whether an expression contains an operator, or a cast that may be one.
func (e Expr) hasSteps() bool { return e.node != nil && e.node.steps }

// replace returns an expression with the columns of steps in place of operators.
func (a *apart) replace(e, root Expr) Expr {
	a.root = root
	if a.replaced == nil {
		a.replaced = NewSubstitution(a.replacement)
	}
	return a.replaced.Apply(e)
}

// replacement returns the column of the step of a part that is an operator.
func (a *apart) replacement(part Expr) (Expr, bool) {
	root := a.root
	if a.err != nil || part.node == nil {
		return part, false
	}
	if parsed, ok := a.parses(part, root); ok {
		part = parsed
	}
	if computed, ok := a.decimals(part, root); ok {
		part = computed
	}
	if fused, ok := partOf(part); ok {
		part = fused
	}
	if a.err != nil || part.node.op != apply {
		return part, false
	}
	number := slices.IndexFunc(a.known, part.Same)
	if number < 0 {
		if number, a.err = a.add(part, root); a.err != nil {
			return part, false
		}
	}
	return Col(stepPrefix + strconv.Itoa(number)), true
}

// add adds the step of an operator after those of its operands.
func (a *apart) add(part, root Expr) (int, error) {
	operator, ok := part.node.value.(Operator)
	if !ok || len(part.node.arguments) == 0 {
		return 0, refusedStep(root, part, fmt.Errorf("an operator is nil or has no operand: %w", ErrMissing))
	}
	s := step{operator: operator, operands: part.Operands()}
	types := make([]arrow.DataType, len(s.operands))
	for i, operand := range s.operands {
		s.operands[i] = a.replace(operand, root)
		if a.err != nil {
			return 0, a.err
		}
		var err error
		if types[i], _, err = typeOf(a.schema, s.operands[i]); err != nil {
			return 0, err
		}
	}
	result, err := operator.Result(types)
	if err != nil {
		return 0, refusedStep(root, part, err)
	}
	number := len(a.steps)
	fields := append(slices.Clone(a.schema.Fields()), arrow.Field{Name: stepPrefix + strconv.Itoa(number), Type: result, Nullable: true})
	a.schema = schemaOf(fields, a.schema)
	a.steps, a.known = append(a.steps, s), append(a.known, part)
	return number, nil
}

func refusedStep(root, part Expr, reason error) error {
	return &Error{Expression: root.String(), Part: part.String(), Reason: reason}
}

// reads returns the fields of the schema that the operands of steps read.
func (a *apart) reads(fields int) (places []int) {
	for _, s := range a.steps {
		for _, operand := range s.operands {
			for _, name := range operand.Columns() {
				if place, ok := field(a.schema, name); ok && place < fields && !slices.Contains(places, place) {
					places = append(places, place)
				}
			}
		}
	}
	return places
}

// withSteps returns a table with the columns of the steps after its own. The caller
// releases it.
func (b *bound) withSteps(ctx context.Context, table *buffer.Buffer, options kernels.Options) (*buffer.Buffer, error) {
	if options.Estimate != nil {
		return nil, fmt.Errorf("the memory of %s is not known before it runs: %w", b.steps[0].operator.Name(), device.ErrNotSupported)
	}
	if err := table.Retain(); err != nil {
		return nil, err
	}
	for number, s := range b.steps {
		values, err := s.run(ctx, table, options)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", s.operator.Name(), err), table.Release())
		}
		longer, err := s.extended(table, values, number)
		if err = errors.Join(err, values.Release(), table.Release()); err != nil {
			return nil, errors.Join(err, longer.Release())
		}
		table = longer
	}
	return table, nil
}

// run evaluates the operands of a step and applies its operator.
func (s *step) run(ctx context.Context, table *buffer.Buffer, options kernels.Options) (*column.Column, error) {
	operands, err := Evaluate(ctx, table, s.operands, options)
	if err != nil {
		return nil, err
	}
	if options.Manager == nil {
		options.Manager = table.Manager()
	}
	values, err := s.operator.Run(ctx, operands, options)
	return release.OnError(values, err, release.All(operands))
}

// extended returns a table with a further column, the result of the step.
func (s *step) extended(table *buffer.Buffer, values *column.Column, number int) (*buffer.Buffer, error) {
	fields := append(slices.Clone(table.Schema().Fields()), arrow.Field{Name: stepPrefix + strconv.Itoa(number), Type: values.Type(), Nullable: true})
	columns := make([]*column.Column, 0, table.NumColumns()+1)
	for i := range table.NumColumns() {
		columns = append(columns, table.Column(i))
	}
	return buffer.New(schemaOf(fields, table.Schema()), append(columns, values), table.Rows())
}

// operatorName returns the name of the operator of a node.
func (n *node) operatorName() string {
	if o, ok := n.value.(Operator); ok {
		return o.Name()
	}
	return exprtree.Invalid.String()
}
