package observe

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// mostClients is the number of clients at a time: streams of events, and separately
// maps of the memory and differences of profiles.
const mostClients = 64

// slots counts clients.
type slots struct{ used atomic.Int64 }

func (s *slots) take() bool {
	if s.used.Add(1) <= mostClients {
		return true
	}
	s.used.Add(-1)
	return false
}

func (s *slots) give() { s.used.Add(-1) }

// tooMany refuses a client.
func tooMany(w http.ResponseWriter, name string) {
	w.Header().Set("Retry-After", "10")
	http.Error(w, fmt.Sprintf("observe: %s: %d clients are connected, the most at a time", name, mostClients), http.StatusServiceUnavailable)
}

// events streams snapshots until the client leaves, is too slow, the server is shut down, or the
// recorder is closed.
// Each client has its own goroutine and misses the events of the time in which it is slow.
func (h *handler) events(w http.ResponseWriter, request *http.Request) {
	if !h.clients.take() {
		tooMany(w, "events")
		return
	}
	defer h.clients.give()
	ending := h.recorder.servers.endingOf(request)
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	ticker := time.NewTicker(h.options.Interval)
	defer ticker.Stop()
	for {
		text, err := h.current()
		if err != nil {
			return
		}
		// A server without deadlines has its own limits.
		_ = control.SetWriteDeadline(time.Now().Add(h.options.WriteLimit))
		if _, err := fmt.Fprintf(w, "event: snapshot\ndata: %s\n\n", text); err != nil {
			return
		}
		if control.Flush() != nil {
			return
		}
		select {
		case <-ticker.C:
		case <-request.Context().Done():
			return
		case <-ending:
			return
		case <-h.recorder.closed:
			return
		}
	}
}
