package tree

// The statements that are no queries.
type (
	// Create is CREATE TABLE … AS or CREATE VIEW … AS.
	Create struct {
		Position
		View, Replace, Temporary, IfNotExists bool
		Name                                  []Name
		Columns                               []Name
		Query                                 *Query
	}
	// Drop is DROP TABLE or DROP VIEW.
	Drop struct {
		Position
		View, IfExists bool
		Name           []Name
	}
	// Copy is COPY … TO. It has a table or a query.
	Copy struct {
		Position
		Table   []Name
		Query   *Query
		Path    Expr
		Options []Option
	}
	// Describe is DESCRIBE or SUMMARIZE of a table or a query. In parentheses it is the body of a query.
	Describe struct {
		Position
		Summarize bool
		Table     []Name
		Query     *Query
	}
	// Explain is EXPLAIN of a statement.
	Explain struct {
		Position
		Analyze   bool
		Statement Statement
	}
	// Show is SHOW TABLES, or SHOW of a name. Without a name it is SHOW or DESCRIBE of all tables. In parentheses it
	// is the body of a query.
	Show struct {
		Position
		Name []Name
	}
)

// Option is a name with values, such as those of COPY. It has no value, one, or several in parentheses.
type Option struct {
	Name   Name
	Values []Expr
}

func (*Query) statement()    {}
func (*Create) statement()   {}
func (*Drop) statement()     {}
func (*Copy) statement()     {}
func (*Describe) statement() {}
func (*Explain) statement()  {}
func (*Show) statement()     {}
