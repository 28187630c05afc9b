package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// Conditions to test for with errors.Is, along with [fs.ErrNotExist] and [fs.ErrPermission].
var (
	// ErrCredentials reports credentials that are missing, wrong or expired.
	ErrCredentials = errors.New("the credentials are missing, wrong or expired")
	// ErrChanged reports an object that has changed since it was opened.
	ErrChanged = errors.New("the object has changed since it was opened: run the query again")
	// ErrThrottled reports a store that refuses requests because they are too many.
	ErrThrottled = errors.New("there are too many requests to the store")
	// ErrUnavailable reports a connection that failed, or a fault of the store.
	ErrUnavailable = errors.New("the store is not available")
	// ErrTruncated reports fewer bytes than the store has announced.
	ErrTruncated = errors.New("the answer ends early")
	// ErrScheme reports a URL of a scheme that no imported package has registered.
	ErrScheme = errors.New("the scheme of the URL is not registered")
	// ErrResponse reports an answer that cannot be understood, or another status.
	ErrResponse = errors.New("the answer is not as expected")
)

// Error is an error of a store.
type Error struct {
	// Operation is "stat", "read", "list" or "write".
	Operation string
	// URL names the object as [Display] shows it.
	URL string
	// Status is that of HTTP, or zero without an answer.
	Status int
	// Code is the error code of the provider, such as SlowDown, or empty.
	Code string
	// RequestID is the identifier of the request, by which the provider finds it, or empty.
	RequestID string
	// RetryAfter is the time to wait that the store has sent, or zero.
	RetryAfter time.Duration
	Err        error
}

// NewError returns an error about an object. Its URL is that of [Display].
func NewError(operation, name string, err error) *Error {
	return &Error{Operation: operation, URL: Display(name), Err: err}
}

// Error implements error.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "objectstore: %s %s: %v", e.Operation, Display(e.URL), e.Err)
	var details []string
	if e.Status != 0 {
		details = append(details, fmt.Sprintf("status %d", e.Status))
	}
	if e.Code != "" {
		details = append(details, "code "+e.Code)
	}
	if e.RequestID != "" {
		details = append(details, "request "+e.RequestID)
	}
	if len(details) > 0 {
		fmt.Fprintf(&text, " (%s)", strings.Join(details, ", "))
	}
	return text.String()
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// temporary reports whether the same request may succeed later.
func temporary(err error) bool {
	return errors.Is(err, ErrThrottled) || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrTruncated)
}

// StatusError returns the condition of an answer with a status of HTTP: nil for those below 300.
func StatusError(status int) error {
	switch {
	case status < 300:
		return nil
	case status == 401:
		return fmt.Errorf("%w: %w", ErrCredentials, fs.ErrPermission)
	case status == 403:
		return fs.ErrPermission
	case status == 404, status == 410:
		return fs.ErrNotExist
	case status == 412:
		return ErrChanged
	case status == 416:
		return fmt.Errorf("the object is shorter: %w", ErrChanged)
	case status == 429, status == 503:
		return ErrThrottled
	case status == 408, status >= 500:
		return ErrUnavailable
	}
	return ErrResponse
}

// Display returns a URL without secrets: without a user and a password, and, of http and https, without its query, in
// which signatures are. Other names stay as they are.
func Display(name string) string {
	scheme, ok := SchemeOf(name)
	if !ok {
		return name
	}
	if !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return withoutUser(scheme, name)
	}
	u, err := url.Parse(name)
	if err != nil {
		return scheme + "://…"
	}
	hidden := u.RawQuery != ""
	u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
	if hidden {
		return u.String() + "?…"
	}
	return u.String()
}

// withoutUser returns a URL without what is before the at sign of its host. Of the file systems of Azure, that is a container.
func withoutUser(scheme, name string) string {
	if scheme == "abfss" || scheme == "abfs" {
		return name
	}
	rest := name[len(scheme)+len("://"):]
	host, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		return scheme + "://" + rest[at+1:]
	}
	return name
}

// TransportError returns the error of a request without an answer, or of a body that ended early. It has no URL, because that
// of package net/http has the query. A certificate that is not accepted stays the same error; other failures wrap
// [ErrUnavailable].
func TransportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cancel.Error(ctx)
	}
	var located *url.Error
	if errors.As(err, &located) {
		err = located.Err
	}
	if errors.Is(err, ErrResponse) { // of a check of redirects
		return err
	}
	if refusesCertificate(err) {
		return fmt.Errorf("%w: %w", err, ErrResponse)
	}
	return fmt.Errorf("%w: %w", err, ErrUnavailable)
}

// refusesCertificate reports whether the chain of an error has that of package crypto/tls about a certificate. The type is known
// by its name: with its package, each program with a query would get half a megabyte of cryptography, whether it has a store or not.
func refusesCertificate(err error) bool {
	if err == nil || fmt.Sprintf("%T", err) == "*tls.CertificateVerificationError" {
		return err != nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return slices.ContainsFunc(joined.Unwrap(), refusesCertificate)
	}
	return refusesCertificate(errors.Unwrap(err))
}
