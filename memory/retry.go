package memory

import "context"

// retrying is the key of [Retrying].
type retrying struct{}

// Retrying returns a context for requests that are repeated with fewer bytes, or later, if they get no
// memory: the operators of a query halve their tables. Such a request is not a failure: it counts as one
// of Stats.Retries, and observers do not see it. The caller reports the end of its attempts with
// [Manager.ReportFailure].
func Retrying(ctx context.Context) context.Context {
	return context.WithValue(ctx, retrying{}, true)
}

// IsRetrying reports whether a context is from [Retrying].
func IsRetrying(ctx context.Context) bool {
	return ctx != nil && ctx.Value(retrying{}) != nil
}

// ReportFailure counts and reports the failure of work that got no memory after it was repeated. The tag
// and the size are those of its last request.
func (m *Manager) ReportFailure(bytes uint64, tag string, err error) {
	_ = m.failed(bytes, tag, err)
}
