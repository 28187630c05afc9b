package source

import "context"

// requestLimit limits the requests at a time for footers, page indices and dictionaries, of all objects that one query
// describes or opens at the same time. Requests for row groups have turns of their own: see [Readahead].
type requestLimit chan struct{}

func newRequestLimit() requestLimit { return make(requestLimit, mostRequests) }

// requestLimitKey is the key of the requestLimit in a context.
type requestLimitKey struct{}

func withRequests(ctx context.Context, limit requestLimit) context.Context {
	return context.WithValue(ctx, requestLimitKey{}, limit)
}

// beginRequest waits until a request may be sent, and returns what ends it. It does not wait if the context is done, or has no limit.
func beginRequest(ctx context.Context) (end func()) {
	limit, _ := ctx.Value(requestLimitKey{}).(requestLimit)
	if limit == nil {
		return func() {}
	}
	select {
	case limit <- struct{}{}:
		return func() { <-limit }
	case <-ctx.Done():
		return func() {}
	}
}
