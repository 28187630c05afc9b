// Package exprtree holds expressions after their names and types were resolved: what
// package expr makes of a user's expression and a schema, what hosteval evaluates
// on the host, and what codegen writes PTX for.
//
// A [Node] says exactly what to compute. Conversions are nodes of their own, so an
// operation finds operands of the types that [Op] documents for it.
package exprtree
