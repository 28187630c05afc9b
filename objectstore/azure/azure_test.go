package azure_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/objectstore"
	"github.com/gpuframe/gpuframe/objectstore/azure"
)

func TestConforms(t *testing.T) {
	objecttest.Conforms(t, storeAt(t, server(t)), bucket+"folder/")
}

// Each kind of credentials reads, and a wrong one is a typed error without the secret.
func TestCredentials(t *testing.T) {
	endpoint := server(t)
	require.NoError(t, storeAt(t, endpoint).Put(t.Context(), bucket+"a", []byte("contents")))
	key, err := service.NewSharedKeyCredential("account", accountKey)
	require.NoError(t, err)
	client, err := service.NewClientWithSharedKeyCredential(endpoint, key, nil)
	require.NoError(t, err)
	signed, err := client.GetSASURL(sas.AccountResourceTypes{Container: true, Object: true, Service: true}, sas.AccountPermissions{Read: true, List: true}, time.Now().Add(time.Hour), nil)
	require.NoError(t, err)
	_, signature, _ := strings.Cut(signed, "?")
	connection := "DefaultEndpointsProtocol=http;AccountName=account;AccountKey=" + accountKey + ";BlobEndpoint=" + endpoint + ";"
	for name, options := range map[string]azure.Options{
		"key": {Account: "account", Endpoint: endpoint, Key: accountKey}, "signature": {Endpoint: endpoint, SAS: "?" + signature}, "connection string": {ConnectionString: connection},
	} {
		store, err := azure.New(options)
		require.NoError(t, err)
		object, err := store.Stat(t.Context(), bucket+"a")
		require.NoError(t, err, name)
		require.EqualValues(t, 8, object.Size)
	}
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", connection)
	store, err := azure.New(azure.Options{})
	require.NoError(t, err)
	_, err = store.Stat(t.Context(), bucket+"a")
	require.NoError(t, err)
	for name, options := range map[string]azure.Options{
		"key": {Account: "account", Endpoint: endpoint, Key: "aGlkZGVu"}, "signature": {Endpoint: endpoint, SAS: "sv=2021-10-04&ss=b&srt=o&sp=r&se=2999-01-01T00:00:00Z&sig=aGlkZGVu"},
		"anonymous": {Endpoint: endpoint, Anonymous: true},
	} {
		store, err := azure.New(options)
		require.NoError(t, err)
		err = store.ReadRange(t.Context(), objectstore.Object{Name: bucket + "a", Size: 8}, make([]byte, 4), 2)
		require.ErrorIs(t, err, fs.ErrPermission, name)
		assert.NotContains(t, err.Error(), "aGlkZGVu", name)
	}
	_, _, err = storeAt(t, endpoint).List(t.Context(), "az://other/", "")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// refusedToken is a credential that fails.
type refusedToken struct{}

func (refusedToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, errors.New("hidden")
}

func TestOptions(t *testing.T) {
	for text, options := range map[string]azure.Options{
		"without an equals sign": {ConnectionString: "hidden"}, "has no AccountKey": {ConnectionString: "AccountName=a;EndpointSuffix=core.windows.net"},
	} {
		_, err := azure.New(options)
		require.ErrorIs(t, err, objectstore.ErrCredentials)
		assert.ErrorContains(t, err, text)
		assert.NotContains(t, err.Error(), "hidden")
	}
	for text, options := range map[string]azure.Options{
		"set AZURE_STORAGE_ACCOUNT": {Anonymous: true}, "not in base 64": {Account: "account", Key: "hidden!"}, "has no credentials": {Account: "account", Credential: refusedToken{}},
	} {
		store, err := azure.New(options)
		require.NoError(t, err)
		_, err = store.Stat(t.Context(), bucket+"a")
		require.ErrorIs(t, err, objectstore.ErrCredentials, text)
		assert.ErrorContains(t, err, text)
		assert.NotContains(t, err.Error(), "hidden")
	}
	store := storeAt(t, "http://127.0.0.1:1")
	for _, name := range []string{"az://container", "az:///key", "container/key", "abfss://container/key"} {
		_, err := store.Stat(t.Context(), name)
		require.ErrorIs(t, err, objectstore.ErrResponse, name)
	}
	_, err := store.Stat(t.Context(), bucket+"a")
	require.ErrorIs(t, err, objectstore.ErrUnavailable)
	require.NoError(t, azure.Registered())
}

// Answers of the service become conditions by their codes.
func TestConditions(t *testing.T) {
	for code, test := range property.InOrder(map[string]struct {
		status int
		want   error
	}{
		"ServerBusy": {503, objectstore.ErrThrottled}, "AuthenticationFailed": {403, objectstore.ErrCredentials}, "InternalError": {500, objectstore.ErrUnavailable},
		"AuthorizationPermissionMismatch": {403, fs.ErrPermission}, "BlobNotFound": {404, fs.ErrNotExist}, "ConditionNotMet": {412, objectstore.ErrChanged},
		"InvalidRange": {416, objectstore.ErrChanged}, "Strange": {409, objectstore.ErrResponse},
	}) {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Ms-Request-Id", "4711")
			w.Header().Set("X-Ms-Error-Code", code)
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(test.status)
		}))
		err := storeAt(t, h.URL).ReadRange(t.Context(), objectstore.Object{Name: bucket + "a", Size: 10, ETag: "x"}, make([]byte, 3), 1)
		h.Close()
		require.ErrorIs(t, err, test.want, code)
		var failed *objectstore.Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, objectstore.Error{Operation: "read", URL: bucket + "a", Status: test.status, Code: code, RequestID: "4711", RetryAfter: 3 * time.Second, Err: failed.Err}, *failed)
		assert.NotContains(t, err.Error(), "127.0.0.1")
	}
}

// redirected sends requests of all hosts to a server, and notes the host.
type redirected struct {
	to   *httptest.Server
	host string
}

func (r *redirected) RoundTrip(request *http.Request) (*http.Response, error) {
	r.host = request.URL.Host
	request.URL.Scheme, request.URL.Host = "http", r.to.Listener.Addr().String()
	return r.to.Client().Transport.RoundTrip(request)
}

// URLs of abfss name the account, and are in errors as they are written.
func TestAccounts(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/container/folder/a", r.URL.Path)
		w.WriteHeader(http.StatusNotFound)
	}))
	defer h.Close()
	transport := &redirected{to: h}
	store, err := azure.New(azure.Options{Anonymous: true, Client: &http.Client{Transport: transport}})
	require.NoError(t, err)
	const name = "abfss://container@other.dfs.core.windows.net/folder/a"
	_, err = store.Stat(t.Context(), name)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, name)
	require.Equal(t, "other.blob.core.windows.net", transport.host)
}

// staticToken is a credential with a token.
type staticToken struct{}

func (staticToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "hidden", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// Credentials are sent to the hosts that they are for, and no request to others that a URL names.
func TestHosts(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }))
	defer h.Close()
	const signature = "sv=2021-10-04&sig=aGlkZGVu"
	every := map[string]azure.Options{
		"key": {Account: "own", Key: "aGlkZGVu"}, "signature": {Account: "own", SAS: signature}, "token": {Account: "own", Credential: staticToken{}},
		"connection string": {ConnectionString: "AccountName=own;AccountKey=aGlkZGVu"}, "signature without an account": {SAS: signature},
		"endpoint": {Account: "own", Key: "aGlkZGVu", Endpoint: "https://files.example:8443/own"}, "token of an endpoint": {Credential: staticToken{}, Endpoint: "https://files.example:8443/own"},
		"anonymous": {Anonymous: true},
	}
	t.Setenv("AZURE_STORAGE_ACCOUNT", "")
	for host, accepted := range property.InOrder(map[string][]string{
		"own.dfs.core.windows.net":             {"key", "signature", "token", "connection string", "endpoint", "token of an endpoint", "anonymous"},
		"OWN.blob.core.chinacloudapi.cn":       {"key", "signature", "token", "connection string", "endpoint", "token of an endpoint", "anonymous"},
		"own.z05.blob.storage.azure.net":       {"key", "signature", "token", "connection string", "endpoint", "token of an endpoint", "anonymous"},
		"other.dfs.core.windows.net":           {"token", "token of an endpoint", "anonymous"},
		"onelake.dfs.fabric.microsoft.com":     {"token", "token of an endpoint", "anonymous"},
		"files.example:8443":                   {"endpoint", "token of an endpoint", "anonymous"},
		"files.example":                        {"anonymous"},
		"other.example":                        {"anonymous"},
		"own.blob.core.windows.net.example":    {"anonymous"},
		"own.blob.core.windows.net:8443":       {"anonymous"},
		"blob.core.windows.net":                {"anonymous"},
		"other.example?.blob.core.windows.net": nil, "other.example#.blob.core.windows.net": nil, "own.blob.core.windows.net@other.example": nil, "": nil,
	}) {
		for name, options := range property.InOrder(every) {
			transport := &redirected{to: h}
			options.Client = &http.Client{Transport: transport}
			store, err := azure.New(options)
			require.NoError(t, err)
			for _, scheme := range []string{"abfss", "az"} {
				transport.host = ""
				_, err = store.Stat(t.Context(), scheme+"://container@"+host+"/a")
				switch {
				case accepted == nil:
					require.ErrorIs(t, err, objectstore.ErrResponse, host)
				case slices.Contains(accepted, name):
					require.ErrorIs(t, err, fs.ErrNotExist, "%s %s", name, host)
					require.Equal(t, strings.Replace(host, ".dfs.", ".blob.", 1), transport.host)
					continue
				default:
					require.ErrorIs(t, err, objectstore.ErrCredentials, "%s %s", name, host)
					require.ErrorContains(t, err, "azure.New")
				}
				require.Empty(t, transport.host)
				require.NotContains(t, err.Error(), "aGlkZGVu")
			}
		}
	}
}

// Each answer of an upload may be lost: the object has all bytes, and the upload has ended.
func TestLostAnswers(t *testing.T) {
	proxy := objecttest.NewProxy(t, strings.TrimSuffix(server(t), "/account"))
	store := objectstore.WithRetry(storeAt(t, proxy.URL+"/account"), objectstore.Retry{Pause: time.Nanosecond})
	contents := bytes.Repeat([]byte("0123456789abcdef"), 1000)
	for lost := int64(1); lost <= 3; lost++ {
		name := bucket + "lost-" + string(rune('0'+lost))
		begin := proxy.Requests.Load()
		proxy.Fault = func(*http.Request) objecttest.Fault {
			if proxy.Requests.Load()-begin == lost {
				return objecttest.Lost
			}
			return objecttest.NoFault
		}
		upload, err := store.Create(t.Context(), name)
		require.NoError(t, err)
		require.NoError(t, upload.WritePart(t.Context(), 0, contents[:9000]))
		require.NoError(t, upload.WritePart(t.Context(), 1, contents[9000:]))
		require.NoError(t, upload.Commit(t.Context(), 2))
		object, err := store.Stat(t.Context(), name)
		require.NoError(t, err)
		read := make([]byte, object.Size)
		require.NoError(t, store.ReadRange(t.Context(), object, read, 0))
		require.True(t, bytes.Equal(contents, read))
	}
}

// Queries write folders and read them, while a part of the requests fail.
func TestQueries(t *testing.T) {
	proxy := objecttest.NewProxy(t, strings.TrimSuffix(server(t), "/account"))
	random := property.Random(t)
	var mu sync.Mutex
	faults := 0
	proxy.Fault = func(r *http.Request) objecttest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(5) > 0 {
			return objecttest.NoFault
		}
		faults++
		kinds := []objecttest.Fault{objecttest.Throttled, objecttest.Failed, objecttest.Reset, objecttest.Short}
		if r.Method != http.MethodGet {
			kinds = append(kinds[:3], objecttest.Lost)
		}
		return kinds[random.IntN(len(kinds))]
	}
	store := objectstore.WithRetry(storeAt(t, proxy.URL+"/account"), objectstore.Retry{Pause: time.Millisecond, MostPause: time.Millisecond, Attempts: 20})
	require.NoError(t, objectstore.Register("azure-faults", func() (objectstore.Store, error) { return store, nil }))
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, gpu.Close()) }()
	builder := array.NewInt64Builder(memory.DefaultAllocator)
	defer builder.Release()
	for n := range 30000 {
		builder.Append(int64(n))
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	record := array.NewRecord(schema, []arrow.Array{builder.NewArray()}, 30000)
	n := gpuframe.Col("n")
	numbers := gpu.Records(schema, record).With(n.Mod(3).As("k"))
	for _, existing := range []gpuframe.Existing{gpuframe.RefuseExisting, gpuframe.OverwritePartitions, gpuframe.OverwriteFolder} {
		options := gpuframe.FolderOptions{PartitionBy: []string{"k"}, FileRows: 4000, Existing: existing, Manifest: "_manifest.json"}
		manifest, err := numbers.WriteFiles(t.Context(), "azure-faults://container/numbers", gpuframe.Parquet(), options)
		require.NoError(t, err)
		require.Len(t, manifest.Files, 9)
		result, err := gpu.Objects(store).Parquet(bucket + "numbers/k=*/*.parquet").Filter(gpuframe.Col("k").Eq(1)).GroupBy().Agg(n.Sum().As("sum")).Collect(t.Context())
		require.NoError(t, err)
		sum, err := result.Record(t.Context())
		require.NoError(t, err)
		assert.Equal(t, int64(10000*(1+29998)/2), sum.Column(0).(*array.Int64).Value(0))
		sum.Release()
		require.NoError(t, result.Release())
	}
	assert.Positive(t, faults)
	_, err = gpu.Objects(store).Parquet(bucket + "none/*.parquet").Collect(t.Context())
	require.ErrorIs(t, err, fs.ErrNotExist)
}
