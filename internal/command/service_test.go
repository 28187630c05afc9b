package command

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe"
)

// screen is what a terminal shows of the sequences that the command writes. Any other
// sequence fails the test.
type screen struct {
	t     *testing.T
	lines []string
	at    int
	// other reports whether the screen for full-screen programs is on.
	other bool
	drawn chan string
}

func (s *screen) Write(p []byte) (int, error) {
	text := string(p)
	for text != "" {
		switch {
		case strings.HasPrefix(text, enterScreen):
			s.other, s.lines, text = true, nil, text[len(enterScreen):]
		case strings.HasPrefix(text, leaveScreen):
			s.other, text = false, text[len(leaveScreen):]
		case strings.HasPrefix(text, home):
			s.at, text = 0, text[len(home):]
		case strings.HasPrefix(text, clearRest):
			s.lines, text = s.lines[:s.at], text[len(clearRest):]
			s.drawn <- strings.Join(s.lines, "\n")
		default:
			line, rest, ended := strings.Cut(text, clearLine)
			require.True(s.t, ended, "%q", text)
			require.NotContains(s.t, line, "\x1b")
			require.NotContains(s.t, line, "\n")
			if s.at == len(s.lines) {
				s.lines = append(s.lines, "")
			}
			s.lines[s.at], text = line, rest
			s.at++
		}
	}
	return len(p), nil
}

func figures() observe.Snapshot {
	return observe.Snapshot{
		Version: observe.Version, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local),
		Managers: []observe.Manager{{
			Name: "service", Budget: 1 << 30, InUse: 512 << 20, Peak: 600 << 20, Blocks: 12, Failures: 1,
			Cache: &observe.Cache{Cached: 64 << 20},
			Tags: []observe.Tag{
				{Name: "z large", InUse: 500 << 20, Peak: 500 << 20, Blocks: 10},
				{Name: "a \x1b[2Jsmall\n", InUse: 12 << 20, Peak: 20 << 20, Blocks: 2}, {Name: "gone"},
			},
			Children: []observe.Manager{{Name: "tenant", Tenant: "tenant", Budget: 1 << 20, InUse: 1 << 20}},
		}},
		Queries:  []observe.Query{{ID: 7, State: "waiting", Seconds: 1.25, Rows: 1000, OfRows: 5000, Tag: "report", Manager: "tenant", Operation: "sort"}},
		Failures: []observe.Failure{{Time: time.Date(2026, 1, 2, 3, 4, 0, 0, time.Local), Bytes: 2 << 30, Tag: "join", Reason: "budget"}},
		Kernels:  []observe.Kernels{{Device: "cuda:0", Launches: 12345, LoadSeconds: 0.25}},
	}
}

const drawn = `gpuframe  03:04:05  0 running, 1 waiting

MANAGER   IN USE                BUDGET   PEAK     CACHED  BLOCKS  WAITING  FAILED
service   [|||||     ] 512 MiB  1.0 GiB  600 MiB  64 MiB  12      0        1
  tenant  [||||||||||] 1.0 MiB  1.0 MiB  0 B              0       0        0
kernels on cuda:0: 12,345 launches, 250ms of loading code

QUERY  STATE    SECONDS  ROWS            IN USE  MANAGER  TAG     OPERATION
7      waiting  1.2      1,000 of 5,000  0 B     tenant   report  sort

last failure 03:04:00: 2.0 GiB for tag join, budget

TAG           IN USE   PEAK     BLOCKS
`

// TestTopOnATerminal records what a terminal shows while it is used.
func TestTopOnATerminal(t *testing.T) {
	keys, ticks := make(chan byte), make(chan time.Time)
	columns, lines := 100, 40
	s := &screen{t: t, drawn: make(chan string, 1)}
	top := terminal{w: s, keys: keys, ticks: ticks, size: func() (int, int) { return columns, lines }}
	reads := 0
	ended := make(chan error)
	go func() {
		ended <- top.run(t.Context(), func(context.Context) (observe.Snapshot, error) {
			if reads++; reads == 2 {
				return observe.Snapshot{}, errors.New("connection refused\x1b[2J")
			}
			return figures(), nil
		})
	}()
	trimmed := func(text string) string {
		all := strings.Split(text, "\n")
		for i := range all {
			all[i] = strings.TrimRight(all[i], " ")
		}
		return strings.Join(all, "\n")
	}
	const large, small = "z large       500 MiB  500 MiB  10", "a �[2Jsmall�  12 MiB   20 MiB   2"
	assert.Equal(t, drawn+large+"\n"+small, trimmed(<-s.drawn))
	keys <- 'n'
	assert.Equal(t, drawn+small+"\n"+large, trimmed(<-s.drawn))
	ticks <- time.Time{}
	assert.Equal(t, "connection refused�[2J\n"+drawn+small+"\n"+large, trimmed(<-s.drawn), "the last figures stay")
	ticks <- time.Time{}
	assert.Equal(t, drawn+small+"\n"+large, trimmed(<-s.drawn))
	columns, lines = 20, 4
	keys <- 'b'
	assert.Equal(t, "gpuframe  03:04:05\n\nMANAGER   IN USE", trimmed(<-s.drawn), "a small window")
	keys <- 'q'
	require.NoError(t, <-ended)
	assert.False(t, s.other, "the screen is as it was")
}

func TestTopEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &screen{t: t, drawn: make(chan string, 1)}
	top := terminal{w: s, size: func() (int, int) { return 80, 24 }}
	ended := make(chan error)
	go func() {
		ended <- top.run(ctx, func(context.Context) (observe.Snapshot, error) { return figures(), nil })
	}()
	<-s.drawn
	cancel()
	require.NoError(t, <-ended)
	assert.False(t, s.other)
}

// running is a program with a manager and a page.
func running(t *testing.T) (*memory.Manager, string) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{Name: "service", Budget: 1 << 30})
	r, err := observe.New(observe.Options{Managers: []*memory.Manager{mgr}, SampleBytes: 1, Events: 100})
	require.NoError(t, err)
	t.Cleanup(r.Close)
	mux := http.NewServeMux()
	mux.Handle("/debug/gpu/", http.StripPrefix("/debug/gpu", r.Handler(observe.HandlerOptions{Interval: time.Nanosecond, WriteLimit: await.Limit})))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return mgr, server.URL + "/debug/gpu"
}

func hold(t *testing.T, mgr *memory.Manager, bytes uint64, tag string) {
	block, err := mgr.Allocate(bytes, memory.AllocateOptions{Tag: tag})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, block.Release()) })
}

func TestMemoryOfARunningProgram(t *testing.T) {
	mgr, address := running(t)
	hold(t, mgr, 1<<20, "prices")
	output, err := execute("", "top", address)
	require.NoError(t, err)
	assert.Contains(t, output, "service [ ] 1.0 MiB 1.0 GiB")
	assert.Contains(t, output, "\nprices 1.0 MiB 1.0 MiB 1\n")

	folder := t.TempDir()
	before := filepath.Join(folder, "before.json")
	output, err = execute("", "mem", "snapshot", address, "-o", before)
	require.NoError(t, err)
	assert.Equal(t, "service on host: 1.0 MiB in 1 blocks, 1 segments, 1 events\n", output)
	_, err = execute("", "mem", "snapshot", before, "--output", filepath.Join(folder, "x.pickle"))
	require.NoError(t, err)

	output, err = execute("", "mem", "diff", before, before)
	require.NoError(t, err)
	assert.Equal(t, "no difference\n", output)
	hold(t, mgr, 2<<20, "more \x1b[2J")
	output, err = execute("", "mem", "diff", before, address)
	require.NoError(t, err)
	assert.Contains(t, output, "+2.0 MiB +1 blocks service tag more �[2J\n\tgithub.com/gpuframe/gpuframe/internal/command.hold\n")
	assert.NotContains(t, output, "prices")
	output, err = execute("", "mem", "diff", address, before)
	require.NoError(t, err)
	assert.Contains(t, output, "-2.0 MiB -1 blocks")

	output, err = execute("", "mem", "leaks", address, "--older", "0s")
	require.NoError(t, err)
	assert.Contains(t, output, "2.0 MiB 1 blocks oldest ")
	assert.Contains(t, output, "tag prices")
	output, err = execute("", "mem", "leaks", address, "--older", "24h")
	require.NoError(t, err)
	assert.Equal(t, "no block is older than 24h0m0s\n", output)
}

// TestStacksBeginWithTheCaller has the line of the program before those of gpuframe.
func TestStacksBeginWithTheCaller(t *testing.T) {
	m := &observe.MemoryMap{Stacks: [][]observe.Frame{{
		{Function: "github.com/gpuframe/gpuframe/buffer.FromRecord", File: "/src/buffer/buffer.go", Line: 7},
		{Function: "main.load", File: "/app/main.go", Line: 12}, {Function: "main.main", File: "/app/main.go", Line: 3},
	}, {{Function: "main.main", File: "/app/main.go", Line: 3}}}}
	require.True(t, strings.HasPrefix(stackText(m, 1), "\tby main.load at /app/main.go:12, through\n\tgithub.com/gpuframe/gpuframe/buffer.FromRecord\n"), stackText(m, 1))
	require.True(t, strings.HasPrefix(stackText(m, 2), "\tmain.main\n"))
	require.Empty(t, stackText(m, 3))
}

func TestWrongServices(t *testing.T) {
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	text := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) }))
	defer text.Close()
	for address, want := range map[string]string{
		"ftp://x": "is no address of a service", "http://": "is no address of a service", "%": "is no address of a service",
		empty.URL: "404 Not Found: want the path", text.URL: "invalid character",
	} {
		for _, arguments := range [][]string{{"top", address}, {"mem", "leaks", address}, {"mem", "diff", address, address}} {
			_, err := execute("", arguments...)
			require.ErrorContains(t, err, want, "%v", arguments)
		}
	}
	_, err := execute("", "mem", "leaks", traceFile(t))
	require.ErrorContains(t, err, "want a file of: gpuframe mem snapshot")
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs([]string{"top", text.URL, "--interval", "-1s"})
	root.SetOut(&out)
	require.ErrorContains(t, root.Execute(), "want a positive duration")
}
