package command

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/await"
)

// TestMain runs the command in place of the tests in a process that a test starts.
func TestMain(m *testing.M) {
	if os.Getenv("GPUFRAME_TEST_COMMAND") == "" {
		longestReply = await.Limit
		os.Exit(m.Run())
	}
	ctx, stop := signals()
	defer stop()
	context.AfterFunc(ctx, func() { fmt.Fprintln(os.Stderr, "the signal has arrived") })
	os.Exit(run(ctx, newRoot(), os.Stderr))
}

// started is a process that writes much more than a pipe holds.
type started struct {
	command  *exec.Cmd
	output   *bufio.Reader
	pipe     io.Closer
	messages *bufio.Reader
}

func start(t *testing.T) *started {
	t.Helper()
	s := &started{command: exec.Command(os.Args[0], "query", flights, flights, flights, "--to", "csv", "--device", "host")}
	s.command.Env = append(os.Environ(), "GPUFRAME_TEST_COMMAND=1", "GOMAXPROCS=2")
	out, err := s.command.StdoutPipe()
	require.NoError(t, err)
	messages, err := s.command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, s.command.Start())
	s.output, s.pipe, s.messages = bufio.NewReader(out), out, bufio.NewReader(messages)
	line, err := s.output.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "delay,distance,time\n", line)
	return s
}

// A reader that ends early ends the command, without a message.
func TestBrokenPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command reports the errors of Windows for a closed pipe")
	}
	s := start(t)
	require.NoError(t, s.pipe.Close())
	messages, err := io.ReadAll(s.messages)
	require.NoError(t, err)
	require.NoError(t, s.command.Wait())
	assert.Empty(t, string(messages))
}

// An interrupt ends the command within a batch. It would report memory that is in use.
func TestInterruptedProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("os.Process cannot send an interrupt on Windows")
	}
	s := start(t)
	require.NoError(t, s.command.Process.Signal(os.Interrupt))
	line, err := s.messages.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "the signal has arrived\n", line)
	rows, err := io.Copy(io.Discard, s.output)
	require.NoError(t, err)
	assert.Less(t, rows, int64(4<<20), "most rows were not written")
	messages, err := io.ReadAll(s.messages)
	require.NoError(t, err)
	assert.Equal(t, "gpuframe: interrupted\n", string(messages))
	var status *exec.ExitError
	require.ErrorAs(t, s.command.Wait(), &status)
	assert.Equal(t, 130, status.ExitCode())
}

// TestProgress draws a line, and removes it at the end, also if the total is not known. Nothing is
// drawn of short work.
func TestProgress(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var w bytes.Buffer
	p := newProgressOn(&w, 60, "reading", "rows", func() time.Time { return now })
	p.report(5, 10)
	require.Empty(t, w.String())
	now = now.Add(2 * time.Second)
	p.report(1_000_000, -1)
	p.report(1_000_001, -1) // too early after the first
	require.Equal(t, "\rreading 1,000,000 rows, 500,000 a second\r", w.String())
	w.Reset()
	now = now.Add(2 * time.Second)
	p.report(4, 10)
	require.Equal(t, "\rreading 4 of 10 rows (40 %), 1 a second, 6s left\r", w.String())
	w.Reset()
	p.end()
	p.end()
	require.Equal(t, "\r"+strings.Repeat(" ", 48)+"\r", w.String())

	w.Reset()
	p = newProgress(&w, "reading", "rows")
	p.begun = time.Time{}
	p.report(5, 10)
	p.end()
	require.Empty(t, w.String(), "it is no terminal")
}
