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
