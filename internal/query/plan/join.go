package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// keepsLeft reports whether left rows without a match are in the result, keepsRight the
// same of right rows.
func keepsLeft(k join.Kind) bool  { return k == join.Left || k == join.Full }
func keepsRight(k join.Kind) bool { return k == join.Right || k == join.Full }

// JoinKey is a pair of expressions, over the left and the right columns, that are equal in
// rows that match.
type JoinKey struct{ Left, Right expr.Expr }

// shared reports whether both sides are columns of one name, which is one column of the
// result.
func (k JoinKey) shared() (name string, ok bool) {
	left, isColumn := k.Left.Column()
	right, too := k.Right.Column()
	return left, isColumn && too && left == right
}

// String formats the key: "id", or "id = customer".
func (k JoinKey) String() string {
	if name, ok := k.shared(); ok {
		return name
	}
	return Readable(k.Left.String()) + " = " + Readable(k.Right.String())
}

// JoinOptions describe a join.
type JoinOptions struct {
	Kind join.Kind
	Keys []JoinKey
	// Where is a further condition on rows that match, over the columns of an inner join's
	// result. It may be the zero Expr.
	Where expr.Expr
	// NullsEqual lets null match null.
	NullsEqual bool
	// Suffix is added to the names of right columns that the left side has too.
	Suffix string
	// AnyOrder lets the rows come in any order, the same in every run. Otherwise they keep that
	// of the left rows. The query or the pass that relaxes the order sets it.
	AnyOrder bool
	// Bounds has, for each key, the bounds of its right side that scans of the left side use,
	// or nil. It may be nil.
	Bounds []*KeyBounds
}

// defaultSuffix is the suffix of right columns without one in the options.
const defaultSuffix = "_right"

// Join yields the rows of two inputs that match: the left columns, then the right ones
// without keys of the same name.
type Join struct {
	cautious
	left, right Node
	options     JoinOptions
	schema      *arrow.Schema
	// both is the schema of an inner join, which Where is bound to.
	both *arrow.Schema
	// fromRight has the column of the right side that a column of the result is.
	fromRight map[string]string
}

// NewJoin makes a join.
func NewJoin(left, right Node, options JoinOptions) (*Join, error) {
	if options.Suffix == "" {
		options.Suffix = defaultSuffix
	}
	options.Keys = slices.Clone(options.Keys)
	if options.Kind == join.Inner && len(options.Keys) == 0 && !options.Where.IsZero() {
		options.Kind = join.Cross
	}
	j := &Join{left: left, right: right, options: options, fromRight: map[string]string{}}
	if err := j.check(); err != nil {
		return nil, err
	}
	if err := j.name(); err != nil {
		return nil, err
	}
	if err := checkNames(j.both); err != nil {
		return nil, err
	}
	if options.Where.IsZero() {
		return j, nil
	}
	t, _, err := options.Where.Type(j.both)
	if err != nil {
		return nil, err
	}
	if t.ID() != arrow.BOOL {
		return nil, fmt.Errorf("%s is %v, expected bool: %w", described(options.Where), t, expr.ErrType)
	}
	return j, nil
}

// check refuses keys that do not fit.
func (j *Join) check() error {
	switch {
	case j.options.Kind > join.Cross:
		return fmt.Errorf("unknown kind of join %d: %w", j.options.Kind, device.ErrInvalidValue)
	case j.options.Kind == join.Cross && len(j.options.Keys) > 0:
		return fmt.Errorf("a cross join has no keys: %w", device.ErrInvalidValue)
	case len(j.options.Keys) == 0 && (keepsRight(j.options.Kind) || j.options.Kind != join.Cross && j.options.Where.IsZero()):
		return fmt.Errorf("no key is given: name the columns that are equal, give an inner, left, semi or anti join a condition, or make a cross join: %w", device.ErrInvalidValue)
	}
	for _, k := range j.options.Keys {
		left, _, err := k.Left.Type(j.left.Schema())
		if err != nil {
			return fmt.Errorf("left side: %w", err)
		}
		right, _, err := k.Right.Type(j.right.Schema())
		if err != nil {
			return fmt.Errorf("right side: %w", err)
		}
		if !canBeEqual(left, right) {
			return fmt.Errorf("key %v: %v on the left, %v on the right: cast one of them: %w", k, left, right, expr.ErrType)
		}
	}
	return nil
}

// noCondition returns the condition of a join that all pairs of rows meet: none, or true if the join has
// no keys and so needs one.
func (o *JoinOptions) noCondition() expr.Expr {
	if len(o.Keys) > 0 || o.Kind == join.Cross {
		return expr.Expr{}
	}
	return expr.Lit(true)
}

// canBeEqual reports whether values of two types can be equal.
func canBeEqual(left, right arrow.DataType) bool {
	schema := arrow.NewSchema([]arrow.Field{{Name: "l", Type: valueType(left)}, {Name: "r", Type: valueType(right)}}, nil)
	_, _, err := expr.Col("l").Eq(expr.Col("r")).Type(schema)
	return err == nil || arrow.TypeEqual(valueType(left), valueType(right))
}

// valueType returns the type of the values of a dictionary, or the type.
func valueType(t arrow.DataType) arrow.DataType {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return d.ValueType
	}
	return t
}

// name finds the columns of the result as package join names them.
func (j *Join) name() error {
	options := join.Options{Kind: j.options.Kind, Suffix: j.options.Suffix, Where: j.options.noCondition()}
	left, right := j.left.Schema(), j.right.Schema()
	schema, err := join.Schema(left, right, j.On(), options)
	if err != nil {
		return err
	}
	j.schema = arrow.NewSchema(schema.Fields(), nil)
	j.both = j.schema
	if options.Kind != join.Inner && options.Kind != join.Cross {
		options.Kind = join.Inner
		if schema, err = join.Schema(left, right, j.On(), options); err != nil {
			return err
		}
		j.both = arrow.NewSchema(schema.Fields(), nil)
	}
	keys := map[string]bool{}
	for _, k := range j.options.Keys {
		if name, ok := k.shared(); ok {
			keys[name] = true
		}
	}
	next := left.NumFields()
	for _, name := range columnsOf(right) {
		if !keys[name] {
			j.fromRight[j.both.Field(next).Name] = name
			next++
		}
	}
	return nil
}

// Schema implements [Node].
func (j *Join) Schema() *arrow.Schema { return j.schema }

// Inputs returns the left and the right side.
func (j *Join) Inputs() []Node { return []Node{j.left, j.right} }

// WithInputs implements [Node].
func (j *Join) WithInputs(inputs ...Node) (Node, error) {
	return node(NewJoin(inputs[0], inputs[1], j.options))
}

// Options returns the options.
func (j *Join) Options() JoinOptions { return j.options }

// HashKeys returns the expressions by whose hash the rows of both sides are divided, so that rows
// that match are in one part.
func (j *Join) HashKeys() (left, right []expr.Expr, err error) {
	return join.HashKeys(j.left.Schema(), j.right.Schema(), j.On())
}

// On returns the keys for package join.
func (j *Join) On() []join.On { return joinOns(j.options.Keys) }

// String implements [Node].
func (j *Join) String() string {
	keys := make([]string, len(j.options.Keys))
	for i, k := range j.options.Keys {
		keys[i] = k.String()
	}
	text := j.options.Kind.String() + " join"
	if len(keys) > 0 {
		text += " on " + strings.Join(keys, ", ")
	}
	if !j.options.Where.IsZero() {
		text += " where " + described(j.options.Where)
	}
	if j.options.AnyOrder {
		text += " in any order"
	}
	return text
}

// estimate expects each row of the larger side to match one row, as a foreign key does.
func (j *Join) estimate(a *Analysis, _ Size) Size {
	left, right := a.rowsOf(j.left), a.rowsOf(j.right)
	if left.Rows < 0 || right.Rows < 0 {
		return Size{Rows: -1}
	}
	switch j.options.Kind {
	case join.Cross:
		if right.Rows > 0 && left.Rows > (1<<62)/right.Rows {
			return Size{Rows: 1 << 62}
		}
		return Size{Rows: left.Rows * right.Rows, Exact: left.Exact && right.Exact}
	case join.Semi:
		// Each row has its match in the right table before filters.
		kept := min(float64(right.Rows)/float64(max(a.baseRows(j.right), 1)), 0.5)
		return scaled(left, kept)
	case join.Anti:
		return Size{Rows: (left.Rows + 1) / 2}
	}
	return Size{Rows: max(left.Rows, right.Rows)}
}

func (j *Join) isEmpty() bool {
	left, right := isNothing(j.left), isNothing(j.right)
	switch j.options.Kind {
	case join.Inner, join.Cross, join.Semi:
		return left || right
	case join.Left, join.Anti:
		return left
	case join.Right:
		return right
	}
	return left && right
}

func (j *Join) readsOrder(input int, own bool) bool {
	if k := j.options.Kind; (k == join.Semi || k == join.Anti) && input == 1 {
		return false
	}
	return own && !j.options.AnyOrder
}

func (j *Join) reads(wanted columnSet) []columnSet { return j.sides(wanted) }

func (j *Join) pruned(inputs []Node, wanted columnSet) (Node, error) {
	return pruneJoin(j, inputs[0], inputs[1], wanted)
}

func (j *Join) simplified() (Node, error) { return simplifyJoin(j) }

func (j *Join) same(other Node) bool {
	o, ok := other.(*Join)
	return ok && j.options.same(o.options)
}

func (j *Join) origin(name string) (Node, string) {
	from, right := j.fromRight[name]
	switch k := j.options.Kind; {
	case right && k == join.Inner:
		return j.right, from
	case !right && (k == join.Inner || k == join.Left || k == join.Semi || k == join.Anti):
		return j.left, name
	}
	return nil, ""
}

func (j *Join) rowsFrom() Node {
	if j.options.Kind != join.Semi {
		return nil
	}
	return j.left
}

func (j *Join) pushed(p *filterPusher, conditions []expr.Expr) (Node, error) {
	return p.intoJoin(j, conditions)
}

func (j *Join) divided(d *distribution, inputs []spread) (spread, error) {
	if d.shuffles(j, inputs) {
		return d.shuffle(j, inputs)
	}
	if k := j.options.Kind; inputs[0].all && k != join.Right && k != join.Full {
		return d.broadcast(j, inputs)
	}
	return spread{}, nil
}
