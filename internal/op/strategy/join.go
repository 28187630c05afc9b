package strategy

import "context"

// A JoinStrategy is the name of a strategy of joins: those of the tables in the documentation of kernels/join.
type JoinStrategy string

// Strategies that find matches.
const (
	AllPairs       JoinStrategy = "all pairs"
	NoPairs        JoinStrategy = "no pairs"
	ListedPlaces   JoinStrategy = "listed places"
	KnownPlaces    JoinStrategy = "known places"
	MeasuredPlaces JoinStrategy = "measured places"
	HashTable      JoinStrategy = "hash table"
	SortedKeys     JoinStrategy = "sorted keys"
)

// Strategies that make pairs of matches.
const (
	FilteredRows JoinStrategy = "filtered rows"
	OnePass      JoinStrategy = "one pass"
	EveryRow     JoinStrategy = "every row"
	Counted      JoinStrategy = "counted"
)

// Strategies that find the nearest rows of as-of joins.
const (
	Merge       JoinStrategy = "merge"
	SortedMerge JoinStrategy = "sorted merge"
	Searched    JoinStrategy = "searches"
)

// Whether a table has a filter, which shows for most keys by a bit that the table does not have them.
const (
	Filtered   JoinStrategy = "filtered"
	Unfiltered JoinStrategy = "unfiltered"
)

// Which rows are looked up by an inner join with the result in the order of the left rows.
const (
	ProbedLeft  JoinStrategy = "left rows probed"
	ProbedRight JoinStrategy = "right rows probed"
)

// Join forces strategies of a join: Find those that find matches or nearest rows, Pair those that make pairs, Filter whether
// a table on a GPU has a filter, Probe which rows are looked up. A strategy is taken if it is possible, whether it pays or not.
type Join struct{ Find, Pair, Filter, Probe JoinStrategy }

type joinKey struct{}

// WithJoin returns a context with the choices of joins.
func WithJoin(ctx context.Context, choices Join) context.Context {
	return context.WithValue(ctx, joinKey{}, choices)
}

// OfJoin returns the choices of a context.
func OfJoin(ctx context.Context) Join {
	choices, _ := ctx.Value(joinKey{}).(Join)
	return choices
}

// FewestNarrowed is the fewest rows of each side of a cross join for which the bounds of its condition are searched in
// sorted rows. The optimizer makes joins with a condition of no others. Not measured separately.
const FewestNarrowed = 32
