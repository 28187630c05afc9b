package tree

// Position is the offset of a node in the text: of the operator or the keyword of binary operators, comparisons, set
// operations and joins, and of the first byte of other nodes. A node embeds it.
type Position int

// Pos returns the position.
func (p Position) Pos() Position { return p }

// Node is a part of a statement.
type Node interface{ Pos() Position }

// Name is an identifier. Text is without quotes, in the case in which it was written.
type Name struct {
	Position
	Text   string
	Quoted bool
}

// Statement is a whole statement.
type Statement interface {
	Node
	statement()
}

// Body makes the rows of a query before they are sorted and limited.
type Body interface {
	Node
	body()
}

// Table is an item of a FROM clause.
type Table interface {
	Node
	table()
}

// Expr is an expression.
type Expr interface {
	Node
	expr()
}
