package memory

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/internal/base/callstack"
)

// Leak is a block that was collected without having been released.
type Leak struct {
	Bytes uint64
	Tag   string
	// Site is the call stack of the allocation, or empty without
	// Options.TrackAllocations.
	Site string
}

// String describes the leaked block and, if known, the call stack of its allocation.
func (l Leak) String() string {
	text := fmt.Sprintf("%s tagged %q", humanize.IBytes(l.Bytes), l.Tag)
	if l.Site != "" {
		text += ", allocated at\n" + l.Site
	}
	return text
}

func logLeak(leak Leak) {
	slog.Warn("gpuframe: memory was collected without being released",
		"bytes", leak.Bytes, "tag", leak.Tag, "site", leak.Site)
}

const (
	deepestCallSite  = 32
	sitesInLeakError = 10
)

// tracker records the call stack of each live allocation.
type tracker struct {
	mu    sync.Mutex
	sites map[*blockState]callstack.Stack
}

func (t *tracker) add(state *blockState, site callstack.Stack) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sites == nil {
		t.sites = make(map[*blockState]callstack.Stack)
	}
	t.sites[state] = site
}

func (t *tracker) remove(state *blockState) callstack.Stack {
	t.mu.Lock()
	defer t.mu.Unlock()
	site := t.sites[state]
	delete(t.sites, state)
	return site
}

// held formats the distinct call stacks of the live allocations, with counts.
func (t *tracker) held() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := make(map[string]int)
	var order []string
	for _, site := range t.sites {
		text := site.Text("\t")
		if counts[text]++; counts[text] == 1 {
			order = append(order, text)
		}
	}
	var texts []string
	for i, text := range order {
		if i == sitesInLeakError {
			texts = append(texts, fmt.Sprintf("\t… and %d other places\n", len(order)-i))
			break
		}
		texts = append(texts, fmt.Sprintf("\t%d ×\n%s", counts[text], text))
	}
	return texts
}
