package gcs

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/gpuframe/gpuframe/objectstore"
)

// uploadKey is the metadata of an object by which its upload knows it.
const uploadKey = "gpuframe-upload"

// upload is an upload of several parts, of the XML interface: the JSON interface has only uploads in one sequence.
type upload struct {
	store *Store
	name  string
	path  string
	id    string // of the service
	key   string // of the metadata

	mu    sync.Mutex
	etags map[int]string // of the parts
	// tried reports that a Commit has failed: it may have been carried out, and its answer lost.
	tried bool
}

// Create implements [objectstore.Store]: an upload of several parts.
func (s *Store) Create(ctx context.Context, name string) (objectstore.Upload, error) {
	at, err := locationOf("write", name)
	if err != nil {
		return nil, err
	}
	segments := strings.Split(at.key, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	u := &upload{store: s, name: name, path: "/" + url.PathEscape(at.bucket) + "/" + strings.Join(segments, "/"), key: rand.Text(), etags: map[int]string{}}
	var created struct {
		UploadID string `xml:"UploadId"`
	}
	header := map[string]string{"Content-Type": "application/octet-stream", "X-Goog-Meta-" + uploadKey: u.key}
	if err := u.receive(ctx, u.request(http.MethodPost, url.Values{"uploads": {""}}, nil, header), &created); err != nil {
		return nil, err
	}
	if u.id = created.UploadID; u.id == "" {
		return nil, objectstore.NewError("write", name, fmt.Errorf("the answer has no identifier of an upload: %w", objectstore.ErrResponse))
	}
	return u, nil
}

func (u *upload) request(method string, query url.Values, body []byte, header map[string]string) request {
	return request{operation: "write", name: u.name, method: method, path: u.path, query: query, body: body, header: header}
}

// receive sends a request and decodes its answer in XML.
func (u *upload) receive(ctx context.Context, r request, into any) error {
	answer, err := u.store.send(ctx, r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return objectstore.NewError(r.operation, r.name, objectstore.TransportError(ctx, err))
	}
	if err := xml.Unmarshal(text, into); err != nil {
		return objectstore.NewError(r.operation, r.name, fmt.Errorf("the answer is no XML as expected: %w", objectstore.ErrResponse))
	}
	return nil
}

// mostParts is the number of parts that the service accepts.
const mostParts = 10_000

// WritePart implements [objectstore.Upload].
func (u *upload) WritePart(ctx context.Context, number int, contents []byte) error {
	if number >= mostParts {
		const limit = int64(mostParts) * objectstore.PartBytes >> 30
		err := fmt.Errorf("the service accepts %d parts, here %d GiB: write several objects: %w", mostParts, limit, errors.ErrUnsupported)
		return objectstore.NewError("write", u.name, err)
	}
	query := url.Values{"partNumber": {strconv.Itoa(number + 1)}, "uploadId": {u.id}}
	answer, err := u.store.send(ctx, u.request(http.MethodPut, query, contents, nil))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body) // the connection stays open
	etag := answer.Header.Get("ETag")
	if etag == "" {
		return objectstore.NewError("write", u.name, fmt.Errorf("the answer has no ETag of the part: %w", objectstore.ErrResponse))
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.etags[number] = etag
	return nil
}

// Commit implements [objectstore.Upload].
func (u *upload) Commit(ctx context.Context, parts int) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	var list bytes.Buffer
	list.WriteString("<CompleteMultipartUpload>")
	for number := range parts {
		fmt.Fprintf(&list, "<Part><PartNumber>%d</PartNumber><ETag>", number+1)
		_ = xml.EscapeText(&list, []byte(u.etags[number]))
		list.WriteString("</ETag></Part>")
	}
	list.WriteString("</CompleteMultipartUpload>")
	var result struct {
		XMLName xml.Name `xml:"CompleteMultipartUploadResult"`
	}
	err := u.receive(ctx, u.request(http.MethodPost, url.Values{"uploadId": {u.id}}, list.Bytes(), map[string]string{"Content-Type": "application/xml"}), &result)
	if again := u.tried; err != nil {
		u.tried = true
		if again && errors.Is(err, fs.ErrNotExist) {
			return u.committed(ctx, err)
		}
	}
	return err
}

// committed returns nil if the object is that of the upload, or the error of the upload. If the service does not answer, it
// returns that error, so that Commit is repeated.
func (u *upload) committed(ctx context.Context, missing error) error {
	d, err := u.store.describe(ctx, "write", u.name)
	switch {
	case err == nil && d.Metadata[uploadKey] == u.key:
		return nil
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return missing
	}
	return err
}

// Abort implements [objectstore.Upload].
func (u *upload) Abort(ctx context.Context) error {
	return u.store.exchange(ctx, u.request(http.MethodDelete, url.Values{"uploadId": {u.id}}, nil, nil))
}
