package gpuframe

import "github.com/gpuframe/gpuframe/internal/query/bind"

// Place is a place in a program that a [Problem] of a query names.
type Place struct {
	// Verb is the name of the method, in the language of the program.
	Verb string
	File string
	Line int
}

// At returns the query with another place for problems of its last verb. Without it they
// name the Go code that called the verb. Programs that make queries for others, from
// documents or another language, name the code of those.
func (q Query) At(place Place) Query {
	if q.step == nil {
		return q
	}
	return Query{q.engine, q.step.At(bind.Place(place))}
}
