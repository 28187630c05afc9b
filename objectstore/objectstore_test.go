package objectstore_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/objectstore"
)

func TestSchemes(t *testing.T) {
	for name, want := range map[string]string{
		"s3://bucket/key": "s3", "https://host": "https", "a+b-c.1://x": "a+b-c.1",
		"": "", "://x": "", "C:\\x": "", "/s3://x": "", "S3://bucket": "S3", "a b://x": "", "1s://x": "", "folder/file": "", "s3:/x": "",
	} {
		scheme, ok := objectstore.SchemeOf(name)
		assert.Equal(t, want != "", ok, name)
		if ok {
			assert.Equal(t, want, scheme)
		}
	}
}

func TestRegister(t *testing.T) {
	require.Error(t, objectstore.Register("No Scheme", func() (objectstore.Store, error) { return nil, nil }))
	require.Error(t, objectstore.Register("", func() (objectstore.Store, error) { return nil, nil }))
	require.Error(t, objectstore.Register("test-none", nil))
	require.Error(t, objectstore.Register("Capital", func() (objectstore.Store, error) { return nil, nil }))
	require.ErrorContains(t, objectstore.Register("file", func() (objectstore.Store, error) { return nil, nil }), "scheme of files")
	require.NoError(t, objectstore.Register("test-nil", func() (objectstore.Store, error) { return nil, nil }))
	_, err := objectstore.Open("test-nil://a")
	require.ErrorIs(t, err, objectstore.ErrScheme)
	assert.ErrorContains(t, err, "has returned nil")
	store, calls := &objecttest.Memory{}, 0
	require.NoError(t, objectstore.Register("test-late", func() (objectstore.Store, error) {
		if calls++; calls == 1 {
			return nil, objectstore.ErrCredentials
		}
		return store, nil
	}))
	require.ErrorContains(t, objectstore.Register("test-late", func() (objectstore.Store, error) { return store, nil }), "taken")
	assert.Contains(t, objectstore.Schemes(), "test-late")
	assert.Zero(t, calls, "a store is opened when it is needed")
	_, err = objectstore.Open("test-late://a")
	require.ErrorIs(t, err, objectstore.ErrCredentials)
	for range 2 {
		_, err = objectstore.Open("test-late://a")
		require.NoError(t, err)
	}
	assert.Equal(t, 2, calls)
	_, err = objectstore.Open("nowhere://a")
	require.ErrorIs(t, err, objectstore.ErrScheme)
	_, err = objectstore.Open("Test-Late://user:secret@a")
	require.ErrorIs(t, err, objectstore.ErrScheme)
	assert.ErrorContains(t, err, "write the scheme in small letters, as test-late")
	assert.NotContains(t, err.Error(), "secret")
	_, err = objectstore.Open("gs://bucket/a")
	require.ErrorContains(t, err, `import _ "github.com/gpuframe/gpuframe/objectstore/gcs"`)
	_, err = objectstore.Open("oss://bucket/a")
	require.NotContains(t, err.Error(), "import _", "that package does not exist")
	_, err = objectstore.Open("plain")
	require.ErrorIs(t, err, objectstore.ErrScheme)
}

func TestDisplay(t *testing.T) {
	for name, want := range map[string]string{
		"s3://bucket/a?b=c":                      "s3://bucket/a?b=c",
		"https://user:secret@host/a/b?sig=x#y":   "https://host/a/b?…",
		"http://host/a":                          "http://host/a",
		"HTTPS://user:secret@host/a?sig=secret":  "https://host/a?…",
		"minio://user:secret@host/a@b?c":         "minio://host/a@b?c",
		"S3://user:se@cret@bucket":               "S3://bucket",
		"abfss://c@a.dfs.core.windows.net/k":     "abfss://c@a.dfs.core.windows.net/k",
		"https://host/%zz?sig=secret":            "https://…",
		"folder/file?":                           "folder/file?",
		"https://host:8080/a%20b/c.csv.gz?sig=x": "https://host:8080/a%20b/c.csv.gz?…",
	} {
		assert.Equal(t, want, objectstore.Display(name))
	}
}

func TestErrors(t *testing.T) {
	err := error(&objectstore.Error{Operation: "read", URL: "https://u:secret@host/a?sig=secret", Status: 503, Code: "SlowDown", RequestID: "4711", Err: objectstore.ErrThrottled})
	assert.Equal(t, "objectstore: read https://host/a?…: there are too many requests to the store (status 503, code SlowDown, request 4711)", err.Error())
	for _, name := range []string{"https://u:secret@host/a?sig=secret", "HTTP://host/a?secret", "minio://u:secret@host/a", "https://%zz?secret"} {
		err := objectstore.NewError("read", name, objectstore.ErrThrottled)
		for _, text := range []string{err.URL, fmt.Sprintf("%+v", err), fmt.Sprintf("%+v", *err), fmt.Sprintf("%#v", *err)} {
			assert.NotContains(t, text, "secret")
		}
	}
	transport := objectstore.TransportError(t.Context(), &url.Error{Op: "Get", URL: "https://host/a?sig=secret", Err: errors.New("connection reset")})
	require.ErrorIs(t, transport, objectstore.ErrUnavailable)
	assert.NotContains(t, transport.Error(), "secret")
	refused := fmt.Errorf("%w: %w", errors.New("handshake"), &tls.CertificateVerificationError{Err: errors.New("of another host")})
	transport = objectstore.TransportError(t.Context(), &url.Error{Op: "Get", URL: "https://host/a", Err: refused})
	require.ErrorIs(t, transport, objectstore.ErrResponse)
	require.NotErrorIs(t, transport, objectstore.ErrUnavailable)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, objectstore.TransportError(ctx, errors.New("closed")), context.Canceled)
	for status, want := range map[int]error{
		401: objectstore.ErrCredentials, 403: fs.ErrPermission, 404: fs.ErrNotExist, 410: fs.ErrNotExist, 412: objectstore.ErrChanged, 416: objectstore.ErrChanged,
		429: objectstore.ErrThrottled, 503: objectstore.ErrThrottled, 408: objectstore.ErrUnavailable, 500: objectstore.ErrUnavailable, 504: objectstore.ErrUnavailable,
		400: objectstore.ErrResponse, 300: objectstore.ErrResponse,
	} {
		require.ErrorIs(t, objectstore.StatusError(status), want)
	}
	require.NoError(t, objectstore.StatusError(206))
}

// Failures that may end are repeated, others are not. Each attempt has a limit of its time.
func TestRetry(t *testing.T) {
	for _, condition := range []error{objectstore.ErrThrottled, objectstore.ErrUnavailable, objectstore.ErrTruncated, objectstore.ErrChanged, fs.ErrNotExist, fs.ErrPermission} {
		again := errors.Is(condition, objectstore.ErrThrottled) || errors.Is(condition, objectstore.ErrUnavailable) || errors.Is(condition, objectstore.ErrTruncated)
		for failures := 1; failures <= 4; failures++ {
			var store objecttest.Memory
			store.Set("mem://b/a", []byte("hello"))
			calls := 0
			store.Before = func(context.Context, string, string, int64, int64) error {
				if calls++; calls <= failures {
					return condition
				}
				return nil
			}
			_, err := objectstore.WithRetry(&store, objectstore.Retry{Attempts: 3, Pause: time.Nanosecond}).Stat(t.Context(), "mem://b/a")
			if again && failures < 3 {
				require.NoError(t, err)
				assert.Equal(t, failures+1, calls)
				continue
			}
			require.ErrorIs(t, err, condition)
			if again {
				assert.ErrorContains(t, err, "after 3 attempts")
				assert.Equal(t, 3, calls)
			} else {
				assert.Equal(t, 1, calls)
			}
		}
	}
}

func TestRetryEndsAttempts(t *testing.T) {
	var store objecttest.Memory
	store.Before = func(ctx context.Context, _, _ string, _, _ int64) error {
		<-ctx.Done()
		return ctx.Err()
	}
	_, err := objectstore.WithRetry(&store, objectstore.Retry{Pause: time.Nanosecond, Timeout: time.Millisecond}).Stat(t.Context(), "mem://b/a")
	require.ErrorIs(t, err, objectstore.ErrUnavailable)
	assert.EqualValues(t, 6, store.Others.Load())
	ctx, stop := context.WithCancel(t.Context())
	store.Before = func(context.Context, string, string, int64, int64) error {
		stop()
		return objectstore.ErrThrottled
	}
	_, err = objectstore.WithRetry(&store, objectstore.Retry{Pause: time.Hour, MostPause: time.Hour}).Stat(ctx, "mem://b/a")
	require.ErrorIs(t, err, objectstore.ErrThrottled)
}

// slowStore is a store without progress for a time before each part of a range.
type slowStore struct {
	objectstore.Store
	step  time.Duration
	calls int
}

// slowReader is the bytes of a slow store.
type slowReader struct {
	ctx  context.Context
	step time.Duration
}

func (r slowReader) Read(p []byte) (int, error) {
	select {
	case <-time.After(r.step):
		return 1, nil
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

func (s *slowStore) ReadRange(ctx context.Context, _ objectstore.Object, into []byte, _ int64) error {
	s.calls++
	_, err := objectstore.ReadFull(ctx, slowReader{ctx, s.step}, into)
	return err
}

func (s *slowStore) Put(ctx context.Context, _ string, contents []byte) error {
	s.calls++
	body := objectstore.Body(ctx, contents)
	for part := make([]byte, 1); ; {
		select {
		case <-time.After(s.step):
		case <-ctx.Done():
			return ctx.Err()
		}
		if _, err := body.Read(part); err != nil {
			return nil
		}
	}
}

func (s *slowStore) Create(context.Context, string) (objectstore.Upload, error) { return s, nil }

func (s *slowStore) WritePart(ctx context.Context, _ int, contents []byte) error {
	return s.Put(ctx, "", contents)
}

func (s *slowStore) Commit(ctx context.Context, parts int) error {
	return s.Put(ctx, "", nil)
}

func (s *slowStore) Abort(context.Context) error { return nil }

// An attempt takes any time while its bytes arrive or are sent, and ends without them. Commit has more time.
func TestProgress(t *testing.T) {
	for _, test := range []struct {
		step     time.Duration
		transfer bool
		commit   bool
	}{{20 * time.Second, true, true}, {100 * time.Second, false, true}, {400 * time.Second, false, false}} {
		synctest.Test(t, func(t *testing.T) {
			slow := &slowStore{step: test.step}
			store := objectstore.WithRetry(slow, objectstore.Retry{Attempts: 2})
			check := func(ok bool, err error) {
				if slow.calls--; ok {
					require.NoError(t, err)
					assert.Zero(t, slow.calls, "attempts that failed")
				} else {
					require.ErrorIs(t, err, objectstore.ErrUnavailable)
					assert.Equal(t, 1, slow.calls, "attempts that failed")
				}
				slow.calls = 0
			}
			check(test.transfer, store.ReadRange(t.Context(), objectstore.Object{}, make([]byte, 100), 0))
			check(test.transfer, store.Put(t.Context(), "", make([]byte, 100)))
			upload, err := store.Create(t.Context(), "")
			require.NoError(t, err)
			check(test.transfer, upload.WritePart(t.Context(), 0, make([]byte, 100)))
			check(test.commit, upload.Commit(t.Context(), 1))
		})
	}
}

// EnsureRetry keeps a Retry, and WithRetry replaces it.
func TestEnsureRetry(t *testing.T) {
	var store objecttest.Memory
	calls := 0
	store.Before = func(context.Context, string, string, int64, int64) error {
		calls++
		return objectstore.ErrThrottled
	}
	three := objectstore.WithRetry(&store, objectstore.Retry{Attempts: 3, Pause: time.Nanosecond})
	require.NoError(t, objectstore.Register("test-retry", func() (objectstore.Store, error) { return three, nil }))
	opened, err := objectstore.Open("test-retry://a")
	require.NoError(t, err)
	for _, test := range []struct {
		store    objectstore.Store
		attempts int
	}{{objectstore.EnsureRetry(three), 3}, {opened, 3}, {objectstore.WithRetry(three, objectstore.Retry{Attempts: 2, Pause: time.Nanosecond}), 2}} {
		calls = 0
		_, err := test.store.Stat(t.Context(), "test-retry://a")
		require.ErrorIs(t, err, objectstore.ErrThrottled)
		assert.Equal(t, test.attempts, calls)
	}
}

// The time that a store has sent is waited, and no more than the greatest pause.
func TestPauses(t *testing.T) {
	for _, asked := range []time.Duration{0, 5 * time.Second, time.Hour} {
		var pauses []time.Duration
		_, err := objectstore.Paused(t.Context(), objectstore.Retry{Attempts: 5, Pause: time.Second, MostPause: 6 * time.Second}, &pauses,
			&objectstore.Error{RetryAfter: asked, Err: objectstore.ErrThrottled})
		require.ErrorIs(t, err, objectstore.ErrThrottled)
		require.Len(t, pauses, 4)
		for i, pause := range pauses {
			most := min(time.Second<<i, 6*time.Second)
			assert.LessOrEqual(t, pause, max(most, min(asked, 6*time.Second)), fmt.Sprint(asked, i))
			assert.GreaterOrEqual(t, pause, max(most/2, min(asked, 6*time.Second)), fmt.Sprint(asked, i))
		}
	}
}
