package s3_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/objectstore/s3"
)

const bucket = "s3://bucket/"

// gateway starts versitygw with a bucket in a folder, and returns its URL. It is strict about signatures and conditions.
func gateway(t testing.TB) (endpoint string) {
	t.Helper()
	program := os.Getenv("GPUFRAME_VERSITYGW")
	if program == "" {
		t.Skip("GPUFRAME_VERSITYGW is not set: make objectstore sets it to the server that it builds")
	}
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "bucket"), 0o777))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	server := exec.Command(program, "--access", "user", "--secret", "secret", "--port", address, "--region", "us-east-1", "posix", folder)
	server.Env = append(os.Environ(), "HOME="+folder)
	log, err := os.Create(filepath.Join(folder, "..", "log"))
	require.NoError(t, err)
	server.Stdout, server.Stderr = log, log
	require.NoError(t, server.Start())
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-ended
		_ = log.Close()
	})
	await.Until(t, func() bool {
		select {
		case err := <-ended:
			ended <- err
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("versitygw ended: %v\n%s", err, text)
		default:
		}
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	}, "versitygw answers at %s", address)
	return "http://" + address
}

// storeAt returns the store of an endpoint.
func storeAt(t testing.TB, endpoint, secret string) *s3.Store {
	t.Helper()
	store, err := s3.New(t.Context(), s3.Options{Endpoint: endpoint, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("user", secret, "")})
	require.NoError(t, err)
	return store
}
