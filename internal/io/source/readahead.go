package source

import (
	"runtime"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// Readahead is shared by the readers of a query. It limits the number of goroutines that read and decode at a
// time, and the memory of early reading, before a reader's first table is needed. It is safe for concurrent use.
type Readahead struct {
	turns turns
	// requests are the turns of requests to stores of objects, which wait for answers and not for processors.
	requests turns
	// described limits the requests for what is read before row groups.
	described requestLimit

	mu sync.Mutex
	// left is the memory that may still be read early.
	left int64

	choosing sync.Mutex
	// choices are the row groups of readers with numbered rows.
	choices []choice
}

// choice is what a source has chosen by conditions. It is chosen once for a query: a dictionary that cannot be
// read leaves out nothing, and files may change.
type choice struct {
	source Source
	where  []expr.Expr
	chosen any // of a type of the source, which a program without such sources does not link
}

// chooseOnce returns what choose chooses for the first reader of a source with conditions.
func chooseOnce[T any](r *Readahead, s Source, where []expr.Expr, choose func() (T, error)) (T, error) {
	r.choosing.Lock()
	defer r.choosing.Unlock()
	for _, c := range r.choices {
		if chosen, ok := c.chosen.(T); ok && c.source == s && slices.EqualFunc(c.where, where, expr.Expr.Same) {
			return chosen, nil
		}
	}
	chosen, err := choose()
	if err == nil {
		r.choices = append(r.choices, choice{s, where, chosen})
	}
	return chosen, err
}

// mostEarly is the memory that the readers of a query fill early.
const mostEarly = 1 << 30

// NewReadahead returns the readahead of a query on the device of a manager. If that is a GPU, an eighth of the processors
// stays free for the goroutines that start its work: they would wait for milliseconds behind those that read.
func NewReadahead(m *memory.Manager) *Readahead {
	processors := runtime.GOMAXPROCS(0)
	if m != nil && m.Device().Kind() != device.Host {
		processors -= processors / 8
	}
	return &Readahead{turns: turns{free: processors}, requests: turns{free: mostRequests}, described: newRequestLimit(), left: mostEarly}
}

// readerTurns are the turns of one reader.
type readerTurns struct {
	*Readahead
	order, requestOrder readerOrder
	// early is the memory that the reader has taken of that for early reading.
	early int64
}

// reader returns the turns of the next reader.
func (r *Readahead) reader() *readerTurns {
	return &readerTurns{Readahead: r, order: r.turns.next(), requestOrder: r.requests.next()}
}

// run calls f on a goroutine when it is the turn of a part.
func (r *readerTurns) run(part int, f func()) { r.turns.run(r.order, part, f) }

// beginRequest waits for the turn of a request. Call endRequest afterwards.
func (r *readerTurns) beginRequest(part int) { r.requests.begin(r.requestOrder, part) }

func (r *readerTurns) endRequest() { r.requests.end() }

// takeEarly takes memory for early reading, or returns false if too little is left.
func (r *readerTurns) takeEarly(bytes int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes > r.left {
		return false
	}
	r.left, r.early = r.left-bytes, r.early+bytes
	return true
}

// need notes that the reader's tables are needed now: it comes before those that read early.
func (r *readerTurns) need() {
	r.turns.need(r.order)
	r.requests.need(r.requestOrder)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left, r.early = r.left+r.early, 0
}
