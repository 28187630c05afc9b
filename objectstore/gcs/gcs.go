// Package gcs reads and writes objects of Google Cloud Storage: it registers the scheme gs for queries. Import it for that:
//
//	import _ "github.com/gpuframe/gpuframe/objectstore/gcs"
//
//	gpu.Parquet("gs://bucket/sales/year=*/*.parquet")
//
// Credentials are the application default ones: the file of GOOGLE_APPLICATION_CREDENTIALS, with keys of a service account or
// the settings of a workload identity, those of gcloud auth application-default login, or those of the machine. With
// CLOUDSDK_AUTH_DISABLE_CREDENTIALS=true requests have none, as for public buckets. STORAGE_EMULATOR_HOST is the
// address of an emulator. [New] takes all of them from a program.
package gcs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/gpuframe/gpuframe/objectstore"
	"github.com/gpuframe/gpuframe/objectstore/https"
)

var registered = objectstore.Register("gs", func() (objectstore.Store, error) { return New(Options{}), nil })

// Registered returns the error of registering the scheme: another package has taken it. Otherwise it returns nil.
func Registered() error { return registered }

// Options describe a store. The zero value is that of the environment.
type Options struct {
	// Endpoint is the URL of the service. Empty means that of STORAGE_EMULATOR_HOST, without credentials, or of Google.
	Endpoint string
	// Tokens are used instead of those of the environment.
	Tokens oauth2.TokenSource
	// Anonymous sends requests without credentials.
	Anonymous bool
	// UserProject is the project that pays for requests to buckets for which requesters pay. Empty means that of
	// GOOGLE_CLOUD_QUOTA_PROJECT, or none.
	UserProject string
	// Client sends requests. Nil means one that keeps connections open.
	Client *http.Client
}

// Store is the objects of buckets. Names are gs://bucket/key; keys are not escaped. The ETag of an object is its
// generation. See [objectstore.Store].
type Store struct {
	endpoint, project string
	anonymous         bool
	client            *http.Client

	tokens tokens
}

// New returns a store. It sends no request.
func New(options Options) *Store {
	s := &Store{endpoint: strings.TrimRight(options.Endpoint, "/"), project: options.UserProject, anonymous: options.Anonymous, client: options.Client, tokens: tokens{source: options.Tokens}}
	if s.endpoint == "" {
		s.endpoint = "https://storage.googleapis.com"
		if emulator := os.Getenv("STORAGE_EMULATOR_HOST"); emulator != "" {
			s.endpoint, s.anonymous = strings.TrimRight(emulator, "/"), true
			if _, ok := objectstore.SchemeOf(emulator); !ok {
				s.endpoint = "http://" + s.endpoint
			}
		}
	}
	if s.project == "" {
		s.project = os.Getenv("GOOGLE_CLOUD_QUOTA_PROJECT")
	}
	if options.Tokens == nil && strings.EqualFold(os.Getenv("CLOUDSDK_AUTH_DISABLE_CREDENTIALS"), "true") {
		s.anonymous = true
	}
	if s.client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		https.Adapt(transport)
		s.client = &http.Client{Transport: transport}
	}
	return s
}

// location is the bucket and the key of a name, or of the beginning of names.
type location struct{ scheme, bucket, key string }

func locationOf(operation, name string) (l location, err error) {
	scheme, rest, ok := strings.Cut(name, "://")
	bucket, key, slash := strings.Cut(rest, "/")
	if !ok || bucket == "" || !slash {
		err := fmt.Errorf("expected a URL such as gs://bucket/key: %w", objectstore.ErrResponse)
		return location{}, objectstore.NewError(operation, name, err)
	}
	return location{scheme, bucket, key}, nil
}

// object is the path of an object of the JSON interface.
func (l location) object() string {
	return "/storage/v1/b/" + url.PathEscape(l.bucket) + "/o/" + url.PathEscape(l.key)
}

// description is the part of the description of an object that the store uses.
type description struct {
	Name       string            `json:"name"`
	Size       int64             `json:"size,string"`
	Generation string            `json:"generation"`
	Updated    time.Time         `json:"updated"`
	Metadata   map[string]string `json:"metadata"`
}

func (d description) as(name string) objectstore.Object {
	return objectstore.Object{Name: name, Size: d.Size, ETag: d.Generation, Modified: d.Updated}
}

// Stat implements [objectstore.Store].
func (s *Store) Stat(ctx context.Context, name string) (objectstore.Object, error) {
	d, err := s.describe(ctx, "stat", name)
	return d.as(name), err
}

func (s *Store) describe(ctx context.Context, operation, name string) (d description, err error) {
	at, err := locationOf(operation, name)
	if err != nil {
		return description{}, err
	}
	query := url.Values{"fields": {"name,size,generation,updated,metadata"}}
	err = s.receive(ctx, request{operation: operation, name: name, method: http.MethodGet, path: at.object(), query: query}, &d)
	return d, err
}

// receive sends a request and decodes its answer in JSON.
func (s *Store) receive(ctx context.Context, r request, into any) error {
	answer, err := s.send(ctx, r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return objectstore.NewError(r.operation, r.name, objectstore.TransportError(ctx, err))
	}
	if err := json.Unmarshal(text, into); err != nil {
		return objectstore.NewError(r.operation, r.name, fmt.Errorf("the answer is no JSON as expected: %w", objectstore.ErrResponse))
	}
	return nil
}

// ReadRange implements [objectstore.Store].
func (s *Store) ReadRange(ctx context.Context, object objectstore.Object, into []byte, offset int64) error {
	at, err := locationOf("read", object.Name)
	if err != nil || len(into) == 0 {
		return err
	}
	query := url.Values{"alt": {"media"}}
	if object.ETag != "" {
		query.Set("ifGenerationMatch", object.ETag)
	}
	answer, err := s.send(ctx, request{operation: "read", name: object.Name, method: http.MethodGet, path: at.object(), query: query, header: map[string]string{
		"Range":           fmt.Sprintf("bytes=%d-%d", offset, offset+int64(len(into))-1),
		"Accept-Encoding": "gzip", // an object that is stored with this encoding is not decoded
	}})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	fail := func(err error) error { return objectstore.NewError("read", object.Name, err) }
	if generation := answer.Header.Get("X-Goog-Generation"); object.ETag != "" && generation != "" && generation != object.ETag {
		return fail(objectstore.ErrChanged) // of servers that do not compare it
	}
	if begin := fmt.Sprintf("bytes %d-", offset); !strings.HasPrefix(answer.Header.Get("Content-Range"), begin) {
		return fail(fmt.Errorf("the answer is another range: %w", objectstore.ErrResponse))
	}
	n, err := objectstore.ReadFull(ctx, answer.Body, into)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fail(fmt.Errorf("%d of %d bytes from byte %d on: %w", n, len(into), offset, objectstore.ErrTruncated))
	case err != nil:
		return fail(objectstore.TransportError(ctx, err))
	}
	return nil
}

// List implements [objectstore.Store].
func (s *Store) List(ctx context.Context, prefix, token string) (page []objectstore.Object, next string, err error) {
	at, err := locationOf("list", prefix)
	if err != nil {
		return nil, "", err
	}
	query := url.Values{"prefix": {at.key}, "fields": {"nextPageToken,items(name,size,generation,updated)"}, "maxResults": {"1000"}}
	if token != "" {
		query.Set("pageToken", token)
	}
	var answer struct {
		Items         []description `json:"items"`
		NextPageToken string        `json:"nextPageToken"`
	}
	if err := s.receive(ctx, request{operation: "list", name: prefix, method: http.MethodGet, path: "/storage/v1/b/" + url.PathEscape(at.bucket) + "/o", query: query}, &answer); err != nil {
		return nil, "", err
	}
	if answer.NextPageToken != "" && answer.NextPageToken == token {
		return nil, "", objectstore.NewError("list", prefix, fmt.Errorf("the list goes on, and its token is repeated: %w", objectstore.ErrResponse))
	}
	for _, each := range answer.Items {
		page = append(page, each.as(at.scheme+"://"+at.bucket+"/"+each.Name))
	}
	return page, answer.NextPageToken, nil
}

// Put implements [objectstore.Store].
func (s *Store) Put(ctx context.Context, name string, contents []byte) error {
	at, err := locationOf("write", name)
	if err != nil {
		return err
	}
	query := url.Values{"uploadType": {"media"}, "name": {at.key}, "fields": {"generation"}}
	return s.exchange(ctx, request{operation: "write", name: name, method: http.MethodPost, path: "/upload/storage/v1/b/" + url.PathEscape(at.bucket) + "/o", query: query, body: contents,
		header: map[string]string{"Content-Type": "application/octet-stream"}})
}

// Delete implements [objectstore.Deleter].
func (s *Store) Delete(ctx context.Context, name string) error {
	at, err := locationOf("delete", name)
	if err != nil {
		return err
	}
	if err := s.exchange(ctx, request{operation: "delete", name: name, method: http.MethodDelete, path: at.object()}); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// exchange sends a request and reads its answer to the end, so that its connection stays open.
func (s *Store) exchange(ctx context.Context, r request) error {
	answer, err := s.send(ctx, r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return objectstore.NewError(r.operation, r.name, objectstore.TransportError(ctx, err))
	}
	return nil
}

// retryAfter returns the time to wait that an answer has.
func retryAfter(answer *http.Response) time.Duration {
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

var (
	_ objectstore.Store   = (*Store)(nil)
	_ objectstore.Deleter = (*Store)(nil)
)

// Location implements [objectstore.Located]: the endpoint.
func (s *Store) Location() string { return objectstore.Display(s.endpoint) }

var _ objectstore.Located = (*Store)(nil)
