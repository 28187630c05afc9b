package iceberg

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/objectstore"
)

const (
	// mostAnswer is the length of an answer of a catalog at most.
	mostAnswer = mostMetadata
	// mostMessage is the length of the message of an error that is kept.
	mostMessage = 1000
)

// get sends a request without contents and decodes its answer.
func (c *Catalog) get(ctx context.Context, path string, answer any) error {
	return c.request(ctx, http.MethodGet, path, nil, answer)
}

// request sends a request and decodes its answer. A token that the catalog refuses is renewed once.
func (c *Catalog) request(ctx context.Context, method, path string, contents []byte, answer any) error {
	token, err := c.bearer(ctx, "")
	if err != nil {
		return err
	}
	err = c.send(ctx, method, path, token, contents, answer)
	if c.options.ClientID == "" || !errors.Is(err, objectstore.ErrCredentials) {
		return err
	}
	if token, err = c.bearer(ctx, token); err != nil {
		return err
	}
	return c.send(ctx, method, path, token, contents, answer)
}

func (c *Catalog) send(ctx context.Context, method, path, token string, contents []byte, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(contents))
	if err != nil {
		return fmt.Errorf("the address is not valid: %w", ErrCatalog) // the reason has the URL
	}
	for name, values := range c.options.Header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	request.Header.Set("Accept", "application/json")
	if contents != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.options.Store != nil {
		request.Header.Set("X-Iceberg-Access-Delegation", "vended-credentials")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return c.do(request, answer)
}

// do sends a request and decodes its answer.
func (c *Catalog) do(request *http.Request, answer any) error {
	response, err := c.client.Do(request)
	if err != nil {
		return objectstore.TransportError(request.Context(), err)
	}
	defer func() { _ = response.Body.Close() }() // the answer was read
	most := int64(mostAnswer)
	if response.StatusCode >= 300 {
		most = 1 << 20
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	if err != nil {
		return objectstore.TransportError(request.Context(), err)
	}
	if response.StatusCode >= 300 {
		return c.refusal(request, response.StatusCode, data)
	}
	if int64(len(data)) > most {
		return fmt.Errorf("the answer has more than %d bytes: %w", most, ErrLimit)
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return fmt.Errorf("the answer of the catalog is no JSON of its interface: %w", ErrCatalog) // the reason may have parts of it
	}
	return nil
}

// refusal is the error of an answer with a status. Secrets that its message repeats are left out.
func (c *Catalog) refusal(request *http.Request, status int, data []byte) error {
	var body struct {
		Error struct {
			Message string `json:"message"`
			Type    string `json:"type"`
		} `json:"error"`
	}
	text := http.StatusText(status)
	if json.Unmarshal(data, &body) == nil && body.Error.Message != "" {
		text = body.Error.Type + ": " + body.Error.Message
	}
	for _, secret := range c.secrets(request) {
		text = strings.ReplaceAll(text, secret, "…")
	}
	if len(text) > mostMessage {
		text = text[:mostMessage]
	}
	condition := objectstore.StatusError(status)
	if status < 400 {
		return fmt.Errorf("the catalog answers %d, a redirect, which is refused: %w", status, ErrCatalog)
	}
	if status == 419 {
		condition = objectstore.ErrCredentials // the token has expired
	}
	if errors.Is(condition, objectstore.ErrResponse) {
		condition = ErrCatalog
	}
	if status == http.StatusConflict {
		condition = ErrConflict
	}
	return &refusedError{status, fmt.Errorf("the catalog answers %d: %q: %w", status, text, condition)}
}

// refusedError is the error of an answer with a status.
type refusedError struct {
	status int
	err    error
}

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

// secrets returns what a request has sent that no error may have, the longest first.
func (c *Catalog) secrets(request *http.Request) []string {
	list := []string{c.options.Token, c.options.ClientSecret, url.QueryEscape(c.options.ClientSecret)}
	for _, value := range request.Header["Authorization"] {
		list = append(list, value, strings.TrimPrefix(value, "Bearer "))
	}
	for _, values := range c.options.Header {
		list = append(list, values...)
	}
	if user := request.URL.User; user != nil {
		password, _ := user.Password()
		list = append(list, password, base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	list = slices.DeleteFunc(list, func(secret string) bool { return secret == "" })
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return list
}

// bearer returns the token, another one than the refused one. Without credentials it is empty.
func (c *Catalog) bearer(ctx context.Context, refused string) (string, error) {
	if c.options.ClientID == "" {
		return c.options.Token, nil
	}
	token := ""
	select {
	case token = <-c.renewal:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { c.renewal <- token }()
	if token != refused {
		return token, nil
	}
	renewed, err := c.requestToken(ctx)
	if err != nil {
		return "", fmt.Errorf("get a token: %w", withoutAbsence(err))
	}
	token = renewed
	return token, nil
}

// requestToken gets a token by the client's credentials.
func (c *Catalog) requestToken(ctx context.Context) (string, error) {
	scope := cmp.Or(c.options.Scope, "catalog")
	address := cmp.Or(c.options.TokenURL, c.tokenURL, c.base+"/v1/oauth/tokens")
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.options.ClientID}, "client_secret": {c.options.ClientSecret}, "scope": {scope}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", fmt.Errorf("the address of tokens is not valid: %w", ErrCatalog)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := c.do(request, &answer); err != nil {
		return "", err
	}
	if answer.Token == "" {
		return "", fmt.Errorf("the answer has no token: %w", ErrCatalog)
	}
	return answer.Token, nil
}
