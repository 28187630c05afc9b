// Package azure reads and writes blobs of Azure Storage: it registers the schemes az and abfss for queries. Import it for
// that:
//
//	import _ "github.com/gpuframe/gpuframe/objectstore/azure"
//
//	gpu.Parquet("az://container/sales/year=*/*.parquet")
//	gpu.Parquet("abfss://container@account.dfs.core.windows.net/sales/")
//
// The account and its credentials are those of the environment, as the command line of Azure has them:
// AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or with the
// chain of the Azure SDK: the environment, workload and managed identities, and az login. With
// AZURE_SKIP_SIGNATURE=true requests have no credentials, as for public containers. [New] takes all of them from a program.
//
// A key and a signature are only sent to the hosts of their account, or to the endpoint of the options, and tokens only to
// hosts of Azure, or to that endpoint. A URL that names another host is an error that wraps [objectstore.ErrCredentials].
package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/gpuframe/gpuframe/objectstore"
)

var registeredAZ, registeredABFSS = objectstore.Register("az", open), objectstore.Register("abfss", open)

// Registered returns the error of registering the schemes: another package has taken them. Otherwise it returns nil.
func Registered() error { return errors.Join(registeredAZ, registeredABFSS) }

func open() (objectstore.Store, error) { return New(Options{}) }

// Store is the blobs of containers. Names are az://container/key, of the account of the store, or
// abfss://container@account.dfs.core.windows.net/key; keys are not escaped. See [objectstore.Store].
type Store struct {
	settings settings

	mu       sync.Mutex
	services map[string]*service.Client // by their URLs
}

// New returns a store. It sends no request.
func New(options Options) (*Store, error) {
	settings, err := options.settings()
	if err != nil {
		return nil, err
	}
	return &Store{settings: settings, services: map[string]*service.Client{}}, nil
}

// location is where a name is.
type location struct {
	scheme, authority string // of the URL
	endpoint          string // empty means that of the store
	container, key    string
}

func locationOf(operation, name string) (l location, err error) {
	scheme, rest, ok := strings.Cut(name, "://")
	authority, key, slash := strings.Cut(rest, "/")
	l = location{scheme: scheme, authority: authority, container: authority, key: key}
	container, host, remote := strings.Cut(authority, "@")
	if remote {
		l.container, l.endpoint = container, "https://"+strings.Replace(host, ".dfs.", ".blob.", 1)
	}
	if !ok || !slash || l.container == "" || scheme == "abfss" && !remote || remote && !plainHost(host) {
		err := fmt.Errorf("expected a URL such as az://container/key or abfss://container@account.dfs.core.windows.net/key: %w", objectstore.ErrResponse)
		return location{}, objectstore.NewError(operation, name, err)
	}
	return l, nil
}

// container returns the client of the container of a name.
func (s *Store) container(operation, name string) (*container.Client, location, error) {
	at, err := locationOf(operation, name)
	if err != nil {
		return nil, at, err
	}
	endpoint := at.endpoint
	if endpoint == "" {
		endpoint = s.settings.endpoint
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	client := s.services[endpoint]
	if client == nil {
		if client, err = s.settings.open(endpoint); err != nil {
			return nil, at, objectstore.NewError(operation, name, err)
		}
		s.services[endpoint] = client
	}
	return client.NewContainerClient(at.container), at, nil
}

// etagOf returns an ETag without quotes, as lists have it.
func etagOf(etag *azcore.ETag) string {
	if etag == nil {
		return ""
	}
	return strings.Trim(string(*etag), `"`)
}

func valueOf[T any](pointer *T) (value T) {
	if pointer != nil {
		return *pointer
	}
	return value
}

// Stat implements [objectstore.Store].
func (s *Store) Stat(ctx context.Context, name string) (objectstore.Object, error) {
	client, at, err := s.container("stat", name)
	if err != nil {
		return objectstore.Object{}, err
	}
	about, err := client.NewBlobClient(at.key).GetProperties(ctx, nil)
	if err != nil {
		return objectstore.Object{}, failure(ctx, "stat", name, err)
	}
	return objectstore.Object{Name: name, Size: valueOf(about.ContentLength), ETag: etagOf(about.ETag), Modified: valueOf(about.LastModified)}, nil
}

// ReadRange implements [objectstore.Store].
func (s *Store) ReadRange(ctx context.Context, object objectstore.Object, into []byte, offset int64) error {
	client, at, err := s.container("read", object.Name)
	if err != nil || len(into) == 0 {
		return err
	}
	options := &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: offset, Count: int64(len(into))}}
	if object.ETag != "" {
		options.AccessConditions = &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: to.Ptr(azcore.ETag(`"` + object.ETag + `"`))}}
	}
	answer, err := client.NewBlobClient(at.key).DownloadStream(ctx, options)
	if err != nil {
		return failure(ctx, "read", object.Name, err)
	}
	defer answer.Body.Close()
	fail := func(err error) error {
		failed := objectstore.NewError("read", object.Name, err)
		failed.RequestID = valueOf(answer.RequestID)
		return failed
	}
	if begin := fmt.Sprintf("bytes %d-", offset); !strings.HasPrefix(valueOf(answer.ContentRange), begin) {
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
	client, at, err := s.container("list", prefix)
	if err != nil {
		return nil, "", err
	}
	options := &container.ListBlobsFlatOptions{Prefix: &at.key}
	if token != "" {
		options.Marker = &token
	}
	answer, err := client.NewListBlobsFlatPager(options).NextPage(ctx)
	if err != nil {
		return nil, "", failure(ctx, "list", prefix, err)
	}
	if next = valueOf(answer.NextMarker); next != "" && next == token {
		return nil, "", objectstore.NewError("list", prefix, fmt.Errorf("the list goes on, and its token is repeated: %w", objectstore.ErrResponse))
	}
	if answer.Segment == nil {
		return nil, next, nil
	}
	for _, item := range answer.Segment.BlobItems {
		object := objectstore.Object{Name: at.scheme + "://" + at.authority + "/" + valueOf(item.Name)}
		if p := item.Properties; p != nil {
			if valueOf(p.ResourceType) == "directory" { // of an account with folders
				continue
			}
			object.Size, object.ETag, object.Modified = valueOf(p.ContentLength), etagOf(p.ETag), valueOf(p.LastModified)
		}
		page = append(page, object)
	}
	return page, next, nil
}

// Put implements [objectstore.Store].
func (s *Store) Put(ctx context.Context, name string, contents []byte) error {
	client, at, err := s.container("write", name)
	if err != nil {
		return err
	}
	_, err = client.NewBlockBlobClient(at.key).Upload(ctx, streaming.NopCloser(objectstore.Body(ctx, contents)), nil)
	return failure(ctx, "write", name, err)
}

// Delete implements [objectstore.Deleter].
func (s *Store) Delete(ctx context.Context, name string) error {
	client, at, err := s.container("delete", name)
	if err != nil {
		return err
	}
	_, err = client.NewBlobClient(at.key).Delete(ctx, nil)
	if failed := failure(ctx, "delete", name, err); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
		return failed
	}
	return nil
}

var (
	_ objectstore.Store   = (*Store)(nil)
	_ objectstore.Deleter = (*Store)(nil)
)

// Location implements [objectstore.Located]: the endpoint of URLs that have none.
func (s *Store) Location() string { return "azure " + objectstore.Display(s.settings.endpoint) }

var _ objectstore.Located = (*Store)(nil)
