// Package tree has the syntax tree of SQL statements, as package parse reads them from text.
//
// Nodes have the place of their text. Names keep their case. The tree has the forms of the text, not their
// meanings: names are not resolved, types are not known, and clauses of a query stand in their own fields.
//
// Trees do not change after they were read. Several goroutines may read one.
package tree
