package gcs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/gpuframe/gpuframe/objectstore"
)

// scope is the permission that tokens have.
const scope = "https://www.googleapis.com/auth/devstorage.read_write"

// tokenTime is the time of a request for a token.
const tokenTime = 30 * time.Second

var errCredentials = fmt.Errorf("%w: %w", objectstore.ErrCredentials, fs.ErrPermission)

// tokens are the tokens of a store. One fetch at a time asks for them, and all requests wait for it, each until its context
// ends: sources of tokens have no context. It is safe for concurrent use.
type tokens struct {
	mu    sync.Mutex
	fetch *tokenFetch // that is under way, or nil
	// source and transport belong to the fetch that is under way. source is nil before the first one.
	source    oauth2.TokenSource
	transport failingTransport
}

// tokenFetch is a call of the source.
type tokenFetch struct {
	done  chan struct{} // closed at the end
	token *oauth2.Token
	err   error
}

// authorize adds a token to a request.
func (s *Store) authorize(ctx context.Context, r *http.Request) error {
	if s.anonymous {
		return nil
	}
	token, err := s.tokens.get(ctx)
	if err == nil {
		token.SetAuthHeader(r)
	}
	return err
}

// get returns a token.
func (t *tokens) get(ctx context.Context) (*oauth2.Token, error) {
	if ctx.Err() != nil {
		return nil, objectstore.TransportError(ctx, ctx.Err())
	}
	t.mu.Lock()
	fetch := t.fetch
	if fetch == nil {
		fetch = &tokenFetch{done: make(chan struct{})}
		t.fetch = fetch
		go t.run(fetch)
	}
	t.mu.Unlock()
	select {
	case <-fetch.done:
		return fetch.token, fetch.err
	case <-ctx.Done():
		return nil, objectstore.TransportError(ctx, ctx.Err())
	}
}

// run calls the source, without the lock.
func (t *tokens) run(fetch *tokenFetch) {
	fetch.token, fetch.err = t.call()
	t.mu.Lock()
	t.fetch = nil
	t.mu.Unlock()
	close(fetch.done)
}

func (t *tokens) call() (*oauth2.Token, error) {
	t.transport.failed.Store(nil)
	if t.source == nil {
		client := &http.Client{Transport: &t.transport, Timeout: tokenTime}
		credentials, err := google.FindDefaultCredentials(context.WithValue(context.Background(), oauth2.HTTPClient, client), scope)
		if err != nil {
			return nil, fmt.Errorf("there are no application default credentials: set GOOGLE_APPLICATION_CREDENTIALS, or CLOUDSDK_AUTH_DISABLE_CREDENTIALS=true for public buckets: %w", errCredentials)
		}
		t.source = credentials.TokenSource
	}
	token, err := t.source.Token()
	if err == nil {
		return token, nil
	}
	if failed := t.transport.failed.Load(); failed != nil {
		err = *failed // sources do not always wrap it
	}
	return nil, tokenError(err)
}

// refusals are the codes of RFC 6749 about a request for a token.
var refusals = []string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope"}

// tokenError returns the error of a request for a token, without the text of its answer, which may have secrets. Only errors
// of the network, and of a server that is not available, are repeated.
func tokenError(err error) error {
	var refused *oauth2.RetrieveError
	var located *url.Error
	var network net.Error
	switch {
	case errors.As(err, &refused) && refused.Response != nil:
		status := refused.Response.StatusCode
		condition := errCredentials
		if status == http.StatusTooManyRequests {
			condition = objectstore.ErrThrottled
		} else if status >= 500 {
			condition = objectstore.ErrUnavailable
		}
		if slices.Contains(refusals, refused.ErrorCode) {
			return fmt.Errorf("request a token: status %d, %s: %w", status, refused.ErrorCode, condition)
		}
		return fmt.Errorf("request a token: status %d: %w", status, condition)
	case errors.As(err, &located), errors.As(err, &network):
		return fmt.Errorf("request a token: %w", objectstore.TransportError(context.Background(), err))
	}
	return fmt.Errorf("request a token: the credentials give none: %w", errCredentials)
}
