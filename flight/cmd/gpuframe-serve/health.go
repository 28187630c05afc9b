package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// health answers /healthz while the process lives, and /readyz while the server takes calls.
type health struct {
	ready  atomic.Bool
	server http.Server
	done   chan struct{}
}

// startHealth listens on an address, or does nothing for an empty one. The caller stops it.
func startHealth(address string) (*health, error) {
	h := &health{done: make(chan struct{})}
	if address == "" {
		close(h.done)
		return h, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--health: %w", err)
	}
	answer := func(ok func() bool, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			if !ok() {
				http.Error(w, "not "+text, http.StatusServiceUnavailable)
				return
			}
			fmt.Fprintln(w, text)
		}
	}
	paths := http.NewServeMux()
	paths.HandleFunc("GET /healthz", answer(func() bool { return true }, "alive"))
	paths.HandleFunc("GET /readyz", answer(h.ready.Load, "ready"))
	const patience = 10 * time.Second
	h.server = http.Server{Addr: listener.Addr().String(), Handler: paths, ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() {
		defer close(h.done)
		_ = h.server.Serve(listener) // its end is that of Close
	}()
	return h, nil
}

// stop ends the answers.
func (h *health) stop() error {
	err := h.server.Close()
	<-h.done
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
