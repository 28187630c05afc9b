package objectstore

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// registry has the stores of schemes.
var registry = struct {
	sync.Mutex
	schemes map[string]*registered
}{schemes: map[string]*registered{}}

// registered is a store, opened when it is needed first.
type registered struct {
	mu    sync.Mutex
	open  func() (Store, error)
	store Store
}

// modules are the packages to import for the schemes of providers.
var modules = map[string]string{
	"s3": "s3", "gs": "gcs", "az": "azure", "http": "https", "https": "https",
}

// Register adds the store of a scheme. It is opened when a URL of the scheme is read first, and again after an error.
// It returns an error if the scheme is taken, or no scheme of URLs in small letters.
func Register(scheme string, open func() (Store, error)) error {
	if known, ok := SchemeOf(scheme + "://"); !ok || known != scheme {
		return fmt.Errorf("objectstore: register %q: expected a scheme such as s3, of small letters, digits and hyphens", scheme)
	}
	if open == nil {
		return fmt.Errorf("objectstore: register %q: the function that opens the store is nil", scheme)
	}
	registry.Lock()
	defer registry.Unlock()
	if registry.schemes[scheme] != nil {
		return fmt.Errorf("objectstore: register %q: the scheme is taken", scheme)
	}
	registry.schemes[scheme] = &registered{open: open}
	return nil
}

// Schemes returns the registered schemes in order.
func Schemes() []string {
	registry.Lock()
	defer registry.Unlock()
	var schemes []string
	for scheme := range registry.schemes {
		schemes = append(schemes, scheme)
	}
	slices.Sort(schemes)
	return schemes
}

// SchemeOf returns the scheme of a URL. It reports false for other names, such as those of files.
func SchemeOf(name string) (scheme string, ok bool) {
	scheme, _, ok = strings.Cut(name, "://")
	if !ok || scheme == "" || scheme[0] < 'a' || scheme[0] > 'z' {
		return "", false
	}
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '+' && r != '.'
	}
	return scheme, !strings.ContainsFunc(scheme, other)
}

// Open returns the store of a URL. It repeats requests: see [Retry].
func Open(name string) (Store, error) {
	scheme, ok := SchemeOf(name)
	if !ok {
		return nil, &Error{Operation: "open", URL: name, Err: fmt.Errorf("it is no URL: %w", ErrScheme)}
	}
	registry.Lock()
	r := registry.schemes[scheme]
	registry.Unlock()
	if r == nil {
		return nil, &Error{Operation: "open", URL: name, Err: fmt.Errorf("%w: %s", ErrScheme, remedy(scheme))}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.store == nil {
		store, err := r.open()
		if err != nil {
			return nil, &Error{Operation: "open", URL: name, Err: err}
		}
		r.store = WithRetry(store, Retry{})
	}
	return r.store, nil
}

// remedy returns the instruction for a scheme that is not registered.
func remedy(scheme string) string {
	if module := modules[scheme]; module != "" {
		return fmt.Sprintf("import _ \"github.com/gpuframe/gpuframe/objectstore/%s\"", module)
	}
	if known := Schemes(); len(known) > 0 {
		return fmt.Sprintf("the imported packages have %s", strings.Join(known, ", "))
	}
	return "no package of a provider is imported"
}
