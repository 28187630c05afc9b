package objecttest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gpuframe/gpuframe/internal/testing/await"
)

// GatewayUser and GatewaySecret are the keys of a [Gateway].
const GatewayUser, GatewaySecret = "user", "secret"

// Gateway is a server of S3 on this machine: versitygw, which is strict about signatures and conditions.
type Gateway struct {
	// URL is the endpoint.
	URL string
	// Bucket is the folder with the objects of s3://bucket.
	Bucket string
}

// StartGateway starts the program that the environment variable GPUFRAME_VERSITYGW names, until the test ends. Without one the
// test is skipped.
func StartGateway(t testing.TB) Gateway {
	t.Helper()
	program := os.Getenv("GPUFRAME_VERSITYGW")
	if program == "" {
		t.Skip("GPUFRAME_VERSITYGW is not set: make objectstore sets it to the server that it builds")
	}
	folder := t.TempDir()
	bucket := filepath.Join(folder, "bucket")
	if err := os.Mkdir(bucket, 0o777); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(program, "--access", GatewayUser, "--secret", GatewaySecret, "--port", address, "--region", "us-east-1", "posix", folder)
	server.Env = append(os.Environ(), "HOME="+folder)
	log, err := os.Create(filepath.Join(folder, "..", "log"))
	if err != nil {
		t.Fatal(err)
	}
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
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
	return Gateway{URL: "http://" + address, Bucket: bucket}
}
