package objecttest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"
)

// Fault is what a proxy does instead of passing an answer on.
type Fault int

// Faults.
const (
	NoFault Fault = iota
	// Throttled answers with status 503 without asking the server.
	Throttled
	// Failed answers with status 500.
	Failed
	// Short passes on half of the body and closes the connection.
	Short
	// Reset closes the connection without an answer.
	Reset
	// Lost passes the request on and closes the connection without an answer.
	Lost
	// Stalled does not answer until the client gives up.
	Stalled
)

// Proxy stands between a client and a server of HTTP. It counts requests, delays answers, and has faults.
type Proxy struct {
	URL string
	// Requests are all requests, and Bytes those of the bodies of answers.
	Requests, Bytes atomic.Int64
	// Latency is the time before each answer begins.
	Latency time.Duration
	// Fault chooses the fault of a request. Nil means none.
	Fault func(r *http.Request) Fault
}

// NewProxy starts a proxy before a server, until the test ends. The host name of requests stays, which signatures have.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.DisableCompression = 128, true
	forward := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, to.Host, r.In.Host
			r.Out.URL.RawQuery = r.In.URL.RawQuery
		},
		ModifyResponse: func(r *http.Response) error {
			r.Body = &countedBody{r.Body, &p.Bytes}
			return nil
		},
	}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(forward, w, r) }))
	t.Cleanup(func() {
		h.Close()
		transport.CloseIdleConnections()
	})
	p.URL = h.URL
	return p
}

func (p *Proxy) serve(forward http.Handler, w http.ResponseWriter, r *http.Request) {
	p.Requests.Add(1)
	fault := NoFault
	if p.Fault != nil {
		fault = p.Fault(r)
	}
	if p.Latency > 0 {
		select {
		case <-time.After(p.Latency):
		case <-r.Context().Done():
			return
		}
	}
	switch fault {
	case Throttled, Failed:
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(map[Fault]int{Throttled: http.StatusServiceUnavailable, Failed: http.StatusInternalServerError}[fault])
	case Reset:
		drop(w)
	case Stalled:
		<-r.Context().Done()
	case Lost:
		forward.ServeHTTP(httptest.NewRecorder(), r)
		drop(w)
	case Short:
		recorder := httptest.NewRecorder()
		forward.ServeHTTP(recorder, r)
		for key, values := range recorder.Header() {
			w.Header()[key] = values
		}
		w.WriteHeader(recorder.Code)
		if body := recorder.Body.Bytes(); len(body) > 0 {
			_, _ = w.Write(body[:len(body)/2])
			panic(http.ErrAbortHandler)
		}
	default:
		forward.ServeHTTP(w, r)
	}
}

// drop resets the connection of a request.
func drop(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}

// countedBody counts the bytes of a body.
type countedBody struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}
