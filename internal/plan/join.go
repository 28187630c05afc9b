package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// JoinKind selects the rows that a join yields.
type JoinKind uint8

const (
	// Inner yields the pairs of rows that match.
	Inner JoinKind = iota
	// Left also yields the left rows without a match, with nulls for the right columns.
	Left
	// Right also yields the right rows without a match.
	Right
	// Full also yields the rows of both sides without a match.
	Full
	// Semi yields the left rows that have a match, once.
	Semi
	// Anti yields the left rows that have none.
	Anti
	// Cross yields all pairs.
	Cross
	joinKinds
)

var joinNames = [joinKinds]string{"inner", "left", "right", "full", "semi", "anti", "cross"}

// String returns the name: "inner".
func (k JoinKind) String() string {
	if k < joinKinds {
		return joinNames[k]
	}
	return fmt.Sprintf("JoinKind(%d)", uint8(k))
}

// keepsLeft reports whether left rows without a match are in the result, keepsRight the
// same of right rows.
func (k JoinKind) keepsLeft() bool  { return k == Left || k == Full }
func (k JoinKind) keepsRight() bool { return k == Right || k == Full }

// JoinKey is a pair of expressions, over the left and the right columns, whose values are
// equal in rows that match.
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
	Kind JoinKind
	Keys []JoinKey
	// Where is a further condition on rows that match, over the columns of an inner join's
	// result. It may be the zero Expr.
	Where expr.Expr
	// NullsEqual lets null match null.
	NullsEqual bool
	// Suffix is added to the names of right columns that the left side has too.
	Suffix string
	// LeftOrder keeps the order of the left rows.
	LeftOrder bool
}

// DefaultSuffix is the suffix of right columns without one in the options.
const DefaultSuffix = "_right"

// Join yields the rows of two inputs that match: the left columns, then the right ones but
// for keys of the same name.
type Join struct {
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
		options.Suffix = DefaultSuffix
	}
	options.Keys = slices.Clone(options.Keys)
	j := &Join{left: left, right: right, options: options, fromRight: map[string]string{}}
	if err := j.check(); err != nil {
		return nil, err
	}
	j.name()
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
	case j.options.Kind >= joinKinds:
		return fmt.Errorf("unknown kind of join %d: %w", j.options.Kind, device.ErrInvalidValue)
	case j.options.Kind == Cross && len(j.options.Keys) > 0:
		return fmt.Errorf("a cross join has no keys: %w", device.ErrInvalidValue)
	case j.options.Kind != Cross && len(j.options.Keys) == 0:
		return fmt.Errorf("no key is given: name the columns that are equal, or make a cross join: %w", device.ErrInvalidValue)
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

// name finds the columns of the result.
func (j *Join) name() {
	left := slices.Clone(j.left.Schema().Fields())
	all := slices.Clone(left)
	taken := map[string]bool{}
	for i := range left {
		taken[left[i].Name] = true
		left[i].Nullable = left[i].Nullable || j.options.Kind.keepsRight()
	}
	keys := map[string]bool{}
	for _, k := range j.options.Keys {
		if name, ok := k.shared(); ok {
			keys[name] = true
		}
	}
	result := left
	for _, f := range j.right.Schema().Fields() {
		if keys[f.Name] {
			continue
		}
		from := f.Name
		if taken[f.Name] {
			f.Name += j.options.Suffix
		}
		j.fromRight[f.Name] = from
		all = append(all, f)
		f.Nullable = f.Nullable || j.options.Kind.keepsLeft()
		result = append(result, f)
	}
	j.both = arrow.NewSchema(all, nil)
	if j.options.Kind == Semi || j.options.Kind == Anti {
		result = result[:len(left)]
	}
	j.schema = arrow.NewSchema(result, nil)
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
	return text
}

// estimate expects each row of the larger side to match one row, as a foreign key does.
func (j *Join) estimate() Size {
	left, right := rowsOf(j.left), rowsOf(j.right)
	if left.Rows < 0 || right.Rows < 0 {
		return Size{Rows: -1}
	}
	switch j.options.Kind {
	case Cross:
		if right.Rows > 0 && left.Rows > (1<<62)/right.Rows {
			return Size{Rows: 1 << 62}
		}
		return Size{Rows: left.Rows * right.Rows, Exact: left.Exact && right.Exact}
	case Semi, Anti:
		return Size{Rows: (left.Rows + 1) / 2}
	}
	return Size{Rows: max(left.Rows, right.Rows)}
}
