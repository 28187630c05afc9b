package strategy

import "context"

// Sort has the choices of sorts on GPUs.
type Sort struct {
	// FewRows is the most rows, and rows that are equal so far, that one block sorts. Zero is the number of
	// internal/keys/rowkey, a negative number none.
	FewRows int
}

type sortKey struct{}

// WithSort returns a context with the choices of sorts.
func WithSort(ctx context.Context, choices Sort) context.Context {
	return context.WithValue(ctx, sortKey{}, choices)
}

// OfSort returns the choices of a context.
func OfSort(ctx context.Context) Sort {
	choices, _ := ctx.Value(sortKey{}).(Sort)
	return choices
}
