package objectstore

import (
	"context"
	"time"
)

// Paused sends a request that fails, and notes the pauses instead of waiting.
func Paused(ctx context.Context, retry Retry, pauses *[]time.Duration, failure error) (Object, error) {
	retry.wait = func(_ context.Context, pause time.Duration) error {
		*pauses = append(*pauses, pause)
		return nil
	}
	r := WithRetry(nil, retry).(*retrying)
	return Object{}, r.do(ctx, r.limit(0), func(context.Context) error { return failure })
}

// ResetCache makes the cache of the process that of the environment again.
func ResetCache() {
	shared.Lock()
	defer shared.Unlock()
	shared.set, shared.cache, shared.directory, shared.size = false, nil, "", ""
}
