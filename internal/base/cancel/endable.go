package cancel

import "context"

// endable is a context that ends with its parent or by a call. Unlike the contexts of package
// context it calls Err of its parent each time: some contexts notice only then that they have
// ended.
type endable struct {
	context.Context
	parent context.Context
	end    context.CancelCauseFunc
}

// Err implements context.Context. The parent's error may be there before its cause has reached
// c, so c takes the cause over.
func (c *endable) Err() error {
	err := c.parent.Err()
	if err == nil {
		return c.Context.Err()
	}
	if c.Context.Err() == nil {
		c.end(context.Cause(c.parent))
	}
	return err
}

// Endable returns a context that ends with its parent, or by a call of end.
func Endable(parent context.Context) (ctx context.Context, end context.CancelCauseFunc) {
	ctx, end = context.WithCancelCause(parent)
	return &endable{ctx, parent, end}, end
}
