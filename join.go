package gpuframe

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// JoinKind is which rows a join yields.
type JoinKind = join.Kind

const (
	// Inner yields the pairs of rows that match.
	Inner = join.Inner
	// Left also yields the left rows without a match, with nulls for the right columns.
	Left = join.Left
	// Right also yields the right rows without a match.
	Right = join.Right
	// Full also yields the rows of both sides without a match.
	Full = join.Full
	// Semi yields the left rows that have a match, each once.
	Semi = join.Semi
	// Anti yields the left rows that have none.
	Anti = join.Anti
	// Cross yields all pairs of rows. It takes no keys.
	Cross = join.Cross
)

// JoinTerm is an argument of [Query.Join] that rows match by: a [Key] that both sides have, a
// pair of [On], a condition of [Matching], or [NullsMatch], [Suffix] or [AnyOrder], or a slice of them.
type JoinTerm = any

// matcher is a JoinTerm that is no name.
type matcher interface{ addTo(terms *bind.JoinTerms) }

// addTo makes the expression a key of both sides.
func (e Expr) addTo(terms *bind.JoinTerms) {
	if len(e.misuse) > 0 {
		terms.Misuse = joinMisuse(terms.Misuse, e.misuse)
		return
	}
	terms.Left, terms.Right = append(terms.Left, e.bound()), append(terms.Right, e.bound())
}

type joinTerm func(terms *bind.JoinTerms)

func (f joinTerm) addTo(terms *bind.JoinTerms) { f(terms) }

// On matches rows in which an expression on the left columns equals one on the right columns. Slices of as many keys
// match element by element.
func On(left, right Key) JoinTerm {
	return joinTerm(func(terms *bind.JoinTerms) {
		leftKeys, rightKeys := keysOf([]Key{left}), keysOf([]Key{right})
		if len(leftKeys) != len(rightKeys) {
			terms.Misuse = append(terms.Misuse, fmt.Errorf("On has %d left keys and %d right keys, expected as many: %w", len(leftKeys), len(rightKeys), device.ErrInvalidValue))
			return
		}
		terms.Left, terms.Right = append(terms.Left, leftKeys...), append(terms.Right, rightKeys...)
	})
}

// Matching is a further condition on rows that match, on the columns that an inner join
// has. It decides what matches, and does not filter the result: a left join keeps the left
// rows for which it is false, without a match. Inner, left, semi and anti joins need no keys with
// it. A join evaluates the condition for all pairs of rows with equal keys, unless it has a lower and
// an upper bound of values of one side by values of the other: integers, floats, or times of one
// type. Then it evaluates those pairs that a search in sorted rows leaves: spans that overlap,
// values in ranges. With keys it searches if these leave many pairs.
//
//	stays.Join(rates, gpuframe.Inner, "city", gpuframe.Matching(day.Ge(from).And(day.Lt(until))))
func Matching(condition Expression) JoinTerm {
	return joinTerm(func(terms *bind.JoinTerms) { terms.Matching = append(terms.Matching, conditionOf(condition).bound()) })
}

// NullsMatch lets null keys match null keys.
func NullsMatch() JoinTerm {
	return joinTerm(func(terms *bind.JoinTerms) { terms.NullsEqual = true })
}

// AnyOrder lets the rows come in any order, the same in every run. Inner joins with it can change places with
// each other, as those below groups do without it.
func AnyOrder() JoinTerm {
	return joinTerm(func(terms *bind.JoinTerms) { terms.AnyOrder = true })
}

// Suffix is added to the names of right columns that the left side has too. Without it,
// "_right" is.
func Suffix(text string) JoinTerm {
	return joinTerm(func(terms *bind.JoinTerms) { terms.Suffix = text })
}

// Join matches the rows of q, the left side, with those of another query. It yields the left
// columns and then the right ones, without keys of the same name. The rows are in the order
// of the left side; right rows without a match come last. If memory does not suffice for
// that, the order is another one, the same in every run with the same budget.
//
//	sales.Join(products, gpuframe.Left, "product")
//	orders.Join(customers, gpuframe.Inner, gpuframe.On("buyer", "id"))
func (q Query) Join(other Query, kind JoinKind, terms ...JoinTerm) Query {
	return q.then(bind.Join(kind, joinTermsOf(terms)), other)
}

// Direction is where the nearest row of an [Query.AsOf] join lies.
type Direction = join.Direction

const (
	// Backward finds the last right row with a key that is not above the left key.
	Backward = join.Backward
	// Forward finds the first right row with a key that is not below it.
	Forward = join.Forward
	// Nearest finds the right row with the smallest distance.
	Nearest = join.Nearest
)

// AsOfOptions configure [Query.AsOf]. The zero value finds the last row at or before the key.
type AsOfOptions struct {
	Direction Direction
	// By are further keys, which must be equal: terms of [Query.Join].
	By []JoinTerm
	// NotEqual excludes right rows with a key that equals the left key.
	NotEqual bool
	// Tolerance is the largest distance of two keys: an integer, a float, or a
	// time.Duration for temporal keys. Nil means any.
	Tolerance any
	// MatchedOnly removes left rows without a match. Otherwise their right columns are
	// null.
	MatchedOnly bool
	// Sorted is a promise that the right side is in ascending order of its key, which
	// saves a sort.
	Sorted bool
}

// AsOf matches each row of q with at most one row of another query: that with the nearest
// key in a direction. on is a key of both sides, or a pair of [On]: numbers or times.
//
//	trades.AsOf(quotes, "time", gpuframe.AsOfOptions{By: []gpuframe.JoinTerm{"symbol"}})
func (q Query) AsOf(other Query, on JoinTerm, options AsOfOptions) Query {
	return q.then(bind.AsOf(joinTermsOf([]JoinTerm{on}), joinTermsOf(options.By), plan.AsOfOptions{
		Direction: options.Direction, NotEqual: options.NotEqual, Tolerance: options.Tolerance, MatchedOnly: options.MatchedOnly, Sorted: options.Sorted,
	}), other)
}

// joinTermsOf returns the terms of a join.
func joinTermsOf(list []JoinTerm) (terms bind.JoinTerms) {
	for i, t := range flatten(list) {
		m, ok := t.(matcher)
		switch {
		case isNil(t):
			terms.Misuse = append(terms.Misuse, fmt.Errorf("term %d of the join is nil: %w", i, device.ErrInvalidValue))
		case ok:
			m.addTo(&terms)
		default:
			keyOf(t).addTo(&terms)
		}
	}
	return terms
}
