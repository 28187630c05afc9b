package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/flight"
)

// status returns the status and the text of a path of the health server.
func status(t *testing.T, address, path string) string {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return fmt.Sprint(response.StatusCode, " ", strings.TrimSpace(string(text)))
}

// freeAddress returns an address on which nothing listens.
func freeAddress(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// TestShutdown lets a stream end that runs when the server is stopped, refuses new ones, and is not ready meanwhile.
func TestShutdown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	// More than the buffers between server and client hold, so that the call does not end before the rows are read.
	csv := write(t, "numbers.csv", "n\n"+strings.Repeat("1\n", 4_000_000))
	f := flags{listen: "127.0.0.1:0", device: "host", health: freeAddress(t), drain: time.Hour, tables: []string{"numbers=" + csv}}
	addresses, served := make(chan net.Addr, 1), make(chan error, 1)
	go func() { served <- f.serve(ctx, func(address net.Addr) { addresses <- address }) }()
	address := (<-addresses).String()
	require.Equal(t, "200 alive", status(t, f.health, "/healthz"))
	require.Equal(t, "200 ready", status(t, f.health, "/readyz"))
	require.Equal(t, "404 404 page not found", status(t, f.health, "/"))
	client, err := flight.Dial(address, flight.DialOptions{})
	require.NoError(t, err)
	defer client.Close()
	reader, err := client.Read(t.Context(), "numbers")
	require.NoError(t, err)
	defer reader.Release()
	require.True(t, reader.Next())
	cancel()
	for { // the listener closes soon after the signal
		connection, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		connection.Close()
	}
	require.Equal(t, "503 not ready", status(t, f.health, "/readyz"))
	rows := reader.Record().NumRows()
	for reader.Next() {
		rows += reader.Record().NumRows()
	}
	require.NoError(t, reader.Err())
	require.EqualValues(t, 4_000_000, rows, "the stream ends whole")
	require.NoError(t, <-served)
}

// TestShutdownEndsCalls after the time of --drain.
func TestShutdownEndsCalls(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	csv := write(t, "numbers.csv", "n\n"+strings.Repeat("1\n", 4_000_000))
	f := flags{listen: "127.0.0.1:0", device: "host", tables: []string{"numbers=" + csv}}
	addresses, served := make(chan net.Addr, 1), make(chan error, 1)
	go func() { served <- f.serve(ctx, func(address net.Addr) { addresses <- address }) }()
	client, err := flight.Dial((<-addresses).String(), flight.DialOptions{})
	require.NoError(t, err)
	defer client.Close()
	reader, err := client.Read(t.Context(), "numbers")
	require.NoError(t, err)
	defer reader.Release()
	require.True(t, reader.Next())
	cancel()
	require.NoError(t, <-served, "no one takes the rest of the stream")
}

func TestEnvironment(t *testing.T) {
	for want, environment := range map[string][]string{
		"":                             {"GPUFRAME_SERVE_LISTEN=:1", "GPUFRAME_SERVE_TABLE=a=a.csv\n\n b=b.csv\n", "GPUFRAME_SERVE_DRAIN=5s", "PATH=x", "GPUFRAME_SERVE_BUDGET="},
		"no variable of a flag":        {"GPUFRAME_SERVE_BUGDET=1GiB"},
		"GPUFRAME_SERVE_HELP is no":    {"GPUFRAME_SERVE_HELP=true"},
		"GPUFRAME_SERVE_VERSION is no": {"GPUFRAME_SERVE_VERSION=true"},
		"GPUFRAME_SERVE_PORTS is no":   {"GPUFRAME_SERVE_PORTS=1"},
		"not a value of --idle":        {"GPUFRAME_SERVE_IDLE=soon"},
		"not a value of --anonymous: ": {"GPUFRAME_SERVE_ANONYMOUS=perhaps"},
	} {
		command := newCommand()
		require.NoError(t, command.ParseFlags([]string{"--listen", ":2"}))
		err := fromEnvironment(command.Flags(), environment)
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, ":2", command.Flag("listen").Value.String(), "the flag counts more")
		require.Equal(t, "[a=a.csv,b=b.csv]", command.Flag("table").Value.String())
		require.Equal(t, "5s", command.Flag("drain").Value.String())
	}
}

// TestServiceLinks ignores the variables that the kubelet makes of Services: see MakeEnvVars of Kubernetes.
func TestServiceLinks(t *testing.T) {
	var environment []string
	for _, service := range []string{"", "CANARY_"} {
		for _, name := range []string{
			"SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_FLIGHT", "PORT", "PORT_8815_TCP", "PORT_8815_TCP_PROTO", "PORT_8815_TCP_PORT", "PORT_8815_TCP_ADDR",
		} {
			environment = append(environment, prefix+service+name+"=tcp://10.0.0.1:8815")
		}
	}
	command := newCommand()
	require.NoError(t, command.ParseFlags(nil))
	require.NoError(t, fromEnvironment(command.Flags(), environment))
	command.Flags().Visit(func(f *pflag.Flag) { t.Errorf("--%s is set", f.Name) })
}

// TestDeployments has flags and variables of the files of deploy/ that exist, and paths that the server answers.
func TestDeployments(t *testing.T) {
	command := newCommand()
	known := map[string]bool{}
	command.Flags().VisitAll(func(f *pflag.Flag) { known[variable(f.Name)] = true })
	for file, parts := range map[string][]string{
		"Dockerfile":             {"distroless", "--env GPUFRAME_SERVE_CLIENTS=", "GPUFRAME_SERVE_HEALTH", "USER ", "NVIDIA_VISIBLE_DEVICES"},
		"gpuframe-serve.service": {"KillSignal=SIGTERM", "TimeoutStopSec=", "DynamicUser="},
		"kubernetes.yaml":        {"nvidia.com/gpu", "enableServiceLinks: false", "path: /healthz", "path: /readyz", "terminationGracePeriodSeconds", "readOnlyRootFilesystem: true"},
	} {
		text, err := os.ReadFile(filepath.Join("../../../deploy", file))
		require.NoError(t, err)
		for _, part := range parts {
			require.Contains(t, string(text), part, file)
		}
		for _, name := range regexp.MustCompile(`GPUFRAME_SERVE_[A-Z]+`).FindAllString(string(text), -1) {
			require.True(t, known[name], "%s of %s is no variable of a flag", name, file)
		}
	}
}
