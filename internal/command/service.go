package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/gpuframe/gpuframe/observe"
)

// service is a program that has mounted observe.Recorder.Handler.
type service struct {
	base   *url.URL
	client *http.Client
}

// longestReply is the time that a service has for a reply. Tests set a longer one.
var longestReply = 30 * time.Second

// mostReply is the number of bytes that are read of a reply.
const mostReply = 1 << 30

// newService returns a service. A scheme may be left out.
func newService(address string) (*service, error) {
	text := address
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	base, err := url.Parse(text)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address of a service: want http://HOST:PORT/PATH, the path at which the program has mounted observe.Recorder.Handler", address)
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	return &service{base, &http.Client{Timeout: longestReply}}, nil
}

// open requests a path. The caller closes the body.
func (s *service) open(ctx context.Context, path string) (io.ReadCloser, error) {
	address := s.base.JoinPath(path).String()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	reply, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode != http.StatusOK {
		_ = reply.Body.Close()
		return nil, fmt.Errorf("%s: %s: want the path at which the program has mounted observe.Recorder.Handler", address, reply.Status)
	}
	return reply.Body, nil
}

// read reads JSON of a path.
func (s *service) read(ctx context.Context, path string, into any) error {
	body, err := s.open(ctx, path)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(io.LimitReader(body, mostReply)).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", s.base.JoinPath(path), err)
	}
	return nil
}

// isFile reports whether an argument names a file and not a service.
func isFile(argument string) bool {
	_, err := os.Stat(argument)
	return err == nil
}

// readMemory reads the map of the memory of a service, or of a file of `mem snapshot`.
func readMemory(ctx context.Context, from string) (m observe.MemoryMap, err error) {
	if !isFile(from) {
		s, err := newService(from)
		if err != nil {
			return m, err
		}
		err = s.read(ctx, "v1/memory", &m)
		return m, checkVersion(from, m.Version, err)
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		err = fmt.Errorf("%s: want a file of: gpuframe mem snapshot URL -o FILE.json: %w", from, err)
	}
	return m, checkVersion(from, m.Version, err)
}

func checkVersion(from string, version int, err error) error {
	if err == nil && version != observe.MemoryMapVersion {
		return fmt.Errorf("%s: a map of version %d: want version %d: use the gpuframe command of the service's version", from, version, observe.MemoryMapVersion)
	}
	return err
}

// plain replaces characters that could control a terminal. Names come from other programs.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
