package observe

import (
	"net/http"
	"sync"
)

// servers has for each server of requests a channel that is closed when its Shutdown begins.
// Shutdown waits for requests, and those that stream or wait would never end.
type servers struct {
	mu     sync.Mutex
	ending map[*http.Server]chan struct{}
}

// endingOf returns the channel of the server of a request, nil if the request does not name one.
func (s *servers) endingOf(request *http.Request) <-chan struct{} {
	server, ok := request.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ending, ok := s.ending[server]; ok {
		return ending
	}
	if s.ending == nil {
		s.ending = map[*http.Server]chan struct{}{}
	}
	ending := make(chan struct{})
	s.ending[server] = ending
	server.RegisterOnShutdown(sync.OnceFunc(func() { close(ending) })) // a server may be shut down twice
	return ending
}
