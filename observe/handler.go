package observe

import (
	"crypto/subtle"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed page
var files embed.FS

// HandlerOptions configure [Recorder.Handler].
type HandlerOptions struct {
	// Token allows requests that carry it to cancel queries. Empty means that no query can
	// be cancelled.
	Token string
	// Interval is the time between two updates of the page. Zero means one second.
	Interval time.Duration
	// Hosts are the names, without ports, under which browsers and other clients reach the
	// handler. Requests for other names are refused, because a page of another origin can have its
	// name resolve to the address of this process (DNS rebinding). IP addresses and localhost are
	// always accepted. Nil means the name of the machine, "*" any name.
	Hosts []string
	// WriteLimit is the time that a client has to take an update. A slower one is disconnected,
	// and the page connects again. Zero means ten seconds.
	WriteLimit time.Duration
	// Charts are charts of the program's data below the figures of the memory. They have no login either. A chart
	// without Draw is left out.
	Charts []Chart
}

// Handler serves a page with everything that the recorder knows, and the same as JSON. Mount
// it below a path that ends with a slash:
//
//	http.Handle("/debug/gpu/", http.StripPrefix("/debug/gpu", recorder.Handler(observe.HandlerOptions{})))
//
// The paths below are "/", "/v1/snapshot" (a [Snapshot]), "/v1/events" (server-sent events
// named "snapshot", one in each interval), "/v1/memory" (a [MemoryMap]), "/memory.pickle"
// ([Recorder.WriteMemorySnapshot]), "/heap" ([Recorder.HeapHandler]), for each of
// HandlerOptions.Charts "/v1/charts/0?width=640" (SVG) and "/v1/charts/0/vega-lite"
// ([gpuframe.Chart.VegaLite]), and, with a token, POST "/v1/cancel?engine=0&id=1" with the header "Authorization: Bearer TOKEN".
//
// Streams of events end when http.Server.Shutdown begins, which would wait for them. A server of
// another kind calls [Recorder.Close] before it waits.
//
// The handler has no login: every client that can reach it can read names, plans and
// stacks. Mount it on an internal address.
func (r *Recorder) Handler(options HandlerOptions) http.Handler {
	if options.Interval <= 0 {
		options.Interval = time.Second
	}
	if options.WriteLimit <= 0 {
		options.WriteLimit = 10 * time.Second
	}
	r.keepHistory(options.Interval)
	h := &handler{recorder: r, options: options, charts: newChartCaches(options.Charts)}
	mux := http.NewServeMux()
	for path, file := range map[string]struct{ name, kind string }{
		"GET /{$}":      {"page/index.html", "text/html; charset=utf-8"},
		"GET /page.css": {"page/page.css", "text/css; charset=utf-8"},
		"GET /page.js":  {"page/page.js", "text/javascript; charset=utf-8"},
		"GET /icon.svg": {"page/icon.svg", "image/svg+xml"},
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			text, err := files.ReadFile(file.name)
			if err != nil {
				http.Error(w, "observe: "+err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", file.kind)
			_, _ = w.Write(text)
		})
	}
	mux.HandleFunc("GET /v1/snapshot", h.snapshot)
	mux.HandleFunc("GET /v1/memory", h.reader("memory", h.memoryMap))
	mux.HandleFunc("GET /memory.pickle", h.reader("memory", h.memorySnapshot))
	mux.HandleFunc("GET /v1/charts/{number}", h.chart("image/svg+xml", drawing))
	mux.HandleFunc("GET /v1/charts/{number}/vega-lite", h.chart("application/json", specification))
	mux.HandleFunc("GET /v1/events", h.events)
	mux.HandleFunc("POST /v1/cancel", h.cancel)
	mux.Handle("/heap", r.HeapHandler())
	return options.protect(r, mux)
}

// protect refuses requests for other hosts and of pages of other origins, and forbids the page to
// load anything from elsewhere.
func (o HandlerOptions) protect(r *Recorder, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.servers.endingOf(request) // from the first request on, so that no stream comes too late
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		if !o.accepted(request) {
			http.Error(w, fmt.Sprintf("observe: requests for the host %q are refused: list it in HandlerOptions.Hosts", request.Host), http.StatusForbidden)
			return
		}
		if foreign(request) {
			http.Error(w, "observe: requests of pages of other origins are refused", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, request)
	})
}

// foreign reports whether a page of another origin makes the request. A link to the page is
// no such request.
func foreign(request *http.Request) bool {
	if origin := request.Header.Get("Origin"); origin != "" {
		from, err := url.Parse(origin)
		return err != nil || from.Host == "" || !strings.EqualFold(from.Host, request.Host)
	}
	switch request.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return request.Method != http.MethodGet || request.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// handler serves the parts that change.
type handler struct {
	recorder *Recorder
	options  HandlerOptions
	charts   []*chartCache

	// mu guards the last snapshot, which all readers of an interval share.
	mu    sync.Mutex
	taken time.Time
	text  []byte

	// maps guards the last map of the memory, which all readers of an interval share.
	maps    sync.Mutex
	mapMade MemoryMap

	// clients are the streams of events, readers those of maps.
	clients, readers slots
}

// current returns a snapshot as JSON that is at most half an interval old.
func (h *handler) current() ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text != nil && time.Since(h.taken) < h.options.Interval/2 {
		return h.text, nil
	}
	s := h.recorder.Snapshot()
	s.History, s.Operations, s.OperationSeconds = h.recorder.history.read()
	s.CanCancel, s.Charts = h.options.Token != "", h.chartTitles()
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("observe: write snapshot: %w", err)
	}
	h.taken, h.text = s.Time, text
	return text, nil
}

func (h *handler) snapshot(w http.ResponseWriter, _ *http.Request) {
	text, err := h.current()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

// currentMap returns a map of the memory that is at most an interval old.
func (h *handler) currentMap() *MemoryMap {
	h.maps.Lock()
	defer h.maps.Unlock()
	if time.Since(h.mapMade.Time) > h.options.Interval {
		h.mapMade = h.recorder.MemoryMap()
	}
	current := h.mapMade
	return &current
}

// reader limits the number of clients that read a map, which may be large.
func (h *handler) reader(name string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		if !h.readers.take() {
			tooMany(w, name)
			return
		}
		defer h.readers.give()
		next(w, request)
	}
}

func (h *handler) memoryMap(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	// The client has gone if it cannot be written.
	_ = json.NewEncoder(w).Encode(h.currentMap())
}

func (h *handler) memorySnapshot(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="gpuframe-memory.pickle"`)
	_ = h.currentMap().WriteMemorySnapshot(w)
}

// cancel ends a query.
func (h *handler) cancel(w http.ResponseWriter, request *http.Request) {
	if h.options.Token == "" {
		http.Error(w, "observe: cancel: HandlerOptions.Token is empty, so no query can be cancelled", http.StatusForbidden)
		return
	}
	token, bearer := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	if !bearer || subtle.ConstantTimeCompare([]byte(token), []byte(h.options.Token)) != 1 {
		http.Error(w, "observe: cancel: the token is wrong", http.StatusUnauthorized)
		return
	}
	query := request.URL.Query()
	engine, err := strconv.Atoi(query.Get("engine"))
	if err != nil {
		http.Error(w, "observe: cancel: engine must be a number", http.StatusBadRequest)
		return
	}
	id, err := strconv.ParseUint(query.Get("id"), 10, 64)
	if err != nil {
		http.Error(w, "observe: cancel: id must be a number", http.StatusBadRequest)
		return
	}
	if !h.recorder.cancel(engine, id) {
		http.Error(w, "observe: cancel: the query has ended", http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
