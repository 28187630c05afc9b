package gcs

import (
	"net/http"
	"net/url"
	"sync/atomic"
)

// failingTransport notes the last request without an answer: errors of sources of tokens have it only as a text.
type failingTransport struct{ failed atomic.Pointer[error] }

// RoundTrip implements [http.RoundTripper].
func (f *failingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		var failed error = &url.Error{Op: r.Method, URL: r.URL.Host, Err: err}
		f.failed.Store(&failed)
	}
	return answer, err
}
