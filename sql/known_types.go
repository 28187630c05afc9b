package sql

import (
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
)

// types are the types of expressions by their texts and the types of their columns, so that the binder is asked
// once for each operation.
type types struct {
	mu    sync.Mutex
	known map[string]arrow.DataType
}

// mostTypes is the number of expressions at which all of them are dropped.
const mostTypes = 1 << 12

func (t *types) find(key string) (dataType arrow.DataType, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	dataType, ok = t.known[key]
	return dataType, ok
}

func (t *types) keep(key string, dataType arrow.DataType) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known) >= mostTypes {
		t.known = map[string]arrow.DataType{}
	}
	t.known[key] = dataType
}
