// Package https reads files of web servers: it registers the schemes https and http for queries. Import it for that:
//
//	import _ "github.com/gpuframe/gpuframe/objectstore/https"
//
//	gpu.Parquet("https://example.com/sales.parquet")
//
// The server must answer requests for ranges. A web server lists no files, so URLs have no patterns: queries of several files
// name all of them. Files are not written.
package https

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/objectstore"
)

var registeredHTTPS, registeredHTTP = objectstore.Register("https", open), objectstore.Register("http", open)

// Registered returns the error of registering the schemes: another package has taken them. Otherwise it returns nil.
func Registered() error { return errors.Join(registeredHTTPS, registeredHTTP) }

func open() (objectstore.Store, error) { return New(Options{}), nil }

// Options describe requests.
type Options struct {
	// Client sends requests. Nil means one that keeps connections open, and that removes Header and Referer from requests
	// to another host after a redirect. A client of a program has to remove them by its CheckRedirect: package net/http
	// removes only Authorization and cookies, and Referer has the query of the URL.
	Client *http.Client
	// Header is added to each request, for a token for example. It is sent to every server that URLs name: open the store
	// with [gpuframe.Engine.Objects] for queries of servers that may have it.
	Header http.Header
}

// Store is the files of web servers. See [objectstore.Store].
type Store struct {
	client *http.Client
	header http.Header
}

// New returns a store.
func New(options Options) *Store {
	if options.Client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		Adapt(transport)
		options.Client = &http.Client{Transport: transport, CheckRedirect: redirects(options.Header)}
	}
	return &Store{options.Client, options.Header.Clone()}
}

// mostRedirects is that of package net/http.
const mostRedirects = 10

// redirects returns the check of redirects that removes a header, and the URL before, from requests to another host.
func redirects(header http.Header) func(next *http.Request, before []*http.Request) error {
	return func(next *http.Request, before []*http.Request) error {
		if len(before) >= mostRedirects {
			return fmt.Errorf("there are more than %d redirects: %w", mostRedirects, objectstore.ErrResponse)
		}
		if next.URL.Host == before[0].URL.Host && next.URL.Scheme == before[0].URL.Scheme {
			return nil
		}
		next.Header.Del("Referer")
		for key := range header {
			delete(next.Header, key)
			next.Header.Del(key)
		}
		return nil
	}
}

// mostIdle is the number of connections to a server that stay open. A query has up to 64 requests at a time.
const mostIdle = 128

// Adapt changes a transport for many requests to one server: with a connection for each, because those of HTTP/2 share
// one and its rate, and without compression, which ranges do not have.
func Adapt(t *http.Transport) {
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.MaxConnsPerHost = 0, mostIdle, 0
	t.DisableCompression = true
	t.ForceAttemptHTTP2, t.TLSNextProto = false, map[string]func(string, *tls.Conn) http.RoundTripper{}
	if t.TLSClientConfig == nil {
		t.TLSClientConfig = &tls.Config{}
	}
	t.TLSClientConfig.NextProtos = []string{"http/1.1"}
}

// send sends a request. The caller closes the body of the answer.
func (s *Store) send(ctx context.Context, method, operation, name string, header map[string]string) (*http.Response, error) {
	fail := func(err error) error { return objectstore.NewError(operation, name, err) }
	request, err := http.NewRequestWithContext(ctx, method, name, nil)
	if err != nil {
		return nil, fail(fmt.Errorf("the URL is not valid: %w", objectstore.ErrResponse)) // the error has the query
	}
	for key, values := range s.header {
		request.Header[key] = values
	}
	for key, value := range header {
		request.Header.Set(key, value)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, fail(objectstore.TransportError(ctx, err))
	}
	return response, nil
}

// refused returns the error of an answer, or nil.
func refused(operation, name string, response *http.Response) error {
	err := objectstore.StatusError(response.StatusCode)
	if err == nil {
		return nil
	}
	return failure(operation, name, response, err)
}

// failure is an error about an answer.
func failure(operation, name string, response *http.Response, err error) error {
	failed := objectstore.NewError(operation, name, err)
	failed.Status = response.StatusCode
	for _, key := range []string{"X-Amz-Request-Id", "X-Ms-Request-Id", "X-Guploader-Uploadid", "X-Request-Id"} {
		if failed.RequestID == "" {
			failed.RequestID = response.Header.Get(key)
		}
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		failed.RetryAfter = time.Duration(seconds) * time.Second
	}
	return failed
}

// finish reads the rest of a short body, so that its connection can be used again.
func finish(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 4<<10)
	_ = body.Close()
}

// Stat implements [objectstore.Store]. A server that refuses HEAD, as for URLs with a signature for GET, gets a request for a byte.
func (s *Store) Stat(ctx context.Context, name string) (objectstore.Object, error) {
	response, err := s.send(ctx, http.MethodHead, "stat", name, nil)
	if err != nil {
		return objectstore.Object{}, err
	}
	finish(response.Body)
	switch response.StatusCode {
	case http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return s.statByRange(ctx, name)
	}
	if err := refused("stat", name, response); err != nil {
		return objectstore.Object{}, err
	}
	if response.ContentLength < 0 {
		return s.statByRange(ctx, name)
	}
	return about(name, response, response.ContentLength), nil
}

func (s *Store) statByRange(ctx context.Context, name string) (objectstore.Object, error) {
	response, err := s.send(ctx, http.MethodGet, "stat", name, map[string]string{"Range": "bytes=0-0"})
	if err != nil {
		return objectstore.Object{}, err
	}
	defer finish(response.Body)
	first, size, ok := contentRange(response.Header.Get("Content-Range"))
	unsatisfiable := response.StatusCode == http.StatusRequestedRangeNotSatisfiable && size == 0
	if unsatisfiable || response.StatusCode == http.StatusOK && response.ContentLength == 0 {
		return about(name, response, 0), nil
	}
	if err := refused("stat", name, response); err != nil {
		return objectstore.Object{}, err
	}
	if response.StatusCode != http.StatusPartialContent || !ok || first != 0 {
		return objectstore.Object{}, failure("stat", name, response, errRanges)
	}
	return about(name, response, size), nil
}

var errRanges = fmt.Errorf("the server does not answer requests for ranges: download the file: %w", objectstore.ErrResponse)

// about describes the object of an answer.
func about(name string, response *http.Response, size int64) objectstore.Object {
	modified, _ := http.ParseTime(response.Header.Get("Last-Modified"))
	return objectstore.Object{Name: name, Size: size, ETag: response.Header.Get("ETag"), Modified: modified}
}

// contentRange returns the first byte and the size of the object of a header such as "bytes 0-99/1234" or "bytes */0".
func contentRange(text string) (first, size int64, ok bool) {
	text, ok = strings.CutPrefix(text, "bytes ")
	bytes, all, cut := strings.Cut(text, "/")
	from, _, _ := strings.Cut(bytes, "-")
	size, err := strconv.ParseInt(all, 10, 64)
	if !ok || !cut || err != nil || size < 0 {
		return 0, -1, false
	}
	first, err = strconv.ParseInt(from, 10, 64)
	return first, size, err == nil
}

// ReadRange implements [objectstore.Store].
func (s *Store) ReadRange(ctx context.Context, object objectstore.Object, into []byte, offset int64) error {
	if len(into) == 0 {
		return nil
	}
	header := map[string]string{"Range": fmt.Sprintf("bytes=%d-%d", offset, offset+int64(len(into))-1)}
	if object.ETag != "" && !strings.HasPrefix(object.ETag, "W/") { // weak ones never match
		header["If-Match"] = object.ETag
	}
	response, err := s.send(ctx, http.MethodGet, "read", object.Name, header)
	if err != nil {
		return err
	}
	defer finish(response.Body)
	if err := refused("read", object.Name, response); err != nil {
		return err
	}
	if err := matches(object, response, offset); err != nil {
		return failure("read", object.Name, response, err)
	}
	n, err := objectstore.ReadFull(ctx, response.Body, into)
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%d of %d bytes from byte %d on: %w", n, len(into), offset, objectstore.ErrTruncated)
		return failure("read", object.Name, response, err)
	}
	return failure("read", object.Name, response, objectstore.TransportError(ctx, err))
}

// matches compares an answer with the object and the requested range.
func matches(object objectstore.Object, response *http.Response, offset int64) error {
	size := response.ContentLength
	if response.StatusCode == http.StatusPartialContent {
		first, all, ok := contentRange(response.Header.Get("Content-Range"))
		if !ok || first != offset {
			return fmt.Errorf("the answer is another range: %w", objectstore.ErrResponse)
		}
		size = all
	} else if offset != 0 || response.StatusCode != http.StatusOK {
		return errRanges
	}
	changed := size >= 0 && size != object.Size
	if etag := response.Header.Get("ETag"); object.ETag != "" {
		changed = changed || etag != "" && etag != object.ETag
	} else if modified, err := http.ParseTime(response.Header.Get("Last-Modified")); err == nil && !object.Modified.IsZero() {
		changed = changed || !modified.Equal(object.Modified)
	}
	if changed {
		return objectstore.ErrChanged
	}
	return nil
}

// unsupported is the error of a method that web servers do not have.
func unsupported(operation, name, feature string) error {
	return objectstore.NewError(operation, name, fmt.Errorf("web servers have no %s: %w", feature, errors.ErrUnsupported))
}

// List implements [objectstore.Store].
func (s *Store) List(_ context.Context, prefix, _ string) (page []objectstore.Object, next string, err error) {
	return nil, "", unsupported("list", prefix, "lists of files: name each file")
}

// Put implements [objectstore.Store].
func (s *Store) Put(_ context.Context, name string, _ []byte) error {
	return unsupported("write", name, "common way to write files")
}

// Create implements [objectstore.Store].
func (s *Store) Create(_ context.Context, name string) (objectstore.Upload, error) {
	return nil, unsupported("write", name, "common way to write files")
}

var _ objectstore.Store = (*Store)(nil)
