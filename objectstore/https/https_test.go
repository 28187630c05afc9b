package https_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/objectstore"
	"github.com/gpuframe/gpuframe/objectstore/https"
)

// server serves one file at /file, and counts requests.
type server struct {
	contents []byte
	etag     string
	modified time.Time
	requests atomic.Int64
	// instead, if it is not nil and returns true, has answered.
	instead func(w http.ResponseWriter, r *http.Request) bool
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if s.instead != nil && s.instead(w, r) {
		return
	}
	if r.URL.Path != "/file" {
		http.NotFound(w, r)
		return
	}
	if s.etag != "" {
		w.Header().Set("ETag", s.etag)
	}
	http.ServeContent(w, r, "file", s.modified, bytes.NewReader(s.contents))
}

func serve(t testing.TB, s *server) (url string) {
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return h.URL + "/file"
}

// Ranges of a file have its bytes, many at a time, and few connections are opened for them.
func TestRanges(t *testing.T) {
	random := property.Random(t)
	s := &server{contents: make([]byte, 1<<20), etag: `"one"`}
	for i := range s.contents {
		s.contents[i] = byte(random.Uint32())
	}
	url := serve(t, s)
	store := https.New(https.Options{})
	object, err := store.Stat(t.Context(), url)
	require.NoError(t, err)
	assert.Equal(t, objectstore.Object{Name: url, Size: 1 << 20, ETag: `"one"`}, object)
	var reading sync.WaitGroup
	for range 64 {
		offset := random.Int64N(1 << 20)
		bytes := make([]byte, random.Int64N(1<<20-offset+1))
		reading.Go(func() {
			if assert.NoError(t, store.ReadRange(t.Context(), object, bytes, offset)) {
				assert.Equal(t, s.contents[offset:offset+int64(len(bytes))], bytes)
			}
		})
	}
	reading.Wait()
}

// Servers without ETags, with weak ones, that refuse HEAD, and empty files.
func TestKindsOfServers(t *testing.T) {
	for name, change := range property.InOrder(map[string]func(s *server){
		"no version":      func(s *server) { s.etag = "" },
		"a time":          func(s *server) { s.etag, s.modified = "", time.Unix(1e9, 0) },
		"a weak ETag":     func(s *server) { s.etag = `W/"one"` },
		"an empty file":   func(s *server) { s.contents = nil },
		"a refusal":       func(s *server) { s.instead = refuseHead(http.StatusForbidden) },
		"no HEAD":         func(s *server) { s.instead = refuseHead(http.StatusMethodNotAllowed) },
		"empty, no HEAD":  func(s *server) { s.contents, s.instead = nil, refuseHead(http.StatusMethodNotAllowed) },
		"another address": func(s *server) { s.instead = redirect },
	}) {
		s := &server{contents: []byte("0123456789"), etag: `"one"`}
		change(s)
		url, store := serve(t, s), https.New(https.Options{})
		object, err := store.Stat(t.Context(), url)
		require.NoError(t, err, name)
		require.EqualValues(t, len(s.contents), object.Size, name)
		require.NoError(t, store.ReadRange(t.Context(), object, nil, 0), name)
		if object.Size == 0 {
			continue
		}
		part := make([]byte, 4)
		require.NoError(t, store.ReadRange(t.Context(), object, part, 3), name)
		assert.Equal(t, "3456", string(part), name)
	}
}

func refuseHead(status int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodHead {
			w.WriteHeader(status)
		}
		return r.Method == http.MethodHead
	}
}

func redirect(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.RawQuery == "" {
		http.Redirect(w, r, "/file?moved", http.StatusFound)
	}
	return r.URL.RawQuery == ""
}

// A file that changes is an error, whether the server compares its version or not.
func TestChanges(t *testing.T) {
	for name, change := range property.InOrder(map[string]func(s *server){
		"an ETag":       func(s *server) { s.etag = `"two"` },
		"a weak ETag":   func(s *server) { s.etag = `W/"two"` },
		"a time":        func(s *server) { s.modified = time.Unix(2e9, 0) },
		"the size":      func(s *server) { s.contents = []byte("0123456789abc") },
		"a short file":  func(s *server) { s.contents = []byte("01") },
		"not compared":  func(s *server) { s.etag = `"two"`; s.instead = withoutCondition },
		"another range": func(s *server) { s.instead = otherRange },
	}) {
		s := &server{contents: []byte("0123456789"), etag: `"one"`, modified: time.Unix(1e9, 0)}
		if name == "a weak ETag" {
			s.etag = `W/"one"`
		}
		if name == "a time" {
			s.etag = ""
		}
		url, store := serve(t, s), https.New(https.Options{})
		object, err := store.Stat(t.Context(), url)
		require.NoError(t, err)
		change(s)
		err = store.ReadRange(t.Context(), object, make([]byte, 4), 5)
		if name == "another range" {
			require.ErrorIs(t, err, objectstore.ErrResponse, name)
		} else {
			require.ErrorIs(t, err, objectstore.ErrChanged, name)
		}
		var failed *objectstore.Error
		require.ErrorAs(t, err, &failed)
		assert.Positive(t, failed.Status)
	}
}

func withoutCondition(_ http.ResponseWriter, r *http.Request) bool {
	r.Header.Del("If-Match")
	return false
}

func otherRange(_ http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet {
		r.Header.Set("Range", "bytes=0-3")
	}
	return false
}

// Statuses, short bodies, resets and servers without ranges are typed errors without secrets.
func TestFailures(t *testing.T) {
	answer := func(status int, header ...string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			return true
		}
	}
	for name, test := range property.InOrder(map[string]struct {
		instead func(http.ResponseWriter, *http.Request) bool
		want    error
		status  int
	}{
		"not there":    {answer(404), fs.ErrNotExist, 404},
		"forbidden":    {answer(403), fs.ErrPermission, 403},
		"unauthorized": {answer(401), objectstore.ErrCredentials, 401},
		"throttled":    {answer(429, "Retry-After", "7", "X-Request-Id", "4711"), objectstore.ErrThrottled, 429},
		"unavailable":  {answer(503), objectstore.ErrThrottled, 503},
		"fault":        {answer(500), objectstore.ErrUnavailable, 500},
		"whole file":   {answer(200, "Content-Length", "0"), objectstore.ErrResponse, 200},
		"short body":   {cut(false), objectstore.ErrTruncated, 206},
		"reset":        {cut(true), objectstore.ErrUnavailable, 206},
		"no size":      {answer(206, "Content-Range", "bytes 5-8/-1"), objectstore.ErrResponse, 206},
	}) {
		s := &server{contents: []byte("0123456789"), etag: `"one"`}
		url, store := serve(t, s)+"?signature=secret", https.New(https.Options{})
		url = strings.Replace(url, "://", "://user:secret@", 1)
		object, err := store.Stat(t.Context(), url)
		require.NoError(t, err)
		s.instead = test.instead
		err = store.ReadRange(t.Context(), object, make([]byte, 4), 5)
		require.ErrorIs(t, err, test.want, name)
		var failed *objectstore.Error
		require.ErrorAs(t, err, &failed, name)
		assert.Equal(t, test.status, failed.Status, name)
		assert.NotContains(t, fmt.Sprintf("%+v %+v", err, *failed), "secret", name)
		if name == "throttled" {
			assert.Equal(t, 7*time.Second, failed.RetryAfter)
			assert.Equal(t, "4711", failed.RequestID)
		}
	}
	_, err := https.New(https.Options{}).Stat(t.Context(), "http://%zz?secret")
	require.ErrorIs(t, err, objectstore.ErrResponse)
	assert.NotContains(t, err.Error(), "secret")
}

// cut answers with fewer bytes than announced, or resets the connection.
func cut(reset bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		connection, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer connection.Close()
		fmt.Fprintf(buffered, "HTTP/1.1 206 Partial Content\r\nETag: \"one\"\r\nContent-Range: bytes 5-8/10\r\nContent-Length: 4\r\n\r\n56")
		_ = buffered.Flush()
		if tcp, ok := connection.(*net.TCPConn); ok && reset {
			_ = tcp.SetLinger(0)
		}
		return true
	}
}

// A header of the options is sent, and certificates are compared.
func TestOptions(t *testing.T) {
	s := &server{contents: []byte("0123456789")}
	s.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "Bearer token" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		return r.Header.Get("Authorization") != "Bearer token"
	}
	h := httptest.NewUnstartedServer(s)
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.StartTLS()
	defer h.Close()
	header := http.Header{"Authorization": {"Bearer token"}}
	object, err := https.New(https.Options{Client: h.Client(), Header: header}).Stat(t.Context(), h.URL+"/file")
	require.NoError(t, err)
	assert.EqualValues(t, 10, object.Size)
	_, err = https.New(https.Options{Client: h.Client()}).Stat(t.Context(), h.URL+"/file")
	require.ErrorIs(t, err, objectstore.ErrCredentials)
	_, err = https.New(https.Options{Header: header}).Stat(t.Context(), h.URL+"/file")
	require.ErrorIs(t, err, objectstore.ErrResponse, "the certificate is not known")
	require.NotErrorIs(t, err, objectstore.ErrUnavailable)
}

// The header of the options and the URL before are removed from a redirect to another host; one to the same host has the header.
func TestRedirects(t *testing.T) {
	other := &server{contents: []byte("0123456789")}
	other.instead = func(w http.ResponseWriter, r *http.Request) bool {
		assert.Empty(t, r.Header["X-Token"])
		assert.Empty(t, r.Header.Get("X-Raw"))
		assert.Empty(t, r.Referer())
		return false
	}
	otherURL, redirected := serve(t, other), false
	s := &server{}
	s.instead = func(w http.ResponseWriter, r *http.Request) bool {
		assert.Equal(t, "token", r.Header.Get("X-Token"))
		to := otherURL
		if redirected = !redirected; redirected {
			to = "/again?signature=secret"
		}
		http.Redirect(w, r, to, http.StatusFound)
		return true
	}
	store := https.New(https.Options{Header: http.Header{"X-Token": {"token"}, "x-raw": {"token"}}})
	object, err := store.Stat(t.Context(), serve(t, s)+"?signature=secret")
	require.NoError(t, err)
	assert.EqualValues(t, 10, object.Size)
	s.instead = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "/file?signature=secret", http.StatusFound)
		return true
	}
	_, err = store.Stat(t.Context(), serve(t, s)+"?signature=secret")
	require.ErrorContains(t, err, "more than 10 redirects")
	require.ErrorIs(t, err, objectstore.ErrResponse)
	require.NotErrorIs(t, err, objectstore.ErrUnavailable, "it is not repeated")
	assert.NotContains(t, err.Error(), "secret")
}

func TestUnsupported(t *testing.T) {
	require.NoError(t, https.Registered())
	store, err := objectstore.Open("https://host/file")
	require.NoError(t, err)
	_, _, err = store.List(t.Context(), "https://host/", "")
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorIs(t, store.Put(t.Context(), "https://host/file", nil), errors.ErrUnsupported)
	_, err = store.Create(t.Context(), "https://host/file")
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

// A request without an answer gets a second one and is cancelled.
func TestHedged(t *testing.T) {
	s := &server{contents: []byte("contents of a file"), etag: `"one"`}
	proxy := objecttest.NewProxy(t, strings.TrimSuffix(serve(t, s), "/file"))
	var stalled, ended atomic.Int64
	const reads = 33 // the first one that may have a second request
	proxy.Fault = func(r *http.Request) objecttest.Fault {
		if proxy.Requests.Load() != reads+1 { // with that of Stat
			return objecttest.NoFault
		}
		stalled.Add(1)
		context.AfterFunc(r.Context(), func() { ended.Add(1) })
		return objecttest.Stalled
	}
	store := objectstore.WithRetry(https.New(https.Options{}), objectstore.Retry{HedgeAfter: time.Millisecond, Timeout: time.Hour})
	object, err := store.Stat(t.Context(), proxy.URL+"/file")
	require.NoError(t, err)
	var tally objectstore.Tally
	for i := range reads {
		into := make([]byte, 8)
		require.NoError(t, store.ReadRange(objectstore.WithTally(t.Context(), &tally), object, into, int64(i%10)))
		require.Equal(t, s.contents[i%10:i%10+8], into)
	}
	require.EqualValues(t, 1, stalled.Load())
	await.Until(t, func() bool { return ended.Load() == 1 }, "the request ends")
	require.EqualValues(t, 1, tally.Hedges.Load())
}
