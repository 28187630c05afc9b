package tree

// The items of FROM.
type (
	// TableName is a table, a view or a common table expression.
	TableName struct {
		Position
		Name   []Name
		Alias  Alias
		Sample *Sample
	}
	// File is a path or pattern of files in quotes.
	File struct {
		Position
		Path   string
		Alias  Alias
		Sample *Sample
	}
	// TableFunction is a function that yields rows, such as read_csv.
	TableFunction struct {
		Position
		Lateral    bool
		Call       *Call
		Ordinality bool
		Alias      Alias
		Sample     *Sample
	}
	// Subquery is a query in parentheses.
	Subquery struct {
		Position
		Lateral bool
		Query   *Query
		Alias   Alias
		Sample  *Sample
	}
	// Join combines two tables. It has a condition, columns, or neither.
	Join struct {
		Position
		Kind        JoinKind
		Natural     bool
		AsOf        bool
		Left, Right Table
		On          Expr
		Using       []Name
	}
	// Pivot is PIVOT, as a statement or behind a table.
	Pivot struct {
		Position
		Table Table
		// On has the columns with values that become columns, each with the values if the text lists them.
		On         []PivotColumn
		Aggregates []Item
		GroupBy    []Expr
		Alias      Alias
	}
	// Unpivot is UNPIVOT, as a statement or behind a table.
	Unpivot struct {
		Position
		Table        Table
		IncludeNulls bool
		Columns      []Item
		Name, Value  Name
		Alias        Alias
	}
)

// PivotColumn is an expression with values that become columns. Values is nil if the text does not list them.
type PivotColumn struct {
	Expr   Expr
	Values []Item
}

// Alias names a table and its columns. It is empty if the text has none.
type Alias struct {
	Name    Name
	Columns []Name
}

// JoinKind is a kind of join.
type JoinKind uint8

// The kinds of joins. A comma in FROM is a cross join.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	SemiJoin
	AntiJoin
	CrossJoin
	PositionalJoin
)

// Sample is USING SAMPLE or TABLESAMPLE.
type Sample struct {
	Position
	// Method is empty, or reservoir, bernoulli, system in lower case.
	Method string
	Size   Expr
	// Percent is set if the size is a share of the rows.
	Percent bool
	// Seed is nil if the text has none.
	Seed *int64
}

func (*TableName) table()     {}
func (*File) table()          {}
func (*TableFunction) table() {}
func (*Subquery) table()      {}
func (*Join) table()          {}
func (*Pivot) table()         {}
func (*Unpivot) table()       {}
