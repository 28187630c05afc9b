package tree

// The expressions.
type (
	// Column is a name with the names before it: a column, table.column, or fields of structs.
	Column struct {
		Position
		Name []Name
	}
	// Star is * or table.*, with its changes.
	Star struct {
		Position
		Table   []Name
		Exclude [][]Name
		Replace []Item
		// Rename has columns with their new names.
		Rename []Item
		// Like is a pattern of names, or nil.
		Like *Like
	}
	// Columns is COLUMNS(…): a pattern, a star, or a lambda over names.
	Columns struct {
		Position
		Of Expr
		// Unpack is *COLUMNS(…): the columns are separate arguments.
		Unpack bool
	}
	// Literal is a number, a text, true, false or null.
	Literal struct {
		Position
		Kind LiteralKind
		// Text is the number without underscores, or the text without quotes and escapes.
		Text string
	}
	// TypedText is a type before a text, such as date '2020-02-29'.
	TypedText struct {
		Position
		Type *Type
		Text string
	}
	// Interval is INTERVAL with a text, or with a number and a unit.
	Interval struct {
		Position
		Value Expr
		// Unit is a unit in lower case and singular, or empty: then the text has the units.
		Unit string
	}
	// Parameter is ?, $1 or $name. Those without a number are numbered in the order of the text, from 1.
	Parameter struct {
		Position
		Number int
		Name   string
	}
	// Ordinal is #1: the column at a place of the tables, from 1.
	Ordinal struct {
		Position
		Number int
	}
	// Unary is an operator before an expression: -, +, ~, not. Postfix operators stand behind it.
	Unary struct {
		Position
		Op      string
		X       Expr
		Postfix bool
	}
	// Binary is an operator of two expressions: + - * / // % ** ^ || & | << >> = <> < <= > >= -> ->> @> and
	// others as they are written; != and == are <> and =.
	Binary struct {
		Position
		Op   string
		X, Y Expr
	}
	// Logic is a chain of two or more terms of AND or of OR.
	Logic struct {
		Position
		Or    bool
		Terms []Expr
	}
	// Is is IS [NOT] NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM.
	Is struct {
		Position
		X     Expr
		Not   bool
		State IsKind
		// From is the expression after DISTINCT FROM.
		From Expr
	}
	// Between is [NOT] BETWEEN.
	Between struct {
		Position
		X, Low, High   Expr
		Not, Symmetric bool
	}
	// In is [NOT] IN a list, a query, or an expression (a list or a map).
	In struct {
		Position
		X     Expr
		Not   bool
		List  []Expr
		Query *Query
		Of    Expr
	}
	// Like is a match of a text with a pattern.
	Like struct {
		Position
		X       Expr
		Kind    LikeKind
		Not     bool
		Pattern Expr
		Escape  Expr
	}
	// Case is CASE. X is nil if the branches have conditions.
	Case struct {
		Position
		X        Expr
		Branches []Branch
		Else     Expr
	}
	// Cast is CAST, TRY_CAST or ::.
	Cast struct {
		Position
		X    Expr
		Type *Type
		Try  bool
	}
	// Call is a function with arguments, an aggregate, or a window function. The forms with words instead of
	// commas have the arguments in the order of the function: substring(x from 2 for 3), position(x in y),
	// trim(both x from y) as trim, ltrim or rtrim, overlay, extract(year from x) as date_part('year', x).
	// COALESCE, NULLIF, GROUPING, x.f(y) as f(x, y), and (a, b) OVERLAPS (c, d) are calls too.
	Call struct {
		Position
		Name     []Name
		Args     []Arg
		Star     bool
		Distinct bool
		OrderBy  *OrderBy
		// Within is WITHIN GROUP.
		Within      *OrderBy
		Filter      Expr
		IgnoreNulls bool
		// Over is nil without OVER.
		Over *Window
	}
	// Exists is EXISTS.
	Exists struct {
		Position
		Query *Query
	}
	// Scalar is a query in parentheses that is a value, or ARRAY(query), the list of its values.
	Scalar struct {
		Position
		Query *Query
		Array bool
	}
	// Quantified is a comparison with ANY or ALL rows of a query, or elements of a list.
	Quantified struct {
		Position
		X     Expr
		Op    string
		All   bool
		Query *Query
		Of    Expr
	}
	// List is [a, b] or ARRAY[a, b], which mean the same.
	List struct {
		Position
		Items []Expr
		Array bool
	}
	// Comprehension is [value for variable in list if condition].
	Comprehension struct {
		Position
		Value     Expr
		Variables []Name
		Of        Expr
		If        Expr
	}
	// Struct is {'name': value, …}.
	Struct struct {
		Position
		Fields []Field
	}
	// Map is MAP {key: value, …}.
	Map struct {
		Position
		Keys, Values []Expr
	}
	// Row is (a, b) or ROW(a, b).
	Row struct {
		Position
		Items []Expr
	}
	// Subscript is x[index].
	Subscript struct {
		Position
		X, Index Expr
	}
	// Slice is x[from:to:step]. Bounds that the text leaves out are nil.
	Slice struct {
		Position
		X, From, To, Step Expr
	}
	// FieldOf is (x).name.
	FieldOf struct {
		Position
		X    Expr
		Name Name
	}
	// Lambda is lambda x, y : body, or x -> body and (x, y) -> body as an argument. Elsewhere -> is a [Binary].
	Lambda struct {
		Position
		Variables []Name
		Body      Expr
	}
	// Collate is COLLATE.
	Collate struct {
		Position
		X    Expr
		Name Name
	}
	// AtTimeZone is AT TIME ZONE.
	AtTimeZone struct {
		Position
		X, Zone Expr
	}
	// Default is the word DEFAULT as a value.
	Default struct{ Position }
)

// LiteralKind is a kind of literal.
type LiteralKind uint8

// The kinds of literals.
const (
	Null LiteralKind = iota
	True
	False
	Integer // 12, 0xff
	Decimal // 1.5
	Float   // 1e-3
	Text
	Blob // x'ff'
)

// IsKind is the state that IS tests for.
type IsKind uint8

// The states that IS tests for.
const (
	IsNull IsKind = iota
	IsTrue
	IsFalse
	IsUnknown
	IsDistinct
)

// LikeKind is a kind of pattern.
type LikeKind uint8

// The kinds of patterns.
const (
	LikePattern  LikeKind = iota
	ILikePattern          // without regard to case
	GlobPattern
	SimilarPattern // SIMILAR TO: a regular expression of the whole text
	RegexPattern   // ~: a regular expression of a part of the text
	IRegexPattern  // ~*
)

// Branch is WHEN … THEN ….
type Branch struct{ When, Then Expr }

// Arg is an argument of a call. Its name is empty if the text has none.
type Arg struct {
	Name Name
	Expr Expr
}

// Field is a field of a struct.
type Field struct {
	Name  Name
	Value Expr
}

// Type is a type as it is written.
type Type struct {
	Position
	// Name is the words of the type in lower case with a space between them: "integer", "double",
	// "timestamp with time zone", "list", "array", "struct", "map". Names in quotes keep their case.
	Name string
	// Params are the numbers in parentheses, of an array its length.
	Params []int64
	// Element is the type of elements of a list or array, and of the values of a map.
	Element *Type
	Key     *Type
	Fields  []TypeField
}

// TypeField is a field of a struct type.
type TypeField struct {
	Name Name
	Type *Type
}

// Window is the part behind OVER.
type Window struct {
	Position
	// Base is the named window that this one refines or is, or empty.
	Base      Name
	Partition []Expr
	OrderBy   *OrderBy
	// Frame is nil if the text has none.
	Frame *Frame
}

// NamedWindow is a window of the WINDOW clause.
type NamedWindow struct {
	Name   Name
	Window *Window
}

// Frame is the rows around a row that a window function sees.
type Frame struct {
	Position
	Unit       FrameUnit
	Start, End Bound
	Exclude    Exclusion
}

// FrameUnit is the unit that a frame counts.
type FrameUnit uint8

// The units of frames.
const (
	Rows FrameUnit = iota
	Range
	Groups
)

// Bound is an end of a frame. Offset is set for Preceding and Following.
type Bound struct {
	Kind   BoundKind
	Offset Expr
}

// BoundKind is a kind of end.
type BoundKind uint8

// The kinds of ends.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// Exclusion is the rows that a frame leaves out.
type Exclusion uint8

// The exclusions.
const (
	ExcludeNothing Exclusion = iota
	ExcludeCurrentRow
	ExcludeGroup
	ExcludeTies
)

func (*Column) expr()        {}
func (*Star) expr()          {}
func (*Columns) expr()       {}
func (*Literal) expr()       {}
func (*TypedText) expr()     {}
func (*Interval) expr()      {}
func (*Parameter) expr()     {}
func (*Ordinal) expr()       {}
func (*Unary) expr()         {}
func (*Binary) expr()        {}
func (*Logic) expr()         {}
func (*Is) expr()            {}
func (*Between) expr()       {}
func (*In) expr()            {}
func (*Like) expr()          {}
func (*Case) expr()          {}
func (*Cast) expr()          {}
func (*Call) expr()          {}
func (*Exists) expr()        {}
func (*Scalar) expr()        {}
func (*Quantified) expr()    {}
func (*List) expr()          {}
func (*Comprehension) expr() {}
func (*Struct) expr()        {}
func (*Map) expr()           {}
func (*Row) expr()           {}
func (*Subscript) expr()     {}
func (*Slice) expr()         {}
func (*FieldOf) expr()       {}
func (*Lambda) expr()        {}
func (*Collate) expr()       {}
func (*AtTimeZone) expr()    {}
func (*Default) expr()       {}
