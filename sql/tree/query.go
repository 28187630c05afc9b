package tree

// Query is a body with the clauses around it.
type Query struct {
	Position
	With    *With
	Body    Body
	OrderBy *OrderBy
	Limit   Expr
	// Percent is set if the limit is a share of the rows.
	Percent bool
	Offset  Expr
}

// With has the common table expressions of a query.
type With struct {
	Position
	Recursive bool
	Tables    []CommonTable
}

// CommonTable is a named query of WITH.
type CommonTable struct {
	Name    Name
	Columns []Name
	// Materialized is nil if the text has neither word.
	Materialized *bool
	Query        *Query
}

// OrderBy sorts rows.
type OrderBy struct {
	Position
	// All sorts by all columns, in the way of the only key, which has no expression.
	All  bool
	Keys []OrderKey
}

// OrderKey is an expression to sort by.
type OrderKey struct {
	Expr       Expr
	Descending bool
	Nulls      NullOrder
}

// NullOrder is the place of nulls among sorted rows.
type NullOrder uint8

// The places of nulls.
const (
	NullsDefault NullOrder = iota
	NullsFirst
	NullsLast
)

// Select is SELECT with its clauses. A query FROM … without SELECT has the item *.
type Select struct {
	Position
	// Distinct is nil without DISTINCT.
	Distinct *Distinct
	Items    []Item
	From     []Table
	Where    Expr
	GroupBy  *GroupBy
	Having   Expr
	Windows  []NamedWindow
	Qualify  Expr
	Sample   *Sample
}

// Distinct is DISTINCT, or DISTINCT ON expressions.
type Distinct struct {
	Position
	On []Expr
}

// Item is an expression of the result. Its name is empty if the text has none.
type Item struct {
	Expr Expr
	Name Name
}

// GroupBy groups rows. All groups by the items that have no aggregate.
type GroupBy struct {
	Position
	All  bool
	Keys []GroupKey
}

// GroupKey is an expression, or grouping sets. The elements of ROLLUP and CUBE are expressions or [Row]s of
// them. Those of GROUPING SETS are keys again; the empty set is a KeySet without elements.
type GroupKey struct {
	Position
	Kind  GroupKind
	Exprs []Expr
	Sets  []GroupKey
}

// GroupKind is a form of a key.
type GroupKind uint8

// The forms of keys.
const (
	KeyExpr GroupKind = iota // an expression
	KeySet                   // a list in parentheses, in GROUPING SETS or alone
	KeyRollup
	KeyCube
	KeySets // GROUPING SETS
)

// SetOperation combines the rows of two bodies.
type SetOperation struct {
	Position
	Kind SetKind
	All  bool
	// ByName matches columns by their names.
	ByName      bool
	Left, Right Body
}

// SetKind is a set operation.
type SetKind uint8

// The set operations.
const (
	Union SetKind = iota
	Intersect
	Except
)

// Values is a body with rows of expressions.
type Values struct {
	Position
	Rows [][]Expr
}

// Nested is a query in parentheses as a body.
type Nested struct {
	Position
	Query *Query
}

func (*Select) body()       {}
func (*SetOperation) body() {}
func (*Values) body()       {}
func (*Nested) body()       {}
