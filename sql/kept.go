package sql

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe"
)

// keptStatements are the queries of the latest statements of a session, by their texts and arguments: to translate a
// statement takes as long as a small query. They are those of tables in memory, for as long as no name changes.
type keptStatements struct {
	mu      sync.Mutex
	queries map[string]gpuframe.Query
	// keys are those of queries. The next one replaces keys[next] if there are many.
	keys []string
	next int
	// changes counts the changes of names. A query that was translated before one is not kept.
	changes uint64
}

const (
	// mostKept is the number of statements that a session keeps, as many as an engine keeps plans.
	mostKept = 64
	// longestKept is the length of the longest key that is kept.
	longestKept = 1 << 16
)

// keyOf returns the key of a statement, or reports that it is not kept.
func keyOf(ctx context.Context, text string, arguments []any) (key string, ok bool) {
	if isForSchema(ctx) || len(text) > longestKept {
		return "", false
	}
	var b strings.Builder
	b.WriteString(text)
	for _, a := range arguments {
		switch a := a.(type) {
		case nil, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
			fmt.Fprintf(&b, "\x00%T %v", a, a)
		case string, json.Number:
			fmt.Fprintf(&b, "\x00%T %q", a, a)
		case time.Time:
			fmt.Fprintf(&b, "\x00%T %d %d", a, a.Unix(), a.Nanosecond())
		default:
			return "", false
		}
	}
	return b.String(), b.Len() <= longestKept
}

// find returns the query of a key, and the number of changes before a translation.
func (k *keptStatements) find(key string) (q gpuframe.Query, changes uint64, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	q, ok = k.queries[key]
	return q, k.changes, ok
}

// keep keeps a query unless a name has changed since, in place of the oldest one if there are many.
func (k *keptStatements) keep(key string, q gpuframe.Query, changes uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if changes != k.changes {
		return
	}
	if _, known := k.queries[key]; known {
		return
	}
	if k.queries == nil {
		k.queries = map[string]gpuframe.Query{}
	}
	k.queries[key] = q
	if len(k.keys) < mostKept {
		k.keys = append(k.keys, key)
		return
	}
	delete(k.queries, k.keys[k.next])
	k.keys[k.next] = key
	k.next = (k.next + 1) % mostKept
}

// forget drops all queries when a name has changed.
func (k *keptStatements) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queries, k.keys, k.next = nil, nil, 0
	k.changes++
}
