package gcs

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/gpuframe/gpuframe/objectstore"
)

// request is a request about an object.
type request struct {
	operation, name string
	method          string
	path            string // escaped
	query           url.Values
	header          map[string]string
	body            []byte
}

// send sends a request. The caller closes the body of the answer. An answer that refuses is an error.
func (s *Store) send(ctx context.Context, r request) (*http.Response, error) {
	fail := func(err error) error { return objectstore.NewError(r.operation, r.name, err) }
	address := s.endpoint + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	var body io.Reader
	if len(r.body) > 0 {
		body = objectstore.Body(ctx, r.body)
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, fail(fmt.Errorf("the endpoint or the name is not valid: %w", objectstore.ErrResponse))
	}
	sent.ContentLength = int64(len(r.body))
	for key, value := range r.header {
		sent.Header.Set(key, value)
	}
	if s.project != "" {
		sent.Header.Set("X-Goog-User-Project", s.project)
	}
	if err := s.authorize(ctx, sent); err != nil {
		return nil, fail(err)
	}
	answer, err := s.client.Do(sent)
	if err != nil {
		return nil, fail(objectstore.TransportError(ctx, err))
	}
	if answer.StatusCode < 300 {
		return answer, nil
	}
	defer answer.Body.Close()
	return nil, refused(r, answer)
}

// mostErrorBytes is the length of an error of the service that is read.
const mostErrorBytes = 1 << 16

// refused returns the error of an answer.
func refused(r request, answer *http.Response) error {
	failed := objectstore.NewError(r.operation, r.name, objectstore.StatusError(answer.StatusCode))
	if failed.Err == nil || answer.StatusCode < 400 {
		failed.Err = objectstore.ErrResponse
	}
	failed.Status, failed.RequestID, failed.RetryAfter = answer.StatusCode, answer.Header.Get("X-Guploader-Uploadid"), retryAfter(answer)
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostErrorBytes))
	if err != nil {
		return failed
	}
	var message string
	if failed.Code, message = described(text); message != "" {
		failed.Err = fmt.Errorf("%s: %w", message, failed.Err)
	}
	return failed
}

// described returns the code and the message of an error of the service, in JSON or in XML.
func described(text []byte) (code, message string) {
	var inJSON struct {
		Error struct {
			Message string `json:"message"`
			Errors  []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &inJSON) == nil {
		if list := inJSON.Error.Errors; len(list) > 0 {
			code = list[0].Reason
		}
		return code, inJSON.Error.Message
	}
	var inXML struct {
		Code    string
		Message string
	}
	if xml.Unmarshal(text, &inXML) == nil {
		return inXML.Code, inXML.Message
	}
	return "", ""
}
