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

// remedies are the instructions for the schemes of providers.
var remedies = map[string]string{
	"s3": `import _ "github.com/gpuframe/gpuframe/objectstore/s3"`, "gs": `import _ "github.com/gpuframe/gpuframe/objectstore/gcs"`,
	"az": `import _ "github.com/gpuframe/gpuframe/objectstore/azure"`, "abfss": `import _ "github.com/gpuframe/gpuframe/objectstore/azure"`,
	"http": `import _ "github.com/gpuframe/gpuframe/objectstore/https"`, "https": `import _ "github.com/gpuframe/gpuframe/objectstore/https"`,
}

// Register adds the store of a scheme. It is opened when a URL of the scheme is read first, and again after an error.
// It returns an error if the scheme is taken, is that of files, or is no scheme of URLs in small letters.
func Register(scheme string, open func() (Store, error)) error {
	if known, ok := SchemeOf(scheme + "://"); !ok || known != scheme || scheme != strings.ToLower(scheme) {
		return fmt.Errorf("objectstore: register %q: expected a scheme such as s3, of small letters, digits and hyphens", scheme)
	}
	if open == nil {
		return fmt.Errorf("objectstore: register %q: the function that opens the store is nil", scheme)
	}
	if scheme == "file" {
		return fmt.Errorf("objectstore: register %q: it is the scheme of files", scheme)
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

// SchemeOf returns the scheme of a URL as it is written. [Open] accepts those in small letters. It reports false for other names, such as those of files.
func SchemeOf(name string) (scheme string, ok bool) {
	scheme, _, ok = strings.Cut(name, "://")
	letter := func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
	other := func(r rune) bool { return !letter(r) && (r < '0' || r > '9') && r != '-' && r != '+' && r != '.' }
	if !ok || scheme == "" || !letter(rune(scheme[0])) || strings.ContainsFunc(scheme, other) {
		return "", false
	}
	return scheme, true
}

// Open returns the store of a URL. It repeats requests: see [EnsureRetry].
func Open(name string) (Store, error) {
	scheme, ok := SchemeOf(name)
	if !ok {
		return nil, NewError("open", name, fmt.Errorf("it is no URL: %w", ErrScheme))
	}
	if small := strings.ToLower(scheme); small != scheme {
		return nil, NewError("open", name, fmt.Errorf("write the scheme in small letters, as %s: %w", small, ErrScheme))
	}
	registry.Lock()
	r := registry.schemes[scheme]
	registry.Unlock()
	if r == nil {
		return nil, NewError("open", name, fmt.Errorf("%w: %s", ErrScheme, remedy(scheme)))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.store == nil {
		store, err := r.open()
		if err == nil && store == nil {
			err = fmt.Errorf("the function that opens the store has returned nil: %w", ErrScheme)
		}
		if err != nil {
			return nil, NewError("open", name, err)
		}
		ensured := *EnsureRetry(store).(*retrying)
		ensured.registered = true
		r.store = &ensured
	}
	if _, err := sharedCache(); err != nil {
		return nil, NewError("open", name, err)
	}
	return r.store, nil
}

// remedy returns the instruction for a scheme that is not registered.
func remedy(scheme string) string {
	if text := remedies[scheme]; text != "" {
		return text
	}
	if known := Schemes(); len(known) > 0 {
		return fmt.Sprintf("the imported packages have %s", strings.Join(known, ", "))
	}
	return "no package of a provider is imported"
}
