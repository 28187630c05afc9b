package iceberg_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/lake/iceberg"
	"github.com/gpuframe/gpuframe/objectstore"
)

// restCatalog is a catalog with one table, shop.eu.sales, of a warehouse. It accepts the token.
type restCatalog struct {
	token    string
	metadata json.RawMessage
	config   object
	// requests counts those of tokens.
	tokens   atomic.Int64
	delegate atomic.Bool
	status   int
	body     string
	// about is further configuration, and credentials those of tables.
	about       object
	credentials []object
	// paths are those of requests, and wait holds requests of tokens until it is closed.
	paths sync.Map
	wait  chan struct{}
}

func (c *restCatalog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fail := func(status int, kind, message string) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(jsonText(object{"error": object{"message": message, "type": kind, "code": status}})))
	}
	c.paths.Store(r.URL.EscapedPath(), true)
	if r.URL.Path == "/api/v1/oauth/tokens" || r.URL.Path == "/tokens" {
		if c.wait != nil {
			<-c.wait
		}
		if err := r.ParseForm(); err != nil || r.Form.Get("client_secret") != "s3cret" || r.Form.Get("grant_type") != "client_credentials" || r.Form.Get("scope") != "catalog" {
			fail(401, "NotAuthorizedException", "wrong secret "+r.Form.Get("client_secret"))
			return
		}
		_, _ = w.Write([]byte(jsonText(object{"access_token": fmt.Sprint("token-", c.tokens.Add(1)), "token_type": "bearer"})))
		return
	}
	if c.status != 0 {
		w.WriteHeader(c.status)
		_, _ = w.Write([]byte(c.body))
		return
	}
	if c.token != "" && r.Header.Get("Authorization") != "Bearer "+c.token {
		fail(401, "NotAuthorizedException", "unknown "+r.Header.Get("Authorization"))
		return
	}
	switch r.URL.EscapedPath() {
	case "/api/v1/config":
		_, _ = w.Write([]byte(jsonText(object{"defaults": object{"prefix": "other"}, "overrides": merged(object{"prefix": "ws/" + r.URL.Query().Get("warehouse")}, c.about)})))
	case "/api/v1/ws/main/namespaces/shop%1Feu/tables/sales%2F1", "/second/v1/ws/main/namespaces/shop.eu/tables/sales%2F1":
		c.delegate.Store(r.Header.Get("X-Iceberg-Access-Delegation") == "vended-credentials")
		_, _ = w.Write([]byte(jsonText(object{"metadata-location": "s3://u:p@b/m.json", "metadata": c.metadata, "config": c.config,
			"storage-credentials": c.credentials})))
	default:
		fail(404, "NoSuchTableException", "Table does not exist"+r.Header.Get("X-Echo"))
	}
}

func newCatalog(t *testing.T, w *written) (*restCatalog, string) {
	data, err := os.ReadFile(filepath.Join(w.root, "metadata", fmt.Sprintf("v%d.metadata.json", w.version)))
	require.NoError(t, err)
	c := &restCatalog{token: "abc", metadata: data}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return c, server.URL + "/api/"
}

var tableName = []string{"shop", "eu", "sales/1"}

func TestCatalog(t *testing.T) {
	w, engine := history(t), openEngine(t)
	served, address := newCatalog(t, w)
	catalog, err := iceberg.Connect(t.Context(), address, iceberg.CatalogOptions{Warehouse: "main", Token: "abc", Header: http.Header{"x-more": {"1"}}})
	require.NoError(t, err)
	table, err := catalog.Open(t.Context(), tableName, iceberg.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{`{"m":1,"s":null}`, `{"m":2,"s":null}`, `{"m":3,"s":"x"}`}, rowsOf(t, table.Query(engine)))
	require.False(t, served.delegate.Load())
	table, err = catalog.Open(t.Context(), tableName, iceberg.Options{Snapshot: new(int64(10))})
	require.NoError(t, err)
	require.Equal(t, []string{`{"n":1}`}, rowsOf(t, table.Query(engine)))

	_, err = catalog.Open(t.Context(), []string{"shop", "absent"}, iceberg.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, `iceberg: load shop.absent: the catalog answers 404: "NoSuchTableException: Table does not exist"`)
	_, err = catalog.Open(t.Context(), []string{"sales"}, iceberg.Options{})
	require.ErrorIs(t, err, iceberg.ErrCatalog)
	_, err = catalog.Open(t.Context(), tableName, iceberg.Options{Ref: "absent"})
	require.ErrorIs(t, err, iceberg.ErrSnapshot)
	served.metadata = json.RawMessage(`{"format-version": 9, "location": "x"}`)
	_, err = catalog.Open(t.Context(), tableName, iceberg.Options{})
	require.ErrorIs(t, err, iceberg.ErrUnsupported)
	require.ErrorContains(t, err, "s3://b/m.json")
	require.NotContains(t, err.Error(), "u:p")
}

// A token of client credentials is renewed when the catalog refuses it.
func TestCatalogCredentials(t *testing.T) {
	w := history(t)
	served, address := newCatalog(t, w)
	served.token = "token-1"
	options := iceberg.CatalogOptions{Warehouse: "main", ClientID: "me", ClientSecret: "s3cret"}
	catalog, err := iceberg.Connect(t.Context(), address, options)
	require.NoError(t, err)
	_, err = catalog.Open(t.Context(), tableName, iceberg.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 1, served.tokens.Load())
	served.token = "token-2"
	_, err = catalog.Open(t.Context(), tableName, iceberg.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 2, served.tokens.Load())
	served.token = "never"
	_, err = catalog.Open(t.Context(), tableName, iceberg.Options{})
	require.ErrorIs(t, err, objectstore.ErrCredentials)
	require.EqualValues(t, 3, served.tokens.Load())

	fail := func(change func(*iceberg.CatalogOptions), condition error) {
		t.Helper()
		changed := options
		change(&changed)
		_, err := iceberg.Connect(t.Context(), address, changed)
		require.ErrorIs(t, err, condition)
		require.NotContains(t, err.Error(), "s3cret")
		require.NotContains(t, err.Error(), "hidden")
	}
	fail(func(o *iceberg.CatalogOptions) { o.ClientSecret = "hidden" }, objectstore.ErrCredentials)
	fail(func(o *iceberg.CatalogOptions) { o.Token = "hidden" }, objectstore.ErrCredentials)
	fail(func(o *iceberg.CatalogOptions) { o.ClientID, o.Token = "", "hidden" }, objectstore.ErrCredentials)
	fail(func(o *iceberg.CatalogOptions) { o.TokenURL = "http://user:hidden@%zz" }, iceberg.ErrCatalog)
	fail(func(o *iceberg.CatalogOptions) { o.TokenURL = address + "v1/config?hidden" }, objectstore.ErrCredentials)
}

// Stores are made by the configuration of a table.
func TestCatalogStores(t *testing.T) {
	w := newTable(t, "1 n long")
	w.about["location"] = "s3://bucket/table"
	w.write()
	served, address := newCatalog(t, w)
	served.config = object{"s3.access-key-id": "A", "s3.session-token": "session A", "region": "x"}
	served.credentials = []object{
		{"prefix": "s3://bucket/table", "config": object{"s3.access-key-id": "B"}}, {"prefix": "", "config": object{"other": "C"}},
		{"prefix": "s3://bucket", "config": object{"s3.access-key-id": "D", "s3.session-token": "session D"}}, {"prefix": "s3://other", "config": object{"region": "E"}},
	}
	want := map[string]string{"s3.access-key-id": "B", "region": "x"}
	refused := errors.New("refused")
	var failure error
	catalog, err := iceberg.Connect(t.Context(), address, iceberg.CatalogOptions{Warehouse: "main", Token: "abc", Store: func(_ context.Context, location string, config map[string]string) (objectstore.Store, error) {
		require.Equal(t, "s3://bucket/table", location)
		require.Equal(t, want, config)
		return &objecttest.Memory{}, failure
	}})
	require.NoError(t, err)
	_, err = catalog.Open(t.Context(), tableName, iceberg.Options{})
	require.NoError(t, err)
	require.True(t, served.delegate.Load())
	served.credentials = served.credentials[3:]
	want = map[string]string{"s3.access-key-id": "A", "s3.session-token": "session A", "region": "x"}
	_, err = catalog.Open(t.Context(), tableName, iceberg.Options{})
	require.NoError(t, err)
	failure = refused
	_, err = catalog.Open(t.Context(), tableName, iceberg.Options{})
	require.ErrorIs(t, err, refused)
}

// The configuration of a catalog may have other addresses and another separator. They are used or refused.
func TestCatalogConfiguration(t *testing.T) {
	w := history(t)
	served, address := newCatalog(t, w)
	host := strings.TrimSuffix(address, "/api/")
	served.token = "token-1"
	options := iceberg.CatalogOptions{Warehouse: "main", ClientID: "me", ClientSecret: "s3cret"}
	served.about = object{"uri": host + "/second/", "oauth2-server-uri": host + "/tokens", "namespace-separator": "%2E"}
	catalog, err := iceberg.Connect(t.Context(), address, options)
	require.NoError(t, err)
	served.token = "token-2"
	_, err = catalog.Open(t.Context(), tableName, iceberg.Options{})
	require.NoError(t, err)
	_, used := served.paths.Load("/tokens")
	require.True(t, used)
	for key, value := range map[string]string{"uri": "ftp://x", "oauth2-server-uri": "//user:hidden@x", "namespace-separator": "%zz"} {
		served.token, served.about = "token-"+fmt.Sprint(served.tokens.Load()+1), object{key: value}
		_, err = iceberg.Connect(t.Context(), address, options)
		require.ErrorIs(t, err, iceberg.ErrCatalog)
		require.ErrorContains(t, err, "the configuration of the catalog has the "+key)
		require.NotContains(t, err.Error(), "hidden")
	}
	// Only a table may be absent.
	for _, wrong := range []iceberg.CatalogOptions{{}, {ClientID: "me", ClientSecret: "s3cret", TokenURL: host + "/absent"}} {
		served.token = ""
		_, err = iceberg.Connect(t.Context(), host+"/nowhere", wrong)
		require.ErrorIs(t, err, iceberg.ErrCatalog)
		require.NotErrorIs(t, err, fs.ErrNotExist)
	}
}

// A caller that waits for the token of another one waits no longer than its context.
func TestCatalogTokenWaits(t *testing.T) {
	w := history(t)
	served, address := newCatalog(t, w)
	served.token = "token-1"
	catalog, err := iceberg.Connect(t.Context(), address, iceberg.CatalogOptions{Warehouse: "main", ClientID: "me", ClientSecret: "s3cret"})
	require.NoError(t, err)
	served.token, served.wait = "token-2", make(chan struct{})
	served.paths.Clear()
	result := make(chan error)
	go func() {
		_, err := catalog.Open(t.Context(), tableName, iceberg.Options{})
		result <- err
	}()
	require.Eventually(t, func() bool { _, asked := served.paths.Load("/api/v1/oauth/tokens"); return asked }, time.Minute, time.Millisecond)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = catalog.Open(ctx, tableName, iceberg.Options{})
	require.ErrorIs(t, err, context.Canceled)
	close(served.wait)
	require.NoError(t, <-result)
}

// Errors have none of what a request has sent in headers, nor an address that is no URL.
func TestCatalogSecrets(t *testing.T) {
	w := history(t)
	served, address := newCatalog(t, w)
	served.token = "never"
	_, err := iceberg.Connect(t.Context(), address, iceberg.CatalogOptions{Warehouse: "main", ClientID: "me", ClientSecret: "s3cret"})
	require.ErrorContains(t, err, "unknown …")
	require.NotContains(t, err.Error(), "token-")
	served.token = ""
	catalog, err := iceberg.Connect(t.Context(), address, iceberg.CatalogOptions{Warehouse: "main", Header: http.Header{"X-Echo": {"hidden"}}})
	require.NoError(t, err)
	_, err = catalog.Open(t.Context(), []string{"a", "b"}, iceberg.Options{})
	require.ErrorContains(t, err, "does not exist…")
	require.NotContains(t, err.Error(), "hidden")
	for _, wrong := range []string{"user:hidden@catalog", "//user:hidden@catalog", "https://user:hidden@%zz"} {
		_, err = iceberg.Connect(t.Context(), wrong, iceberg.CatalogOptions{})
		require.ErrorIs(t, err, iceberg.ErrCatalog)
		require.NotContains(t, err.Error(), "hidden")
	}
}

func TestCatalogFailures(t *testing.T) {
	w := history(t)
	served, address := newCatalog(t, w)
	connect := func(ctx context.Context, address string) error {
		_, err := iceberg.Connect(ctx, address, iceberg.CatalogOptions{Warehouse: "main", Token: "abc"})
		var known *iceberg.Error
		require.ErrorAs(t, err, &known)
		require.Equal(t, "connect", known.Operation)
		return err
	}
	for status, condition := range map[int]error{302: iceberg.ErrCatalog, 400: iceberg.ErrCatalog, 403: fs.ErrPermission, 419: objectstore.ErrCredentials, 429: objectstore.ErrThrottled, 500: objectstore.ErrUnavailable, 503: objectstore.ErrThrottled} {
		served.status, served.body = status, strings.Repeat("x", 2<<20)
		require.ErrorIs(t, connect(t.Context(), address), condition, "%d", status)
	}
	served.status, served.body = 200, "<html>"
	require.ErrorIs(t, connect(t.Context(), address), iceberg.ErrCatalog)
	for _, wrong := range []string{"ftp://x", "catalog", "http://%zz", ""} {
		require.ErrorIs(t, connect(t.Context(), wrong), iceberg.ErrCatalog, wrong)
	}
	secret := strings.Replace(address, "http://", "http://user:hidden@", 1)
	require.NotContains(t, connect(t.Context(), secret).Error(), "hidden")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, connect(ctx, address), context.Canceled)
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	require.ErrorIs(t, connect(t.Context(), server.URL), objectstore.ErrUnavailable)
}
