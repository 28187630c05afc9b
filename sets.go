package gpuframe

import (
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// Except keeps the rows that another query does not have, each once and in their order: EXCEPT of SQL.
// Both have columns of the same names and types. Rows are compared as keys of groups are: null equals
// null, NaN equals NaN, and −0 equals 0.
func (q Query) Except(other Query) Query {
	return q.then(bind.Sets("Except", join.Anti, false), other)
}

// ExceptAll keeps a row as many times more than q has it than the other query: EXCEPT ALL of SQL. See
// [Query.Except].
func (q Query) ExceptAll(other Query) Query {
	return q.then(bind.Sets("ExceptAll", join.Anti, true), other)
}

// Intersect keeps the rows that another query has too, each once and in their order: INTERSECT of SQL.
// See [Query.Except].
func (q Query) Intersect(other Query) Query {
	return q.then(bind.Sets("Intersect", join.Semi, false), other)
}

// IntersectAll keeps a row as many times as both queries have it: INTERSECT ALL of SQL. See
// [Query.Except].
func (q Query) IntersectAll(other Query) Query {
	return q.then(bind.Sets("IntersectAll", join.Semi, true), other)
}
