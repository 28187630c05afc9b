// Package strategy forces choices that operators otherwise make by sizes and by properties
// of their inputs. Tests use it to run every strategy on few rows, benchmarks to compare
// them on many. A choice travels in the context, so it holds for the calls that get it, and
// no user of an operator sees it.
package strategy

import (
	"context"
	"math"
)

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
