package strategy

import "context"

// A GroupStrategy is the name of a strategy of group-bys: those of the tables in the documentation of kernels/group.
type GroupStrategy string

// Strategies that find groups. Partitions also add up rows of groups that have numbers.
const (
	OneLaunch  GroupStrategy = "one launch"
	DenseKeys  GroupStrategy = "dense keys"
	Partitions GroupStrategy = "partitions"
	Hashes     GroupStrategy = "hashes"
	OneGroup   GroupStrategy = "one group"
	Numbers    GroupStrategy = "numbers"
)

// Strategies that add rows to groups.
const (
	Tiles   GroupStrategy = "tiles"
	Records GroupStrategy = "records"
	Slots   GroupStrategy = "slots"
)

// Strategies that find values of each group.
const (
	Tops         GroupStrategy = "tops"
	Selection    GroupStrategy = "selection"
	SortedValues GroupStrategy = "sorted values"
)

// Group forces strategies of a group-by, and sets numbers that kernels/group otherwise takes from its tuning.go.
// Zeros are those of that file.
type Group struct {
	// Find is the strategy that finds the groups if it is possible, Add the one that adds up their rows, and Values the one
	// that finds values of each group.
	Find, Add, Values GroupStrategy
	// Without are parts of strategies that are left out.
	Without GroupParts
	// MeasuredRows is the rows from which on the host waits for ranges of keys and the number of groups.
	MeasuredRows int
	// TextRows is the rows from which on short strings become numbers, MaskedRows those from which on a condition masks
	// rows, and RepeatingRows those from which on strings are ranked by their distinct values, if these are few.
	TextRows, MaskedRows, RepeatingRows int
	// Groups is the number of groups that partitions by hashes expect, instead of an estimate.
	Groups int
	// SlotBytes is the size of the slots of tiles, for which more groups are divided into slices. SharedBytes is the shared
	// memory of a block for tables of places, largest values and counters of quantiles.
	SlotBytes, SharedBytes int
	// Outside is the number of values outside the window of a sum that are listed.
	Outside int
	// QuantileBins is the number of bins of a group's values, QuantileKept the most rows that are kept of all groups.
	QuantileBins, QuantileKept int
	// PlaceBits is the logarithm of the keys of a partition, DigitBits the most bits of one pass, MoveRows the rows of a
	// thread that moves rows, PartitionThreads the threads of a block that adds up a partition, and ChunkRows the rows above
	// which several blocks share one.
	PlaceBits, DigitBits, MoveRows, PartitionThreads, ChunkRows int
	// SortedRows is the rows from which on the host waits for whether the only key is sorted.
	SortedRows int
	// DividedRows divides the rows into chunks of this many, as if the memory did not fit the budget, and DividedBits the
	// groups into 2^DividedBits parts.
	DividedRows, DividedBits int
}

// GroupParts are parts of strategies.
type GroupParts uint8

const (
	// Queues are those of the rows of a slice: without them each slice adds all rows, those of others to spare slots.
	Queues GroupParts = 1 << iota
	// DerivedMarks mark the groups with rows by a sum: without them words do.
	DerivedMarks
	// LinearTiles are the kernel that adds no products.
	LinearTiles
	// HighHalves of extremes are compared first.
	HighHalves
	// PlainMoves are the kernel that moves rows with one plain key.
	PlainMoves
	// SortedPartitions are those of rows that are sorted by their key: without them rows move.
	SortedPartitions
	// FusedExpressions are computed by the kernel that adds up few groups: without them columns are made.
	FusedExpressions
)

// Has reports whether all of some parts are among these.
func (p GroupParts) Has(parts GroupParts) bool { return p&parts == parts }

type groupKey struct{}

// WithGroup returns a context with the choices of group-bys.
func WithGroup(ctx context.Context, choices Group) context.Context {
	return context.WithValue(ctx, groupKey{}, choices)
}

// OfGroup returns the choices of a context.
func OfGroup(ctx context.Context) Group {
	choices, _ := ctx.Value(groupKey{}).(Group)
	return choices
}
