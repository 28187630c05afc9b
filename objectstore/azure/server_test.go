package azure_test

import (
	"encoding/base64"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/objectstore/azure"
)

const bucket = "az://container/"

// accountKey is the key of the account of the tests, which is called account.
var accountKey = base64.StdEncoding.EncodeToString([]byte("the key of the account of tests"))

// server starts azurite with a container, and returns the URL of the account.
func server(t testing.TB) (endpoint string) {
	t.Helper()
	program := os.Getenv("GPUFRAME_AZURITE")
	if program == "" {
		t.Skip("GPUFRAME_AZURITE is not set: make objectstore sets it to azurite-blob, which it installs by npm")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	folder := t.TempDir()
	process := exec.Command(program, "--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--disableTelemetry", "--blobHost", "127.0.0.1", "--blobPort", port)
	process.Dir, process.Env = folder, append(os.Environ(), "AZURITE_ACCOUNTS=account:"+accountKey)
	log, err := os.Create(filepath.Join(folder, "log"))
	require.NoError(t, err)
	process.Stdout, process.Stderr = log, log
	require.NoError(t, process.Start())
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	t.Cleanup(func() {
		_ = process.Process.Kill()
		<-ended
		_ = log.Close()
	})
	await.Until(t, func() bool {
		select {
		case err := <-ended:
			ended <- err
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("azurite ended: %v\n%s", err, text)
		default:
		}
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	}, "azurite answers at %s", address)
	endpoint = "http://" + address + "/account"
	key, err := service.NewSharedKeyCredential("account", accountKey)
	require.NoError(t, err)
	client, err := service.NewClientWithSharedKeyCredential(endpoint, key, nil)
	require.NoError(t, err)
	_, err = client.CreateContainer(t.Context(), "container", nil)
	require.NoError(t, err)
	return endpoint
}

// storeAt returns the store of an endpoint.
func storeAt(t testing.TB, endpoint string) *azure.Store {
	t.Helper()
	store, err := azure.New(azure.Options{Account: "account", Endpoint: endpoint, Key: accountKey})
	require.NoError(t, err)
	return store
}
