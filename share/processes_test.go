package share_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

// roleVariable marks this process as the child of a test and names its role.
const roleVariable = "GPUFRAME_SHARE_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role, os.Getenv("GPUFRAME_SHARE_SOCKET"), os.Getenv("GPUFRAME_SHARE_DEVICE")); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// play is the main function of a child. It answers each line of its input with a line.
func play(role, path, name string) (err error) {
	dev, err := device.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mgr.Close()) }()
	if role == "server" {
		return playServer(path, mgr)
	}
	client, err := share.DialContext(context.Background(), path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	var tables []*buffer.Buffer
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		command, argument, _ := strings.Cut(lines.Text(), " ")
		switch command {
		case "open":
			table, err := client.Open(context.Background(), mgr, argument)
			if err != nil {
				return err
			}
			tables = append(tables, table)
			sum, err := checksum(table)
			if err != nil {
				return err
			}
			fmt.Println(sum)
		case "release":
			for _, table := range tables {
				err = errors.Join(err, table.Release())
			}
			tables = nil
			fmt.Println("released", err)
		}
	}
	return lines.Err()
}

// playServer publishes a table and goes on until its input ends.
func playServer(path string, mgr *memory.Manager) error {
	server, err := share.ListenContext(context.Background(), path, share.ServerOptions{Patience: await.Limit})
	if err != nil {
		return err
	}
	numbers, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, numbersSchema, strings.NewReader(`[{"n":1},{"n":2},{"n":3}]`))
	if err != nil {
		return err
	}
	table, err := buffer.FromRecord(mgr, numbers)
	if err != nil {
		return err
	}
	if err := errors.Join(server.Publish(context.Background(), "numbers", table), table.Release()); err != nil {
		return errors.Join(err, server.Close())
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, server.Close())
}

// child is another process.
type child struct {
	t       testing.TB
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func start(t testing.TB, role, path string, dev string) *child {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), roleVariable+"="+role, "GPUFRAME_SHARE_SOCKET="+path, "GPUFRAME_SHARE_DEVICE="+dev,
		"GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	return &child{t, command, in, bufio.NewReader(out)}
}

func (c *child) line() string {
	c.t.Helper()
	text, err := c.out.ReadString('\n')
	require.NoError(c.t, err, text)
	return strings.TrimSpace(text)
}

func (c *child) ask(format string, arguments ...any) string {
	c.t.Helper()
	_, err := fmt.Fprintf(c.in, format+"\n", arguments...)
	require.NoError(c.t, err)
	return c.line()
}

// end lets the child come to its end by itself.
func (c *child) end() {
	c.t.Helper()
	require.NoError(c.t, c.in.Close())
	rest, err := io.ReadAll(c.out)
	require.NoError(c.t, err)
	require.NoError(c.t, c.command.Wait(), "%s", rest)
}

// kill ends it as the system does when memory runs out.
func (c *child) kill() {
	c.t.Helper()
	require.NoError(c.t, c.command.Process.Kill())
	require.Error(c.t, c.command.Wait())
}

func TestProcesses(t *testing.T) {
	onDevices(t, func(t *testing.T, plain, shareable *memory.Manager) {
		server := listen(t, share.ServerOptions{})
		first, second := upload(t, plain, record(t, 3000)), upload(t, shareable, record(t, 100))
		publish(t, server, "first", first)
		publish(t, server, "second", second)
		a := start(t, "client", server.Path(), plain.Device().Name())
		b := start(t, "client", server.Path(), plain.Device().Name())
		for _, c := range []*child{a, b} {
			for name, table := range map[string]*buffer.Buffer{"first": first, "second": second} {
				want, err := checksum(table)
				require.NoError(t, err)
				require.Equal(t, want, c.ask("open %s", name))
			}
		}
		a.ask("open first")
		stats := waitFor(t, server, referencesOf("first", 3))
		table, _ := stats.Table("first")
		assert.Equal(t, 2, table.Clients)
		assert.Equal(t, 2, stats.Clients)

		// One that is killed is noticed, and one that goes by itself too.
		a.kill()
		waitFor(t, server, referencesOf("first", 1))
		assert.Equal(t, "released <nil>", b.ask("release"))
		waitFor(t, server, referencesOf("first", 0))
		b.ask("open second")
		b.kill()
		stats = waitFor(t, server, func(s share.Stats) bool { return s.Clients == 0 })
		assert.Equal(t, []int{0, 0}, []int{stats.Tables[0].References, stats.Tables[1].References})

		c := start(t, "client", server.Path(), plain.Device().Name())
		c.ask("open first")
		require.NoError(t, server.Withdraw("first"))
		require.ErrorContains(t, errors.New(c.ask("open first")), "no such table")
		require.Error(t, c.command.Wait(), "it ends with the error")
		waitFor(t, server, func(s share.Stats) bool { return len(s.Tables) == 1 })
	})
}

// A server that is killed takes no memory from its clients, and leaves a socket
// that the next one replaces.
func TestTheServerIsKilled(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		if dev.Kind() == device.Host {
			requireNothingLeft(t)
		}
		path := socket(t)
		server := start(t, "server", path, dev.Name())
		if line := server.line(); line != "ready" {
			t.Skip(line)
		}
		mgr := devicetest.Manager(t, dev, memory.Options{})
		client, err := share.DialContext(t.Context(), path)
		require.NoError(t, err)
		lazy, err := client.OpenTable(t.Context(), mgr, "numbers")
		require.NoError(t, err)
		table, err := client.Open(t.Context(), mgr, "numbers")
		require.NoError(t, err)
		_, err = share.ListenContext(t.Context(), path, share.ServerOptions{})
		require.ErrorIs(t, err, share.ErrInUse)
		server.kill()
		<-client.Done()
		sum, err := checksum(table)
		require.NoError(t, err)
		c, err := lazy.Column(t.Context(), 0)
		require.NoError(t, err, "descriptors are the client's, too")
		require.NoError(t, errors.Join(c.Release(), lazy.Close()))

		next := start(t, "server", path, dev.Name())
		require.Equal(t, "ready", next.line())
		other, err := share.DialContext(t.Context(), path)
		require.NoError(t, err)
		again, err := other.Open(t.Context(), mgr, "numbers")
		require.NoError(t, err)
		same, err := checksum(again)
		require.NoError(t, err)
		assert.Equal(t, sum, same)
		require.NoError(t, errors.Join(again.Release(), table.Release(), client.Close(), other.Close()))
		next.end()
	})
}
