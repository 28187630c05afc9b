package iceberg

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
	"github.com/gpuframe/gpuframe/objectstore"
)

// CatalogOptions configure a catalog. Errors have none of their secrets, and none of the values of Header.
type CatalogOptions struct {
	// Warehouse names one of the catalog's warehouses. Empty means its default.
	Warehouse string
	// Token is sent as a bearer token. Give this, or ClientID and ClientSecret, or nothing.
	Token string
	// ClientID and ClientSecret get a token by the client credentials of OAuth2. A token that the catalog refuses is renewed.
	ClientID, ClientSecret string
	// TokenURL is the address that issues the token. Empty means the one that the catalog's configuration has, or v1/oauth/tokens
	// of the catalog.
	TokenURL string
	// Scope is that of the token. Empty means "catalog".
	Scope string
	// Header has further headers of requests to the catalog.
	Header http.Header
	// Client sends requests; redirects are refused. Nil means [http.DefaultClient].
	Client *http.Client
	// Store makes the store of a table by the configuration that the catalog has for it, such as credentials. Nil means the
	// options of the table. With it, requests for tables ask for credentials. The configuration is that for the location of the
	// table: files elsewhere, such as those of another write.data.path, are read by the same store.
	Store func(ctx context.Context, location string, config map[string]string) (objectstore.Store, error)
}

// Catalog is a catalog with the REST interface of Iceberg. It is safe for concurrent use.
type Catalog struct {
	base      string // without a slash at its end
	prefix    string
	separator string // between the parts of a namespace
	tokenURL  string
	options   CatalogOptions
	client    *http.Client

	// renewal has the token while no request for another one runs.
	renewal chan string
}

// Connect reads the configuration of a catalog.
//
// # Errors
//
// All are an [*Error], which has the address only if it is a valid one: it wraps [objectstore.ErrCredentials] if the catalog refuses the token, [objectstore.ErrUnavailable] or
// [objectstore.ErrThrottled] if it does not answer, and [ErrCatalog] if the answer does not follow the interface. Requests are sent once.
func Connect(ctx context.Context, address string, options CatalogOptions) (*Catalog, error) {
	c := &Catalog{base: strings.TrimRight(address, "/"), separator: "\x1f", options: options, renewal: make(chan string, 1)}
	c.renewal <- options.Token
	client := http.DefaultClient
	if options.Client != nil {
		client = options.Client
	}
	refusing := *client
	refusing.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.client = &refusing
	if !isAddress(c.base) {
		return nil, failed("connect", "catalog", fmt.Errorf("the address is no URL of http or https: %w", ErrCatalog)) // it may have a password
	}
	if err := c.configure(ctx); err != nil {
		return nil, failed("connect", address, err)
	}
	return c, nil
}

// isAddress reports whether a text is a URL of http or https.
func isAddress(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && (parsed.Scheme == "https" || parsed.Scheme == "http") && parsed.Host != ""
}

func (c *Catalog) configure(ctx context.Context) error {
	if c.options.Token != "" && c.options.ClientID != "" {
		return fmt.Errorf("a token and a client ID are given, expected one of them: %w", objectstore.ErrCredentials)
	}
	path := "/v1/config"
	if c.options.Warehouse != "" {
		path += "?warehouse=" + url.QueryEscape(c.options.Warehouse)
	}
	var config serverConfig
	if err := c.get(ctx, path, &config); err != nil {
		return withoutAbsence(err)
	}
	return c.apply(config)
}

// serverConfig is the configuration that a catalog has for its clients.
type serverConfig struct {
	Defaults  map[string]string `json:"defaults"`
	Overrides map[string]string `json:"overrides"`
}

// value returns an override, or else a default, or empty text.
func (s serverConfig) value(key string) string { return cmp.Or(s.Overrides[key], s.Defaults[key]) }

// apply uses a configuration: other addresses of the catalog and of its tokens, the prefix of paths and the separator of namespaces.
func (c *Catalog) apply(config serverConfig) error {
	if prefix := strings.Trim(config.value("prefix"), "/"); prefix != "" {
		c.prefix = "/" + prefix
	}
	if separator := config.value("namespace-separator"); separator != "" {
		unescaped, err := url.PathUnescape(separator)
		if err != nil {
			return fmt.Errorf("the configuration of the catalog has the namespace-separator %.100q, expected an escaped text: %w", separator, ErrCatalog)
		}
		c.separator = unescaped
	}
	c.tokenURL = config.value("oauth2-server-uri")
	address := strings.TrimRight(config.Overrides["uri"], "/")
	for key, text := range map[string]string{"uri": address, "oauth2-server-uri": c.tokenURL} {
		if text == "" {
			continue
		}
		if !isAddress(text) || strings.HasPrefix(c.base, "https:") && !strings.HasPrefix(text, "https:") {
			return fmt.Errorf("the configuration of the catalog has the %s of another kind, expected a URL of https, or of http if the catalog's is one: %w", key, ErrCatalog) // it may have a password
		}
	}
	c.base = cmp.Or(address, c.base)
	return nil
}

// withoutAbsence makes an error of a request that is not for a table one that does not wrap [fs.ErrNotExist].
func withoutAbsence(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%v: expected the address of a REST catalog: %w", err, ErrCatalog)
	}
	return err
}

// loaded is the answer to the request for a table.
type loaded struct {
	Location string            `json:"metadata-location"`
	Metadata json.RawMessage   `json:"metadata"`
	Config   map[string]string `json:"config"`
	// Credentials are those of locations. They precede those of Config.
	Credentials []struct {
		Prefix string            `json:"prefix"`
		Config map[string]string `json:"config"`
	} `json:"storage-credentials"`
}

// Open opens a table by its name: those of namespaces and then its own. The options choose a snapshot as they do in [Open].
//
// # Errors
//
// They are those of [Open] and [Connect]. [io/fs.ErrNotExist] means that the catalog does not have the table.
func (c *Catalog) Open(ctx context.Context, name []string, options Options) (*Table, error) {
	label := strings.Join(name, ".")
	t, err := c.open(ctx, name, label, options)
	if err != nil {
		return nil, failed("load", label, err)
	}
	return t, nil
}

// tablePath returns the path of requests for a table.
func (c *Catalog) tablePath(name []string) (string, error) {
	if len(name) < 2 {
		return "", fmt.Errorf("the name has %d parts, expected a namespace and a table: %w", len(name), ErrCatalog)
	}
	last := len(name) - 1
	return fmt.Sprintf("/v1%s/namespaces/%s/tables/%s", c.prefix, url.PathEscape(strings.Join(name[:last], c.separator)), url.PathEscape(name[last])), nil
}

func (c *Catalog) open(ctx context.Context, name []string, label string, options Options) (*Table, error) {
	path, err := c.tablePath(name)
	if err != nil {
		return nil, err
	}
	var answer loaded
	if err := c.get(ctx, path, &answer); err != nil {
		return nil, err
	}
	m, err := parseMetadata(answer.Metadata)
	if err != nil {
		return nil, inFile(answer.Location, err)
	}
	if c.options.Store != nil && options.Store == nil {
		if options.Store, err = c.options.Store(ctx, m.Location, answer.config(m.Location)); err != nil {
			return nil, fmt.Errorf("open the store of the table: %w", err)
		}
	}
	from := storage.Storage{System: options.System, Store: options.Store}
	root, err := pathOf(from, m.Location)
	if err != nil {
		return nil, fmt.Errorf("its location: %w: %w", err, ErrMetadata)
	}
	t := &Table{name: label, root: root, from: from, metadata: m}
	return t, t.open(ctx, options)
}

// credentialKeys are those of credentials that catalogs also have in the configuration of a table.
var credentialKeys = []string{"s3.access-key-id", "s3.secret-access-key", "s3.session-token", "gcs.oauth2.token"}

// config is the configuration for files below a location. Credentials of it are those of the longest prefix of the location, or
// of the configuration of the table if no prefix matches, never of several.
func (l *loaded) config(location string) map[string]string {
	longest := -1
	for i, each := range l.Credentials {
		if strings.HasPrefix(location, each.Prefix) && (longest < 0 || len(each.Prefix) > len(l.Credentials[longest].Prefix)) {
			longest = i
		}
	}
	config := map[string]string{}
	maps.Copy(config, l.Config)
	if longest < 0 {
		return config
	}
	maps.DeleteFunc(config, func(key, _ string) bool {
		return slices.Contains(credentialKeys, key) || strings.HasPrefix(key, "adls.sas-token")
	})
	maps.Copy(config, l.Credentials[longest].Config)
	return config
}
