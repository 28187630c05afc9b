package observe_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe"
)

// testHosts is the host of requests of httptest.
var testHosts = []string{"example.com"}

const hostile = `</script><img src=x onerror="document.title='broken'">`

// stopped is a record reader that waits for open before its first record.
type stopped struct {
	array.RecordReader
	inside, open chan struct{}
}

func (s *stopped) Next() bool {
	if s.inside != nil {
		close(s.inside)
		s.inside = nil
		<-s.open
	}
	return s.RecordReader.Next()
}

// service is an engine with a running query that waits until goOn is called.
type service struct {
	engine   *gpuframe.Engine
	recorder *observe.Recorder
	goOn     func()
	result   chan error
}

func newService(t *testing.T, query string) *service {
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<30))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	r, err := observe.New(observe.Options{Engines: []*gpuframe.Engine{e}, SampleBytes: 1, Events: 1000})
	require.NoError(t, err)
	t.Cleanup(r.Close)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{3, 1, 2}, nil)
	record := b.NewRecord()
	t.Cleanup(record.Release)
	reader, err := array.NewRecordReader(record.Schema(), []arrow.Record{record})
	require.NoError(t, err)
	inside, open := make(chan struct{}), make(chan struct{})
	s := &service{engine: e, recorder: r, goOn: sync.OnceFunc(func() { close(open) }), result: make(chan error, 1)}
	t.Cleanup(s.goOn) // closing the engine waits for the query
	go func() {
		f, err := e.Reader(&stopped{reader, inside, open}).Sort(gpuframe.Col("id")).Collect(context.Background(), gpuframe.Tag(query))
		if err == nil {
			err = f.Release()
		}
		s.result <- err
	}()
	<-inside
	return s
}

// finish ends the query without an error.
func (s *service) finish(t *testing.T) {
	s.goOn()
	require.NoError(t, <-s.result)
}

func TestSnapshotIsJSON(t *testing.T) {
	s := newService(t, "query "+hostile)
	defer s.finish(t)
	loadPrices(t, s.engine.Manager(), 5000, hostile)
	handler := s.recorder.Handler(observe.HandlerOptions{Hosts: testHosts})
	reply := get(t, handler, "/v1/snapshot")
	require.Equal(t, http.StatusOK, reply.StatusCode)
	assert.Equal(t, "application/json", reply.Header.Get("Content-Type"))
	text, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "<img", "JSON in a page must not end a script")
	var made observe.Snapshot
	require.NoError(t, json.Unmarshal(text, &made))
	assert.Equal(t, observe.Version, made.Version)
	require.Len(t, made.Managers, 1)
	assert.EqualValues(t, 1<<30, made.Managers[0].Budget)
	assert.Equal(t, hostile, made.Managers[0].Tags[0].Name)
	assert.NotNil(t, made.Managers[0].Cache)
	require.Len(t, made.Queries, 1)
	assert.Equal(t, "query "+hostile, made.Queries[0].Tag)
	assert.Equal(t, "running", made.Queries[0].State)
	assert.Equal(t, "host", made.Queries[0].Manager)
	require.NotEmpty(t, made.Sites)
	assert.Contains(t, made.Sites[0].Stack[0], "loadPrices")
	assert.NotEmpty(t, made.History)
	require.Len(t, made.Operations, 1)
	assert.Equal(t, "scan record reader", made.Operations[0].Name, "the operation that works at the first moment")
	assert.Positive(t, made.Operations[0].Seconds)
	assert.False(t, made.CanCancel)
	assert.JSONEq(t, `{"version": 1}`, jsonOf(t, map[string]any{"version": versionOf(t, s.recorder.String())}))
}

func jsonOf(t *testing.T, value any) string {
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

// versionOf reads the text of an expvar.Var.
func versionOf(t *testing.T, text string) int {
	var made struct{ Version int }
	require.NoError(t, json.Unmarshal([]byte(text), &made))
	return made.Version
}

func TestPageLoadsNothingFromElsewhere(t *testing.T) {
	r, _ := newRecorder(t, observe.Options{}, 0)
	handler := r.Handler(observe.HandlerOptions{Hosts: testHosts})
	for path, kind := range map[string]string{"/": "text/html", "/page.css": "text/css", "/page.js": "text/javascript"} {
		reply := get(t, handler, path)
		require.Equal(t, http.StatusOK, reply.StatusCode, path)
		assert.Contains(t, reply.Header.Get("Content-Type"), kind)
		assert.Contains(t, reply.Header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'")
		text, err := io.ReadAll(reply.Body)
		require.NoError(t, err)
		without := strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", "")
		assert.NotContains(t, without, "://", path)
		assert.NotContains(t, without, "innerHTML", path)
	}
	assert.Equal(t, http.StatusNotFound, get(t, handler, "/page/index.html").StatusCode)
	assert.Equal(t, http.StatusOK, get(t, handler, "/heap").StatusCode)
}

func TestOnlyTheOwnPageWithTheTokenCancels(t *testing.T) {
	s := newService(t, "query "+hostile)
	handler := s.recorder.Handler(observe.HandlerOptions{Hosts: testHosts, Token: "secret"})
	post := func(handler http.Handler, path string, header ...string) int {
		request := httptest.NewRequest(http.MethodPost, path, nil)
		for i := 0; i < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		recorded := httptest.NewRecorder()
		handler.ServeHTTP(recorded, request)
		return recorded.Code
	}
	const path, token = "/v1/cancel?engine=0&id=1", "Bearer secret"
	assert.Equal(t, http.StatusForbidden, post(s.recorder.Handler(observe.HandlerOptions{Hosts: testHosts}), path, "Authorization", "Bearer "))
	assert.Equal(t, http.StatusUnauthorized, post(handler, path))
	assert.Equal(t, http.StatusUnauthorized, post(handler, path, "Authorization", "Bearer wrong"))
	assert.Equal(t, http.StatusUnauthorized, post(handler, path, "Authorization", "secret"))
	assert.Equal(t, http.StatusForbidden, post(handler, path, "Authorization", token, "Origin", "https://elsewhere.example"))
	assert.Equal(t, http.StatusForbidden, post(handler, path, "Authorization", token, "Origin", "null"))
	assert.Equal(t, http.StatusForbidden, post(handler, path, "Authorization", token, "Sec-Fetch-Site", "cross-site"))
	assert.Equal(t, http.StatusBadRequest, post(handler, "/v1/cancel?engine=x&id=1", "Authorization", token))
	assert.Equal(t, http.StatusBadRequest, post(handler, "/v1/cancel?engine=0&id=-1", "Authorization", token))
	assert.Equal(t, http.StatusNotFound, post(handler, "/v1/cancel?engine=1&id=1", "Authorization", token))
	assert.Equal(t, http.StatusNotFound, post(handler, "/v1/cancel?engine=0&id=7", "Authorization", token))
	recorded := httptest.NewRecorder()
	handler.ServeHTTP(recorded, httptest.NewRequest(http.MethodGet, path, nil))
	assert.Equal(t, http.StatusMethodNotAllowed, recorded.Code)
	require.Len(t, s.engine.Running(), 1)

	assert.Equal(t, http.StatusNoContent, post(handler, path, "Authorization", token, "Origin", "http://example.com", "Sec-Fetch-Site", "same-origin"))
	s.goOn()
	require.ErrorIs(t, <-s.result, gpuframe.ErrCancelled)
	assert.EqualValues(t, 1, s.recorder.Snapshot().Ended[0].Cancelled)
}

func TestForeignPagesReadNothing(t *testing.T) {
	r, _ := newRecorder(t, observe.Options{}, 0)
	handler := r.Handler(observe.HandlerOptions{Hosts: testHosts})
	for _, path := range []string{"/", "/v1/snapshot", "/v1/events", "/heap"} {
		request := httptest.NewRequest(http.MethodGet, path, nil)
		request.Header.Set("Sec-Fetch-Site", "cross-site")
		request.Header.Set("Sec-Fetch-Mode", "no-cors")
		recorded := httptest.NewRecorder()
		handler.ServeHTTP(recorded, request)
		assert.Equal(t, http.StatusForbidden, recorded.Code, path)
	}
	link := httptest.NewRequest(http.MethodGet, "/", nil)
	link.Header.Set("Sec-Fetch-Site", "cross-site")
	link.Header.Set("Sec-Fetch-Mode", "navigate")
	recorded := httptest.NewRecorder()
	handler.ServeHTTP(recorded, link)
	assert.Equal(t, http.StatusOK, recorded.Code)
}

// readEvent returns the data of the next event.
func readEvent(t *testing.T, lines *bufio.Scanner) observe.Snapshot {
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var made observe.Snapshot
			require.NoError(t, json.Unmarshal([]byte(data), &made))
			return made
		}
	}
	require.NoError(t, lines.Err())
	t.Fatal("the stream has ended")
	return observe.Snapshot{}
}

func TestEventsShowNewMemory(t *testing.T) {
	r, mgr := newRecorder(t, observe.Options{}, 0)
	server := httptest.NewServer(r.Handler(observe.HandlerOptions{Hosts: testHosts, WriteLimit: await.Limit, Interval: time.Millisecond}))
	defer server.Close()
	// A client that reads nothing does not delay the others.
	slow, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer slow.Close()
	_, err = io.WriteString(slow, "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
	reply, err := http.Get(server.URL + "/v1/events")
	require.NoError(t, err)
	defer reply.Body.Close()
	assert.Equal(t, "text/event-stream", reply.Header.Get("Content-Type"))
	lines := bufio.NewScanner(reply.Body)
	lines.Buffer(nil, 1<<20)
	require.Zero(t, readEvent(t, lines).Managers[0].InUse)
	loadPrices(t, mgr, 3000, "new")
	for readEvent(t, lines).Managers[0].InUse != 3000 {
	}
	r.Close() // ends the streams, so that the server can close
	for lines.Scan() {
	}
	require.NoError(t, lines.Err())
}

// A client that reads nothing is disconnected.
func TestASlowClientIsDisconnected(t *testing.T) {
	r, mgr := newRecorder(t, observe.Options{}, 0)
	for i := range 100 {
		loadPrices(t, mgr, 1000, fmt.Sprint("a tag that makes the events long ", i))
	}
	server := httptest.NewUnstartedServer(r.Handler(observe.HandlerOptions{Hosts: testHosts, Interval: time.Millisecond, WriteLimit: time.Millisecond}))
	closed := make(chan net.Conn, 1)
	server.Config.ConnState = func(connection net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- connection
		}
	}
	server.Start()
	defer server.Close()
	client, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	_, err = io.WriteString(client, "GET /v1/events HTTP/1.1\r\nHost: "+testHosts[0]+"\r\n\r\n")
	require.NoError(t, err)
	await.Receive(t, closed, "the server closes the connection")
}

func TestEventsHaveALimit(t *testing.T) {
	r, _ := newRecorder(t, observe.Options{}, 0)
	server := httptest.NewServer(r.Handler(observe.HandlerOptions{Hosts: testHosts, WriteLimit: await.Limit, Interval: time.Hour}))
	defer server.Close()
	defer r.Close()
	for range 64 {
		reply, err := http.Get(server.URL + "/v1/events")
		require.NoError(t, err)
		defer reply.Body.Close()
		require.Equal(t, http.StatusOK, reply.StatusCode)
	}
	reply, err := http.Get(server.URL + "/v1/events")
	require.NoError(t, err)
	defer reply.Body.Close()
	assert.Equal(t, http.StatusServiceUnavailable, reply.StatusCode)
}

// The figures of tenants are those of the managers.
func TestSnapshotOfTenants(t *testing.T) {
	r, mgr := newRecorder(t, observe.Options{}, 1<<20)
	a, err := mgr.Child("a", 1000)
	require.NoError(t, err)
	b, err := a.Child("b", 0)
	require.NoError(t, err)
	block, err := b.Allocate(700, memory.AllocateOptions{Tag: "x"})
	require.NoError(t, err)
	s := r.Snapshot()
	var paths []string
	s.Managers[0].Each(func(m *observe.Manager) {
		paths = append(paths, m.Tenant)
		assert.EqualValues(t, 700, m.InUse)
	})
	assert.Equal(t, []string{"", "a", "a/b"}, paths)
	require.NoError(t, block.Release())
	require.NoError(t, b.Close())
	require.NoError(t, a.Close())
}

// Clients that read nothing, that wait for a profile, or that leave in the middle end with
// their connection: Close waits for all handlers.
func TestClientsThatLeave(t *testing.T) {
	r, mgr := newRecorder(t, observe.Options{}, 0)
	for i := range 500 {
		loadPrices(t, mgr, 1000, fmt.Sprint("a tag that makes the events long ", i))
	}
	server := httptest.NewServer(r.Handler(observe.HandlerOptions{Hosts: testHosts, WriteLimit: await.Limit, Interval: 10 * time.Millisecond}))
	var clients []net.Conn
	open := func(path string) *bufio.Reader {
		client, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		clients = append(clients, client)
		_, err = io.WriteString(client, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
		return bufio.NewReader(client)
	}
	for range 16 {
		open("/v1/events") // reads nothing, so that its connection fills
		line, err := open("/v1/events").ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 200 OK\r\n", line)
		open("/heap?seconds=3600")
	}
	// The others do not delay this one, nor an allocation.
	reply, err := http.Get(server.URL + "/v1/snapshot")
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	loadPrices(t, mgr, 1000, "another")
	for _, client := range clients {
		require.NoError(t, client.Close())
	}
	server.Close()
}

func TestDifferencesHaveALimit(t *testing.T) {
	r, _ := newRecorder(t, observe.Options{}, 0)
	handler := r.HeapHandler()
	ctx, cancel := context.WithCancel(t.Context())
	var refused atomic.Int64
	var clients sync.WaitGroup
	enough := make(chan struct{})
	for range 64 + 10 {
		clients.Go(func() {
			recorded := httptest.NewRecorder()
			handler.ServeHTTP(recorded, httptest.NewRequest(http.MethodGet, "/heap?seconds=3600", nil).WithContext(ctx))
			if recorded.Code == http.StatusServiceUnavailable && refused.Add(1) == 10 {
				close(enough)
			}
		})
	}
	<-enough
	cancel()
	clients.Wait()
	assert.EqualValues(t, 10, refused.Load())
}

// Everything that reads the recorder has names of a limited length.
func TestLongNames(t *testing.T) {
	r, mgr := newRecorder(t, observe.Options{SampleBytes: 1, Events: 100}, 1<<20)
	long := strings.Repeat("long \xff", 1<<18)
	tenant, err := mgr.Child("tenant "+long, 0)
	require.NoError(t, err)
	block, err := tenant.Allocate(700, memory.AllocateOptions{Tag: "tag " + long})
	require.NoError(t, err)
	_, err = tenant.Allocate(2<<20, memory.AllocateOptions{Tag: "failed " + long})
	require.ErrorIs(t, err, memory.ErrBudget)
	handler := r.Handler(observe.HandlerOptions{Hosts: testHosts})
	for _, path := range []string{"/v1/snapshot", "/v1/memory", "/memory.pickle", "/heap"} {
		recorded := httptest.NewRecorder()
		handler.ServeHTTP(recorded, httptest.NewRequest(http.MethodGet, path, nil))
		assert.Equal(t, http.StatusOK, recorded.Code)
		assert.Less(t, recorded.Body.Len(), 100_000, path)
	}
	require.NoError(t, block.Release())
	require.NoError(t, tenant.Close())
}

// TestHosts refuses names that are not listed: a page of another origin could have its name resolve
// to the address of this process.
func TestHosts(t *testing.T) {
	r, err := observe.New(observe.Options{})
	require.NoError(t, err)
	t.Cleanup(r.Close)
	own, err := os.Hostname()
	require.NoError(t, err)
	for _, test := range []struct {
		hosts    []string
		host     string
		accepted bool
	}{
		{nil, "127.0.0.1:6060", true}, {nil, "[::1]:6060", true}, {nil, "10.1.2.3", true}, {nil, "localhost:6060", true}, {nil, "LOCALHOST.", true},
		{nil, "a.localhost", true}, {nil, own + ":6060", true}, {nil, "", true},
		{nil, "evil.example:6060", false}, {nil, "127.0.0.1.evil.example", false}, {nil, "localhost.evil.example", false}, {nil, "xlocalhost", false},
		{[]string{"gpu.internal"}, "GPU.internal:80", true}, {[]string{"gpu.internal"}, "x.gpu.internal", false}, {[]string{}, "gpu.internal", false},
		{[]string{"gpu.internal"}, "[::1]", true}, {[]string{"*"}, "any.example", true},
	} {
		request := httptest.NewRequest(http.MethodGet, "/v1/snapshot", nil)
		request.Host = test.host
		request.Header.Set("Origin", "http://"+test.host) // the page is of that origin
		if test.host == "" {
			request.Header.Del("Origin")
		}
		answer := httptest.NewRecorder()
		r.Handler(observe.HandlerOptions{Hosts: test.hosts}).ServeHTTP(answer, request)
		require.Equal(t, test.accepted, answer.Code == http.StatusOK, "%q of %q: %s", test.host, test.hosts, answer.Body)
		if !test.accepted {
			require.Contains(t, answer.Body.String(), "list it in HandlerOptions.Hosts")
		}
	}
}

// TestShutdown ends streams of events and waiting profiles: Shutdown would wait for them.
func TestShutdown(t *testing.T) {
	s := newService(t, "q")
	server := &http.Server{Handler: s.recorder.Handler(observe.HandlerOptions{})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	base := "http://" + listener.Addr().String()
	events, err := http.Get(base + "/v1/events")
	require.NoError(t, err)
	defer events.Body.Close()
	_, err = bufio.NewReader(events.Body).ReadString('\n')
	require.NoError(t, err)
	status := make(chan int, 1)
	go func() {
		profile, err := http.Get(base + "/heap?seconds=300")
		if err != nil {
			status <- 0
			return
		}
		_ = profile.Body.Close()
		status <- profile.StatusCode
	}()
	await.Until(t, func() bool { return observe.WaitingProfiles(s.recorder) == 1 }, "the profile waits")
	require.NoError(t, server.Shutdown(t.Context()))
	require.ErrorIs(t, <-served, http.ErrServerClosed)
	require.Equal(t, http.StatusServiceUnavailable, <-status)
	s.goOn()
	require.NoError(t, <-s.result)
}
