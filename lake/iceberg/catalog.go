package iceberg

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
	"github.com/gpuframe/gpuframe/objectstore"
)

// CatalogOptions configure a catalog. Secrets of them are in no error.
type CatalogOptions struct {
	// Warehouse names one of the catalog's warehouses. Empty means its default.
	Warehouse string
	// Token is sent as a bearer token. Give this, or ClientID and ClientSecret, or nothing.
	Token string
	// ClientID and ClientSecret get a token by the client credentials of OAuth2. A token that the catalog refuses is renewed.
	ClientID, ClientSecret string
	// TokenURL is where. Empty means v1/oauth/tokens of the catalog.
	TokenURL string
	// Scope is that of the token. Empty means "catalog".
	Scope string
	// Header has further headers of requests to the catalog.
	Header http.Header
	// Client sends requests; redirects are refused. Nil means [http.DefaultClient].
	Client *http.Client
	// Store makes the store of a table by the configuration that the catalog has for it, such as credentials. Nil means the
	// options of the table. With it, requests for tables ask for credentials.
	Store func(ctx context.Context, location string, config map[string]string) (objectstore.Store, error)
}

// Catalog is a catalog with the REST interface of Iceberg. It is safe for concurrent use.
type Catalog struct {
	base    string // without a slash at its end
	prefix  string
	options CatalogOptions
	client  *http.Client

	mu    sync.Mutex
	token string
}

// Connect reads the configuration of a catalog.
//
// # Errors
//
// All are an [*Error]: it wraps [objectstore.ErrCredentials] if the catalog refuses the token, [objectstore.ErrUnavailable] or
// [objectstore.ErrThrottled] if it does not answer, and [ErrCatalog] if the answer does not follow the interface. Requests are sent once.
func Connect(ctx context.Context, address string, options CatalogOptions) (*Catalog, error) {
	c := &Catalog{base: strings.TrimRight(address, "/"), options: options, token: options.Token}
	client := http.DefaultClient
	if options.Client != nil {
		client = options.Client
	}
	refusing := *client
	refusing.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.client = &refusing
	if err := c.configure(ctx); err != nil {
		return nil, failed("connect", address, err)
	}
	return c, nil
}

func (c *Catalog) configure(ctx context.Context) error {
	parsed, err := url.Parse(c.base)
	if err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Host == "" {
		return fmt.Errorf("the address is no URL of http or https: %w", ErrCatalog)
	}
	if c.options.Token != "" && c.options.ClientID != "" {
		return fmt.Errorf("a token and a client ID are given, expected one of them: %w", objectstore.ErrCredentials)
	}
	path := "/v1/config"
	if c.options.Warehouse != "" {
		path += "?warehouse=" + url.QueryEscape(c.options.Warehouse)
	}
	var config struct {
		Defaults  map[string]string `json:"defaults"`
		Overrides map[string]string `json:"overrides"`
	}
	if err := c.get(ctx, path, &config); err != nil {
		return err
	}
	prefix := config.Overrides["prefix"]
	if prefix == "" {
		prefix = config.Defaults["prefix"]
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		c.prefix = "/" + prefix
	}
	return nil
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

func (c *Catalog) open(ctx context.Context, name []string, label string, options Options) (*Table, error) {
	if len(name) < 2 {
		return nil, fmt.Errorf("the name has %d parts, expected a namespace and a table: %w", len(name), ErrCatalog)
	}
	last := len(name) - 1
	path := fmt.Sprintf("/v1%s/namespaces/%s/tables/%s", c.prefix, url.PathEscape(strings.Join(name[:last], "\x1f")), url.PathEscape(name[last]))
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
	t := &Table{name: label, root: pathOf(m.Location), from: storage.Storage{System: options.System, Store: options.Store}, metadata: m}
	return t, t.open(ctx, options)
}

// config is the configuration for files below a location.
func (l *loaded) config(location string) map[string]string {
	config, longest := map[string]string{}, -1
	for key, value := range l.Config {
		config[key] = value
	}
	for _, each := range l.Credentials {
		if strings.HasPrefix(location, each.Prefix) && len(each.Prefix) > longest {
			longest = len(each.Prefix)
			for key, value := range each.Config {
				config[key] = value
			}
		}
	}
	return config
}
