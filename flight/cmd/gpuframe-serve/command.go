package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/flight"
)

// flags are those of the program.
type flags struct {
	listen, device, budget, clients, certificate, key string
	tables, files                                     []string
	anonymous                                         bool
	health                                            string
	drain                                             time.Duration
	limits                                            flight.Limits
}

func newCommand() *cobra.Command {
	var f flags
	command := &cobra.Command{
		Use:           "gpuframe-serve",
		Short:         "Serve tables and queries over Arrow Flight",
		Version:       gpuframe.Version,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true, // main prints them
		Long: "Serve tables and queries over Arrow Flight.\n\nEach flag has a variable of the environment, which counts if the flag is not given: --listen is " + prefix + "LISTEN.\n" +
			"A flag that may be repeated has a value in each line of its variable.",
		RunE: func(command *cobra.Command, _ []string) error {
			if err := fromEnvironment(command.Flags(), os.Environ()); err != nil {
				return err
			}
			return f.serve(command.Context(), func(address net.Addr) {
				fmt.Fprintf(command.OutOrStdout(), "listening on %s\n", address)
			})
		},
	}
	set := command.Flags()
	set.StringVar(&f.listen, "listen", "localhost:8815", "the address to listen on")
	set.StringArrayVar(&f.tables, "table", nil, "a table, NAME=PATH or NAME=PATTERN of files of Parquet, CSV, JSON lines or Arrow IPC; repeat for more")
	set.StringArrayVar(&f.files, "files", nil, "a folder whose files the queries of clients may read, by absolute paths; repeat for more")
	set.StringVar(&f.device, "device", "", "the device; by default the first GPU, or the host if there is none")
	set.StringVar(&f.budget, "budget", "", "the most device memory to use at a time, 8GiB for example")
	set.StringVar(&f.clients, "clients", "", "a file of clients with their tokens and budgets, in JSON")
	set.BoolVar(&f.anonymous, "anonymous", false, "listen on other addresses than this machine's without clients")
	set.StringVar(&f.certificate, "certificate", "", "a file with the server's certificate, for TLS")
	set.StringVar(&f.key, "key", "", "a file with the key of the certificate")
	set.StringVar(&f.health, "health", "", "an address for GET /healthz and /readyz over HTTP, :8816 for example; without it there is no such server")
	set.DurationVar(&f.drain, "drain", 30*time.Second, "how long calls that run may go on after SIGTERM or an interrupt")
	set.IntVar(&f.limits.Streams, "streams", 0, "calls that run at a time for each client (default 64)")
	set.IntVar(&f.limits.Tables, "tables", 0, "tables that each client may upload (default 64)")
	set.DurationVar(&f.limits.Idle, "idle", 0, "how long to wait for a client to take or send a message (default 1m)")
	set.DurationVar(&f.limits.Stream, "stream", 0, "how long a call may take (default 1h)")
	return command
}

// serve serves until the context is done. It calls listening when it accepts connections.
func (f *flags) serve(ctx context.Context, listening func(net.Addr)) (err error) {
	if f.drain < 0 {
		return fmt.Errorf("--drain %v: expected 0s or more", f.drain)
	}
	options, err := f.options()
	if err != nil {
		return err
	}
	health, err := startHealth(f.health)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, health.stop()) }()
	engine, err := f.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	server, err := flight.NewServer(engine, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	for _, table := range f.tables {
		name, source, err := sourceOf(table)
		if err != nil {
			return err
		}
		if err := server.Share(name, source); err != nil {
			return err
		}
	}
	listener, err := f.listener()
	if err != nil {
		return err
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		health.ready.Store(false)
		draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.drain)
		defer cancel()
		_ = server.Shutdown(draining) // Close returns its error again below
	})
	defer func() {
		if !stop() {
			<-stopped
		}
	}()
	health.ready.Store(true)
	listening(listener.Addr())
	return server.Serve(listener)
}

func (f *flags) open() (*gpuframe.Engine, error) {
	var options []gpuframe.Option
	if f.device != "" {
		options = append(options, gpuframe.Device(f.device))
	}
	if f.budget != "" {
		bytes, err := parseBytes(f.budget)
		if err != nil {
			return nil, fmt.Errorf("--budget %w", err)
		}
		options = append(options, gpuframe.Budget(bytes))
	}
	return gpuframe.Open(options...)
}

// options are those of the server.
func (f *flags) options() (flight.Options, error) {
	options := flight.Options{Limits: f.limits}
	if f.clients != "" {
		clients, err := readClients(f.clients)
		if err != nil {
			return options, fmt.Errorf("--clients: %w", err)
		}
		options.Clients = clients
	}
	if len(f.files) > 0 {
		folders, err := openFolders(f.files)
		if err != nil {
			return options, fmt.Errorf("--files: %w", err)
		}
		options.Files = func(string) fs.FS { return folders }
	}
	return options, nil
}

// readClients reads a file of clients.
func readClients(path string) ([]flight.ClientAccess, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []struct{ Name, Token, Budget string }
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // a misspelt budget would be none
	if err := decoder.Decode(&list); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s lists no client", path)
	}
	clients := make([]flight.ClientAccess, len(list))
	for i, c := range list {
		clients[i] = flight.ClientAccess{Name: c.Name, Token: c.Token}
		if c.Budget != "" {
			if clients[i].Budget, err = parseBytes(c.Budget); err != nil {
				return nil, fmt.Errorf("%s: client %q: budget %w", path, c.Name, err)
			}
		}
	}
	return clients, nil
}

// parseBytes returns the number of bytes of a budget.
func parseBytes(text string) (uint64, error) {
	bytes, err := humanize.ParseBytes(text)
	if err != nil {
		return 0, fmt.Errorf("%q: expected a number of bytes, 8GiB for example", text)
	}
	return bytes, nil
}

// sourceOf returns the name and the files of a value of --table.
func sourceOf(table string) (string, flight.Source, error) {
	name, path, ok := strings.Cut(table, "=")
	if !ok || name == "" || path == "" {
		return "", nil, fmt.Errorf("--table %q: expected NAME=PATH", table)
	}
	reads := map[string]flight.Source{
		".parquet": func(e *gpuframe.Engine) gpuframe.Query { return e.Parquet(path) },
		".csv":     func(e *gpuframe.Engine) gpuframe.Query { return e.CSV(path) },
		".jsonl":   func(e *gpuframe.Engine) gpuframe.Query { return e.JSONLines(path) },
		".ndjson":  func(e *gpuframe.Engine) gpuframe.Query { return e.JSONLines(path) },
		".arrow":   func(e *gpuframe.Engine) gpuframe.Query { return e.IPC(path) },
		".arrows":  func(e *gpuframe.Engine) gpuframe.Query { return e.IPC(path) },
	}
	source := reads[strings.ToLower(filepath.Ext(path))]
	if source == nil {
		return "", nil, fmt.Errorf("--table %q: the extension %q is not that of a format: .parquet, .csv, .jsonl, .ndjson, .arrow or .arrows", table, filepath.Ext(path))
	}
	return name, source, nil
}

// listener listens on the address of the flags.
func (f *flags) listener() (net.Listener, error) {
	if (f.certificate == "") != (f.key == "") {
		return nil, errors.New("--certificate and --key are given together")
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return nil, err
	}
	if address, isTCP := listener.Addr().(*net.TCPAddr); f.clients == "" && !f.anonymous && isTCP && !address.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("%s can be reached from other machines, and there are no --clients: give them, or allow everyone with --anonymous", f.listen), listener.Close())
	}
	if f.certificate == "" {
		return listener, nil
	}
	pair, err := tls.LoadX509KeyPair(f.certificate, f.key)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}), nil
}
