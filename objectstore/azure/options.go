package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/gpuframe/gpuframe/objectstore/https"
)

// Options describe a store. The zero value is that of the environment. At most one kind of credentials is set.
type Options struct {
	// Account is the name of the account of URLs az://container/key. Empty means that of the environment.
	Account string
	// Endpoint is the URL of the account. Empty means https://ACCOUNT.blob.core.windows.net.
	Endpoint string
	// ConnectionString has the account and its credentials.
	ConnectionString string
	// Key is a key of the account.
	Key string
	// SAS is the query of a shared access signature.
	SAS string
	// Credential is a credential of azidentity.
	Credential azcore.TokenCredential
	// Anonymous sends requests without credentials.
	Anonymous bool
	// Client sends requests. Nil means one that keeps connections open.
	Client *http.Client
}

// settings are options with those of the environment.
type settings struct {
	account, endpoint, key, sas string
	credential                  azcore.TokenCredential
	anonymous                   bool
	client                      service.ClientOptions
}

// hasCredentials reports whether options name some.
func (o Options) hasCredentials() bool {
	return o.ConnectionString != "" || o.Key != "" || o.SAS != "" || o.Credential != nil || o.Anonymous
}

// settings returns the settings of options.
func (o Options) settings() (s settings, err error) {
	if !o.hasCredentials() {
		o.ConnectionString, o.Key = os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), os.Getenv("AZURE_STORAGE_KEY")
		o.SAS, o.Anonymous = os.Getenv("AZURE_STORAGE_SAS_TOKEN"), strings.EqualFold(os.Getenv("AZURE_SKIP_SIGNATURE"), "true")
	}
	if o.ConnectionString != "" {
		if o, err = o.connected(); err != nil {
			return settings{}, err
		}
	}
	if o.Account == "" {
		o.Account = os.Getenv("AZURE_STORAGE_ACCOUNT")
	}
	s = settings{account: o.Account, endpoint: strings.TrimRight(o.Endpoint, "/"), key: o.Key, sas: strings.TrimPrefix(o.SAS, "?"), credential: o.Credential, anonymous: o.Anonymous}
	if s.endpoint == "" && s.account != "" {
		s.endpoint = "https://" + s.account + ".blob.core.windows.net"
	}
	if o.Client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		https.Adapt(transport)
		o.Client = &http.Client{Transport: transport}
	}
	s.client.Transport = o.Client
	s.client.Retry = policy.RetryOptions{MaxRetries: -1} // gpuframe repeats requests
	return s, nil
}

// connected returns options with those of their connection string.
func (o Options) connected() (Options, error) {
	values := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimSuffix(o.ConnectionString, ";"), ";") {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return o, fmt.Errorf("the connection string has a part without an equals sign, expected AccountName=…;AccountKey=…: %w", errCredentials)
		}
		values[key] = value
	}
	o.Account, o.Key, o.SAS, o.Endpoint = values["AccountName"], values["AccountKey"], values["SharedAccessSignature"], values["BlobEndpoint"]
	if suffix := values["EndpointSuffix"]; o.Endpoint == "" && suffix != "" {
		protocol := values["DefaultEndpointsProtocol"]
		if protocol == "" {
			protocol = "https"
		}
		o.Endpoint = protocol + "://" + o.Account + ".blob." + suffix
	}
	if o.Key == "" && o.SAS == "" {
		return o, fmt.Errorf("the connection string has no AccountKey and no SharedAccessSignature: %w", errCredentials)
	}
	return o, nil
}

// open returns the client of an account.
func (s settings) open(endpoint string) (*service.Client, error) {
	options := s.client
	if err := s.trusts(endpoint); err != nil {
		return nil, err
	}
	switch {
	case endpoint == "":
		return nil, fmt.Errorf("the account is not known: set AZURE_STORAGE_ACCOUNT, or write abfss://container@account.dfs.core.windows.net/key: %w", errCredentials)
	case s.credential != nil:
		return service.NewClient(endpoint, &typedCredential{s.credential}, &options)
	case s.key != "":
		key, err := service.NewSharedKeyCredential(s.account, s.key)
		if err != nil { // its text has the key
			return nil, fmt.Errorf("the key of the account is not in base 64: %w", errCredentials)
		}
		return service.NewClientWithSharedKeyCredential(endpoint, key, &options)
	case s.sas != "":
		return service.NewClientWithNoCredential(endpoint+"/?"+s.sas, &options)
	case s.anonymous:
		return service.NewClientWithNoCredential(endpoint, &options)
	}
	chain, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, fmt.Errorf("the chain of the Azure SDK has no credentials: %w", errCredentials)
	}
	return service.NewClient(endpoint, &typedCredential{chain}, &options)
}

// typedCredential returns errors with a condition.
type typedCredential struct{ credential azcore.TokenCredential }

// GetToken implements [azcore.TokenCredential].
func (t *typedCredential) GetToken(ctx context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := t.credential.GetToken(ctx, options)
	if err == nil || ctx.Err() != nil {
		return token, err
	}
	return token, &tokenError{err}
}

// tokenError is a token that is not to be had. Its text has not that of the reason, which is an answer of a server.
type tokenError struct{ reason error }

// Error implements error.
func (t *tokenError) Error() string {
	var failed *azidentity.AuthenticationFailedError
	if errors.As(t.reason, &failed) {
		return "the credential of the Azure SDK was refused"
	}
	return "the chain of the Azure SDK has no credentials"
}

// Unwrap returns the condition.
func (t *tokenError) Unwrap() error { return errCredentials }

// NonRetriable marks the error for the SDK: another attempt fails too.
func (t *tokenError) NonRetriable() {}
