// Package exprtree holds expressions with resolved names and types. Package expr makes
// them from a user's expression and a schema, hosteval evaluates them on the host, and
// codegen generates PTX for them.
//
// A [Node] defines one computation exactly. Conversions are separate nodes, so the
// operands of an operation have the types that [Op] documents.
package exprtree
