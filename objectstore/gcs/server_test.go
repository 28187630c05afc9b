package gcs_test

import (
	"bytes"
	"crypto/md5" // that of ETags
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/objectstore/gcs"
)

const bucket = "gs://bucket/"

// server starts fake-gcs-server with a bucket, and uploads in front of it, and returns its URL.
func server(t testing.TB) (endpoint string) {
	t.Helper()
	program := os.Getenv("GPUFRAME_FAKE_GCS")
	if program == "" {
		t.Skip("GPUFRAME_FAKE_GCS is not set: make objectstore sets it to the server that it builds")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	process := exec.Command(program, "-backend", "memory", "-scheme", "http", "-host", "127.0.0.1", "-port", port, "-public-host", address, "-log-level", "error")
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
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
			t.Fatalf("fake-gcs-server ended: %v\n%s", err, text)
		default:
		}
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	}, "fake-gcs-server answers at %s", address)
	answer, err := http.Post("http://"+address+"/storage/v1/b?project=test", "application/json", strings.NewReader(`{"name": "bucket"}`))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	to, err := url.Parse("http://" + address)
	require.NoError(t, err)
	front := httptest.NewServer(&uploads{to: to, forward: httputil.NewSingleHostReverseProxy(to), list: map[string]*pending{}})
	t.Cleanup(front.Close)
	return front.URL
}

// uploads adds uploads of several parts to fake-gcs-server, as the documents of the XML interface have them.
type uploads struct {
	to      *url.URL
	forward http.Handler
	mu      sync.Mutex
	list    map[string]*pending
}

type pending struct {
	path, key string
	parts     map[string][]byte
}

func (u *uploads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch {
	case r.Method == http.MethodPost && query.Has("uploads"):
		u.mu.Lock()
		defer u.mu.Unlock()
		id := fmt.Sprint("upload-", len(u.list))
		u.list[id] = &pending{path: r.URL.Path, key: r.Header.Get("X-Goog-Meta-Gpuframe-Upload"), parts: map[string][]byte{}}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
	case query.Has("uploadId"):
		u.change(w, r, query)
	default:
		u.forward.ServeHTTP(w, r)
	}
}

func (u *uploads) change(w http.ResponseWriter, r *http.Request, query url.Values) {
	u.mu.Lock()
	defer u.mu.Unlock()
	id := query.Get("uploadId")
	p := u.list[id]
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case p == nil || p.path != r.URL.Path:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<Error><Code>NoSuchUpload</Code><Message>there is no such upload</Message></Error>"))
	case r.Method == http.MethodPut:
		p.parts[query.Get("partNumber")] = body
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, md5.Sum(body)))
	case r.Method == http.MethodDelete:
		u.list[id] = nil
		w.WriteHeader(http.StatusNoContent)
	case u.complete(p, body) != nil:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte("<Error><Code>InvalidPart</Code></Error>"))
	default:
		u.list[id] = nil
		_, _ = w.Write([]byte("<CompleteMultipartUploadResult></CompleteMultipartUploadResult>"))
	}
}

// complete makes an object of parts.
func (u *uploads) complete(p *pending, body []byte) error {
	var list struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Part    []struct{ PartNumber, ETag string }
	}
	if err := xml.Unmarshal(body, &list); err != nil {
		return err
	}
	about, _ := json.Marshal(map[string]any{"name": strings.TrimPrefix(p.path, "/bucket/"), "metadata": map[string]string{"gpuframe-upload": p.key}})
	var object bytes.Buffer
	fmt.Fprintf(&object, "--limit\r\nContent-Type: application/json\r\n\r\n%s\r\n--limit\r\nContent-Type: application/octet-stream\r\n\r\n", about)
	for _, part := range list.Part {
		contents, ok := p.parts[part.PartNumber]
		if !ok || fmt.Sprintf(`"%x"`, md5.Sum(contents)) != part.ETag {
			return fmt.Errorf("part %s", part.PartNumber)
		}
		object.Write(contents)
	}
	object.WriteString("\r\n--limit--\r\n")
	answer, err := http.Post(u.to.String()+"/upload/storage/v1/b/bucket/o?uploadType=multipart", "multipart/related; boundary=limit", &object)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", answer.StatusCode)
	}
	_ = answer.Body.Close()
	return err
}

// storeAt returns the store of an endpoint.
func storeAt(endpoint string) *gcs.Store {
	return gcs.New(gcs.Options{Endpoint: endpoint, Anonymous: true})
}
