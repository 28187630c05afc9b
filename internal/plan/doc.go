// Package plan holds bound queries: trees of operations whose columns and types are known.
//
// Constructors such as [NewFilter] check an operation against the schema of its input, so a
// tree that exists can run. Nodes are immutable; [Optimize] returns other trees with the
// same result. Package internal/exec runs a tree.
//
// Expressions are those of kernels/expr. Aggregates and windows are not part of an
// expression: [Aggregate] and [Window] compute them as columns, which the expressions of
// the operations above name.
package plan
