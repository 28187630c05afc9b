package observe

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/pprof/profile"
)

// longestDelta is the longest time over which a difference of profiles is taken.
const longestDelta = time.Hour

// HeapHandler serves the profile of [Recorder.WriteHeap]. Mount it with net/http/pprof:
//
//	http.Handle("/debug/pprof/gpu_heap", recorder.HeapHandler())
//
// With ?seconds=30 the profile has the changes of that time; with ?debug=1 it is text.
func (r *Recorder) HeapHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodGet && request.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "observe: gpu_heap is read with GET", http.StatusMethodNotAllowed)
			return
		}
		current := r.heap.profile()
		if text := request.FormValue("seconds"); text != "" {
			seconds, err := strconv.Atoi(text)
			period := time.Duration(seconds) * time.Second
			if err != nil || seconds < 1 || seconds > int(longestDelta/time.Second) {
				http.Error(w, fmt.Sprintf("observe: gpu_heap: seconds must be a number from 1 to %d", int(longestDelta/time.Second)), http.StatusBadRequest)
				return
			}
			if !r.deltas.take() {
				tooMany(w, "gpu_heap")
				return
			}
			defer r.deltas.give()
			// A server's limit for writing must not end the wait.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
			timer := time.NewTimer(period)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-request.Context().Done():
				return
			case <-r.servers.endingOf(request):
				http.Error(w, "observe: gpu_heap: the server is shut down", http.StatusServiceUnavailable)
				return
			}
			if current, err = difference(current, r.heap.profile()); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		if debug := request.FormValue("debug"); debug != "" && debug != "0" {
			header.Set("Content-Type", "text/plain; charset=utf-8")
			fmt.Fprint(w, current)
			return
		}
		header.Set("Content-Type", "application/octet-stream")
		header.Set("Content-Disposition", `attachment; filename="gpu_heap"`)
		_ = current.Write(w) // only the client's connection can fail
	})
}

// difference returns what a later profile has more than an earlier one.
func difference(earlier, later *profile.Profile) (*profile.Profile, error) {
	period := later.TimeNanos - earlier.TimeNanos
	earlier.Scale(-1)
	merged, err := profile.Merge([]*profile.Profile{earlier, later})
	if err != nil {
		return nil, fmt.Errorf("observe: difference of profiles: %w", err)
	}
	merged.TimeNanos, merged.DurationNanos = later.TimeNanos, period
	return merged, nil
}
