// Package strategy forces choices that operators otherwise make by sizes and by properties
// of their inputs. Tests use it to run every strategy on few rows, benchmarks to compare
// them on many. A choice travels in the context, so it holds for the calls that get it, and
// no user of an operator sees it.
package strategy

import (
	"context"
	"math"
)

// Table selects the table of the build side of a join.
type Table uint8

const (
	// ByKeys selects the table by the keys and their number.
	ByKeys Table = iota
	// Places measures the range of integer keys, also of few rows, and gives keys in a small
	// range their places.
	Places
	// Hashed is a hash table.
	Hashed
)

// AsOf selects how an as-of join on a GPU finds the nearest rows.
type AsOf uint8

const (
	// ByWords merges both sides if the keys fit a word, and sorts the left rows if the right
	// ones are many.
	ByWords AsOf = iota
	// Merged sorts the left rows always, by the whole word.
	Merged
	// Searched searches each left row.
	Searched
)

// Join has the choices of a join.
type Join struct {
	Table Table
	AsOf  AsOf
	// Waits makes the host wait until it knows whether keys occur twice before it looks for
	// rows.
	Waits bool
}

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

// Group has the choices of a group-by. With any of them few rows are not aggregated by one launch.
type Group struct {
	// Tiles adds to the states of few groups by tiles, also few rows.
	Tiles bool
	// SlotBytes is the size of the slots of tiles, for which more groups are divided into slices.
	SlotBytes int
	// WholeSlices adds the rows of all slices in each of them, those of others to spare slots, instead of
	// queues of the rows of a slice. CountWords marks the groups with rows in words of slots, also if a sum shows them.
	WholeSlices, CountWords bool
	// AnyTiles adds tiles by the kernel that also adds products. WholeExtremes compares all bits of extremes, not
	// the high halves first.
	AnyTiles, WholeExtremes bool
	// Computed makes columns of the expressions that aggregates read, also if the kernel that adds up
	// few groups can compute them.
	Computed bool
	// Records adds to records in the cache, also few rows and few groups.
	Records bool
	// Outside is the number of values outside the window of a sum that are listed, or zero for
	// a number by the rows.
	Outside int
	// Partition moves rows to partitions by their keys, also few rows and few keys.
	Partition bool
	// Masks masks the rows that a condition leaves out, also few rows.
	Masks bool
	// TextNumbers groups keys that are short strings by numbers, made of the ranges of their bytes,
	// also few rows.
	TextNumbers bool
	// Places measures the ranges of integer keys, and gives keys in small ranges places, also of few rows.
	Places bool
	// ManyPlaces finds the first rows of integers in a small range, and the largest values of groups, in
	// global memory, as if they did not fit shared memory.
	ManyPlaces bool
	// Tops finds the largest values of groups without a sort, also of few rows.
	Tops bool
	// SelectQuantiles finds quantiles of groups without a sort, also of few rows. SortQuantiles sorts for them
	// always.
	SelectQuantiles, SortQuantiles bool
	// QuantileBins is the number of bins of a group's values, QuantileKept the most rows that are kept of all
	// groups. Zeros are chosen by the groups and the rows.
	QuantileBins, QuantileKept int
	// HashedGroups moves rows with scattered integers as keys to partitions by hashes, with a hash
	// table for each, if it is not zero: the number of groups that are expected at most.
	HashedGroups int
	// Estimated estimates the number of groups, and moves rows with scattered integers as keys to partitions by
	// hashes, also few rows and few groups. Numbered does neither: the rows get numbers.
	Estimated, Numbered bool
	// PlaceBits is the logarithm of the keys of a partition, ChunkRows the number of rows
	// above which several blocks share one. Zeros are chosen by the device.
	PlaceBits, ChunkRows int
	// TwoLevels partitions in two passes, SmallTiles by the tiles of small devices, and Wide
	// adds up partitions by large blocks.
	TwoLevels, SmallTiles, Wide bool
	// AnyMoves moves rows to partitions by the kernel for any keys and columns, also plain ones.
	AnyMoves bool
	// DividedRows divides the rows into chunks of this many, as if the memory did not fit the
	// budget, and DividedBits the groups into 2^DividedBits parts. Zero divides nothing.
	DividedRows, DividedBits int
}

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

// Filter has the choices of the filters of a query.
type Filter struct {
	// Masks evaluates the conditions of filters below joins as masks, also of few rows. Then the
	// keys of the joins are masked or, with Copies, the rows are copied by the mask, however many
	// are kept.
	Masks, Copies bool
}

type filterKey struct{}

// WithFilter returns a context with the choices of filters.
func WithFilter(ctx context.Context, choices Filter) context.Context {
	return context.WithValue(ctx, filterKey{}, choices)
}

// OfFilter returns the choices of a context.
func OfFilter(ctx context.Context) Filter {
	choices, _ := ctx.Value(filterKey{}).(Filter)
	return choices
}

type offsetsKey struct{}

// WithMaximumOffset returns a context in which 32-bit offsets reach to a smaller number: then columns
// of a few kilobytes are as those of more than 2 GiB.
func WithMaximumOffset(ctx context.Context, most int64) context.Context {
	return context.WithValue(ctx, offsetsKey{}, most)
}

// MaximumOffset returns the number that offsets of a width in bytes reach to.
func MaximumOffset(ctx context.Context, width int) int64 {
	if width > 4 {
		return math.MaxInt64
	}
	if most, ok := ctx.Value(offsetsKey{}).(int64); ok {
		return most
	}
	return 1<<(8*width-1) - 1
}
