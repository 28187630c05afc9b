package gcs_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/objectstore"
	"github.com/gpuframe/gpuframe/objectstore/gcs"
)

func TestConforms(t *testing.T) {
	objecttest.Conforms(t, storeAt(server(t)), bucket+"folder/")
}

// Answers of the service become conditions, in JSON and in XML.
func TestConditions(t *testing.T) {
	inJSON := func(reason string) string {
		return `{"error": {"code": 4, "message": "the message", "errors": [{"reason": "` + reason + `"}]}}`
	}
	for code, test := range property.InOrder(map[string]struct {
		status int
		text   string
		want   error
	}{
		"rateLimitExceeded": {429, inJSON("rateLimitExceeded"), objectstore.ErrThrottled}, "authError": {401, inJSON("authError"), objectstore.ErrCredentials},
		"backendError": {503, inJSON("backendError"), objectstore.ErrThrottled}, "internalError": {500, inJSON("internalError"), objectstore.ErrUnavailable},
		"forbidden": {403, inJSON("forbidden"), fs.ErrPermission}, "notFound": {404, inJSON("notFound"), fs.ErrNotExist},
		"conditionNotMet": {412, inJSON("conditionNotMet"), objectstore.ErrChanged}, "userProjectMissing": {400, inJSON("userProjectMissing"), objectstore.ErrResponse},
		"InvalidRange": {416, "<Error><Code>InvalidRange</Code><Message>the message</Message></Error>", objectstore.ErrChanged},
	}) {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "Bearer hidden", r.Header.Get("Authorization"))
			assert.Equal(t, "payer", r.Header.Get("X-Goog-User-Project"))
			w.Header().Set("X-GUploader-UploadID", "4711")
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(test.status)
			_, _ = w.Write([]byte(test.text))
		}))
		store := gcs.New(gcs.Options{Endpoint: h.URL, Tokens: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "hidden"}), UserProject: "payer"})
		err := store.ReadRange(t.Context(), objectstore.Object{Name: bucket + "a", Size: 10, ETag: "1"}, make([]byte, 3), 1)
		h.Close()
		require.ErrorIs(t, err, test.want, code)
		var failed *objectstore.Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, objectstore.Error{Operation: "read", URL: bucket + "a", Status: test.status, Code: code, RequestID: "4711", RetryAfter: 3 * time.Second, Err: failed.Err}, *failed)
		assert.ErrorContains(t, err, "the message")
		assert.NotContains(t, err.Error(), "hidden")
	}
	err := storeAt("http://127.0.0.1:1").ReadRange(t.Context(), objectstore.Object{Name: bucket + "a", Size: 10}, make([]byte, 3), 1)
	require.ErrorIs(t, err, objectstore.ErrUnavailable)
	for _, name := range []string{"gs://bucket", "gs:///key", "bucket/key"} {
		_, err = storeAt("http://127.0.0.1:1").Stat(t.Context(), name)
		require.ErrorIs(t, err, objectstore.ErrResponse, name)
	}
	require.NoError(t, gcs.Registered())
}

// refusedTokens is a source of tokens that fails.
type refusedTokens struct{ err error }

func (r refusedTokens) Token() (*oauth2.Token, error) { return nil, r.err }

// Credentials that are missing, refused or not reached are typed errors without secrets.
func TestTokens(t *testing.T) {
	for _, test := range []struct {
		err, want error
	}{
		{&oauth2.RetrieveError{Response: &http.Response{StatusCode: 400}, ErrorCode: "invalid_grant", Body: []byte("hidden")}, objectstore.ErrCredentials},
		{&oauth2.RetrieveError{Response: &http.Response{StatusCode: 503}, Body: []byte("hidden")}, objectstore.ErrUnavailable},
		{&oauth2.RetrieveError{Response: &http.Response{StatusCode: 400}, ErrorCode: "hidden"}, objectstore.ErrCredentials},
		{&oauth2.RetrieveError{Response: &http.Response{StatusCode: 429}}, objectstore.ErrThrottled},
		{fmt.Errorf("hidden: %w", &url.Error{Op: "Post", URL: "https://hidden", Err: errors.New("connection reset")}), objectstore.ErrUnavailable},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, objectstore.ErrUnavailable},
		{errors.New("oauth2: status 403: hidden"), objectstore.ErrCredentials},
	} {
		_, err := gcs.New(gcs.Options{Endpoint: "http://127.0.0.1:1", Tokens: refusedTokens{test.err}}).Stat(t.Context(), bucket+"a")
		require.ErrorIs(t, err, test.want)
		assert.NotContains(t, err.Error(), "hidden")
	}
	file := filepath.Join(t.TempDir(), "credentials.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"type": "hidden"}`), 0o600))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	_, err := gcs.New(gcs.Options{Endpoint: "http://127.0.0.1:1"}).Stat(t.Context(), bucket+"a")
	require.ErrorIs(t, err, objectstore.ErrCredentials)
	assert.NotContains(t, err.Error(), "hidden")
}

// serviceAccount writes the file of a service account with a server of tokens, for the environment.
func serviceAccount(t testing.TB, tokens string) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "a@example.org", "private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokens,
	})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "credentials.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
}

// A server of tokens that does not answer holds no query whose context ends, and requests that wait have one fetch.
func TestTokensOfSlowServer(t *testing.T) {
	asked, answer := make(chan struct{}, 10), make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			asked <- struct{}{}
			<-answer
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"access_token": "hidden", "token_type": "Bearer", "expires_in": 3600}`))
			return
		}
		assert.Equal(t, "Bearer hidden", r.Header.Get("Authorization"))
		_, _ = w.Write([]byte(`{"name": "a", "size": "7", "generation": "5"}`))
	}))
	defer h.Close()
	serviceAccount(t, h.URL+"/token")
	store := gcs.New(gcs.Options{Endpoint: h.URL})
	ctx, stop := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 5 {
		waiting.Go(func() {
			_, err := store.Stat(ctx, bucket+"a")
			assert.ErrorIs(t, err, context.Canceled)
		})
	}
	<-asked
	stop()
	waiting.Wait()
	close(answer)
	_, err := store.Stat(t.Context(), bucket+"a")
	require.NoError(t, err)
	require.Empty(t, asked)
}

// A server of tokens that is not reached is a failure that is repeated, of a service account too.
func TestTokensOfAbsentServer(t *testing.T) {
	serviceAccount(t, "http://127.0.0.1:1/token")
	_, err := gcs.New(gcs.Options{Endpoint: "http://127.0.0.1:1"}).Stat(t.Context(), bucket+"a")
	require.ErrorIs(t, err, objectstore.ErrUnavailable)
	require.ErrorContains(t, err, "request a token")
}

// The environment has an emulator, or turns credentials off.
func TestEnvironment(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Empty(t, r.Header.Get("Authorization"))
		assert.Equal(t, "payer", r.Header.Get("X-Goog-User-Project"))
		_, _ = w.Write([]byte(`{"name": "a", "size": "7", "generation": "5"}`))
	}))
	defer h.Close()
	t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", "payer")
	t.Setenv("STORAGE_EMULATOR_HOST", h.URL[len("http://"):])
	object, err := gcs.New(gcs.Options{}).Stat(t.Context(), bucket+"a")
	require.NoError(t, err)
	require.Equal(t, objectstore.Object{Name: bucket + "a", Size: 7, ETag: "5"}, object)
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	t.Setenv("CLOUDSDK_AUTH_DISABLE_CREDENTIALS", "true")
	_, err = gcs.New(gcs.Options{Endpoint: h.URL}).Stat(t.Context(), bucket+"a")
	require.NoError(t, err)
}

// Answers that are not as expected are errors: a repeated token of a list, no JSON, another range, a changed generation.
func TestAnswers(t *testing.T) {
	text, header := "", map[string]string{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for key, value := range header {
			w.Header().Set(key, value)
		}
		_, _ = w.Write([]byte(text))
	}))
	defer h.Close()
	store := storeAt(h.URL)
	text = `{"nextPageToken": "again"}`
	_, _, err := store.List(t.Context(), bucket, "again")
	require.ErrorContains(t, err, "token is repeated")
	text = "<html>"
	_, _, err = store.List(t.Context(), bucket, "")
	require.ErrorIs(t, err, objectstore.ErrResponse)
	_, err = store.Create(t.Context(), bucket+"a")
	require.ErrorIs(t, err, objectstore.ErrResponse)
	object := objectstore.Object{Name: bucket + "a", Size: 10, ETag: "5"}
	require.ErrorContains(t, store.ReadRange(t.Context(), object, make([]byte, 4), 2), "another range")
	header["X-Goog-Generation"] = "6"
	require.ErrorIs(t, store.ReadRange(t.Context(), object, make([]byte, 4), 2), objectstore.ErrChanged)
	text = "<InitiateMultipartUploadResult><UploadId>a</UploadId></InitiateMultipartUploadResult>"
	upload, err := store.Create(t.Context(), bucket+"a")
	require.NoError(t, err)
	require.ErrorContains(t, upload.WritePart(t.Context(), 0, nil), "no ETag")
	require.ErrorIs(t, upload.WritePart(t.Context(), 10_000, nil), errors.ErrUnsupported)
	require.ErrorIs(t, upload.Commit(t.Context(), 1), objectstore.ErrResponse)
}

// Each answer of an upload may be lost: the object has all bytes, and the upload has ended.
func TestLostAnswers(t *testing.T) {
	proxy := objecttest.NewProxy(t, server(t))
	store := objectstore.WithRetry(storeAt(proxy.URL), objectstore.Retry{Pause: time.Nanosecond})
	contents := bytes.Repeat([]byte("0123456789abcdef"), 1000)
	for lost := int64(1); lost <= 4; lost++ {
		name := bucket + "lost-" + string(rune('0'+lost))
		begin := proxy.Requests.Load()
		proxy.Fault = func(*http.Request) objecttest.Fault {
			if proxy.Requests.Load()-begin == lost {
				return objecttest.Lost
			}
			return objecttest.NoFault
		}
		upload, err := store.Create(t.Context(), name)
		require.NoError(t, err)
		require.NoError(t, upload.WritePart(t.Context(), 0, contents[:9000]))
		require.NoError(t, upload.WritePart(t.Context(), 1, contents[9000:]))
		require.NoError(t, upload.Commit(t.Context(), 2))
		object, err := store.Stat(t.Context(), name)
		require.NoError(t, err)
		read := make([]byte, object.Size)
		require.NoError(t, store.ReadRange(t.Context(), object, read, 0))
		require.True(t, bytes.Equal(contents, read))
	}
	proxy.Fault = nil
	upload, err := store.Create(t.Context(), bucket+"none")
	require.NoError(t, err)
	require.NoError(t, upload.Abort(t.Context()))
	for range 2 {
		require.ErrorIs(t, upload.Commit(t.Context(), 0), fs.ErrNotExist, "an upload that was given up is no object")
	}
}

// Queries write folders and read them, while a part of the requests fail.
func TestQueries(t *testing.T) {
	proxy := objecttest.NewProxy(t, server(t))
	random := property.Random(t)
	var mu sync.Mutex
	faults := 0
	proxy.Fault = func(r *http.Request) objecttest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(5) > 0 {
			return objecttest.NoFault
		}
		faults++
		kinds := []objecttest.Fault{objecttest.Throttled, objecttest.Failed, objecttest.Reset, objecttest.Short}
		if r.Method != http.MethodGet {
			kinds = append(kinds[:3], objecttest.Lost)
		}
		return kinds[random.IntN(len(kinds))]
	}
	store := objectstore.WithRetry(storeAt(proxy.URL), objectstore.Retry{Pause: time.Millisecond, MostPause: time.Millisecond, Attempts: 20})
	require.NoError(t, objectstore.Register("gs-faults", func() (objectstore.Store, error) { return store, nil }))
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, gpu.Close()) }()
	builder := array.NewInt64Builder(memory.DefaultAllocator)
	defer builder.Release()
	for n := range 30000 {
		builder.Append(int64(n))
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	record := array.NewRecord(schema, []arrow.Array{builder.NewArray()}, 30000)
	n := gpuframe.Col("n")
	numbers := gpu.Records(schema, record).With(n.Mod(3).As("k"))
	for _, existing := range []gpuframe.Existing{gpuframe.RefuseExisting, gpuframe.OverwritePartitions, gpuframe.OverwriteFolder} {
		options := gpuframe.FolderOptions{PartitionBy: []string{"k"}, FileRows: 4000, Existing: existing, Manifest: "_manifest.json"}
		manifest, err := numbers.WriteFiles(t.Context(), "gs-faults://bucket/numbers", gpuframe.Parquet(), options)
		require.NoError(t, err)
		require.Len(t, manifest.Files, 9)
		result, err := gpu.Objects(store).Parquet(bucket + "numbers/k=*/*.parquet").Filter(gpuframe.Col("k").Eq(1)).GroupBy().Agg(n.Sum().As("sum")).Collect(t.Context())
		require.NoError(t, err)
		sum, err := result.Record(t.Context())
		require.NoError(t, err)
		assert.Equal(t, int64(10000*(1+29998)/2), sum.Column(0).(*array.Int64).Value(0))
		sum.Release()
		require.NoError(t, result.Release())
	}
	assert.Positive(t, faults)
	_, err = gpu.Objects(store).Parquet(bucket + "none/*.parquet").Collect(t.Context())
	require.ErrorIs(t, err, fs.ErrNotExist)
}
