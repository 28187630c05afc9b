package strategy

import "context"

// Window sets numbers that kernels/window otherwise takes from its constants. Zeros are those.
type Window struct {
	// SpreadRows is the rows from which on results of rows in no order are first written in the order of their places.
	SpreadRows int
}

type windowKey struct{}

// WithWindow returns a context with the choices of windows.
func WithWindow(ctx context.Context, choices Window) context.Context {
	return context.WithValue(ctx, windowKey{}, choices)
}

// OfWindow returns the choices of a context.
func OfWindow(ctx context.Context) Window {
	choices, _ := ctx.Value(windowKey{}).(Window)
	return choices
}
