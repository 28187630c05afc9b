package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/memory/replay"
)

const traceText = `Thread,Time,Action,Pointer,Size,Stream
1,14:21:19.998533,allocate,0x30a000000,4096,0x2
2,14:21:20.104871,allocate,0x30a001000,8192,0x55
1,14:21:32.661875,free,0x30a001000,8192,0x2
1,14:21:32.661876,free,0x30a000077,256,0x2
2,14:21:32.661877,allocate failure,(nil),1099511627776,0
2,14:21:32.661878,free,0x30a000000,4096,0x2
`

// execute runs a command line with the given standard input. It returns the output
// with every run of spaces collapsed to one.
func execute(input string, arguments ...string) (output string, err error) {
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(arguments)
	root.SetIn(strings.NewReader(input))
	root.SetOut(&out)
	err = root.ExecuteContext(context.Background())
	return spaces.ReplaceAllString(out.String(), " "), err
}

var spaces = regexp.MustCompile(` +`)

func traceFile(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "trace.csv")
	require.NoError(t, os.WriteFile(name, []byte(traceText), 0o600))
	return name
}

func TestReplayPrints(t *testing.T) {
	name := traceFile(t)
	for _, resource := range strings.Split(listed(resources), ", ") {
		t.Run(resource, func(t *testing.T) {
			output, err := execute("", "mem", "replay", name, "--device", "host", "--resource", resource, "--runs", "3")
			require.NoError(t, err)
			for _, text := range []string{
				": 2 allocations, 2 frees, 2 threads, 3 streams\n",
				"1 request failed when the log was written", "1 free of what the log does not show",
				resource + " on host", "\ntime ", "\nlater ", "2 allocations, 2 frees\n", "peak in use 12 KiB\n", "failures 0\n", "reserved",
			} {
				assert.Contains(t, output, text)
			}
		})
	}
	t.Run("from standard input, once, side by side", func(t *testing.T) {
		output, err := execute(traceText, "mem", "replay", "-", "--device", "host", "--runs", "1", "--concurrent")
		require.NoError(t, err)
		assert.Contains(t, output, "-: 2 allocations")
		assert.NotContains(t, output, "later")
	})
	t.Run("with failures", func(t *testing.T) {
		output, err := execute(traceText, "mem", "replay", "-", "--device", "host", "--stack", "limit=5KiB")
		require.NoError(t, err)
		assert.Contains(t, output, "failures 1\n")
		assert.Contains(t, output, "line 3: allocate 8192 bytes")
		assert.Contains(t, output, "peak in use 4.0 KiB\n")
	})
}

// TestStack replays a trace through every adaptor and reads the log that one of them
// wrote.
func TestStack(t *testing.T) {
	logged := filepath.Join(t.TempDir(), "out.csv")
	layers := "limit=1MiB, statistics,tracking,retry,poison,guard=256,guard,aligned=4KiB,fault=0,logging=" + logged
	output, err := execute(traceText, "mem", "replay", "-", "--device", "host", "--runs", "1", "--resource", "pool", "--stack", layers)
	require.NoError(t, err)
	assert.Contains(t, output, "pool < limit=1MiB < statistics <")
	assert.Contains(t, output, "failures 0\n")

	log, err := loadLog(logged, nil)
	require.NoError(t, err)
	assert.Equal(t, replay.Summary{Allocations: 2, Frees: 2, Threads: 2, Streams: 2, PeakBytes: 12288}, log.Summary())

	output, err = execute(traceText, "mem", "replay", "-", "--device", "host", "--stack", "fault=1")
	require.NoError(t, err)
	assert.Contains(t, output, "failures 2\n")
	assert.Contains(t, output, "injected fault")
}

func TestErrorsNameTheRemedy(t *testing.T) {
	name := traceFile(t)
	replay := func(arguments ...string) []string {
		return append([]string{"mem", "replay", name, "--device", "host"}, arguments...)
	}
	for title, test := range map[string]struct {
		arguments []string
		text      string
	}{
		"no file":           {[]string{"mem", "replay"}, "accepts 1 arg"},
		"no such file":      {[]string{"mem", "replay", name + ".gz", "--device", "host"}, "trace.csv.gz: no such file"},
		"not a trace":       {[]string{"mem", "replay", "gpuframe_test.go", "--device", "host"}, "gpuframe_test.go: replay: load: trace: line 1"},
		"no such command":   {[]string{"mem", "free"}, `unknown command "free"`},
		"no such device":    {[]string{"mem", "replay", name, "--device", "abacus"}, "abacus"},
		"info of no device": {[]string{"mem", "info", "--device", "abacus"}, "abacus"},
		"no such resource":  {replay("--resource", "heap"), "--resource heap: there are buckets, caching, caching-fixed, driver, pool"},
		"no such adaptor":   {replay("--stack", "limit=1GiB,budget"), `--stack, "budget": there are aligned, fault, guard, limit,`},
		"an empty adaptor":  {replay("--stack", "statistics,"), `--stack, "": there are aligned,`},
		"no size":           {replay("--stack", "limit"), `"" is not a size`},
		"a wrong size":      {replay("--stack", "limit=-1"), `"-1" is not a size`},
		"nothing to limit":  {replay("--stack", "limit=0"), `"0" is not a size`},
		"a wrong alignment": {replay("--stack", "aligned=3000"), "power of two"},
		"a wrong red zone":  {replay("--stack", "guard=wide"), `"wide" is not a size`},
		"no probability":    {replay("--stack", "fault=2"), "2 is not a probability"},
		"no value wanted":   {replay("--stack", "statistics=all"), `takes no value, but "all"`},
		"no file to log to": {replay("--stack", "logging"), "logging=out.csv"},
		"no place to log":   {replay("--stack", "logging="+name+"/out.csv"), "out.csv: not a directory"},
		"no runs":           {replay("--runs", "0"), "--runs is 0"},
		"a negative speed":  {replay("--speed", "-1"), "Speed is -1"},
	} {
		t.Run(title, func(t *testing.T) {
			_, err := execute("", test.arguments...)
			require.ErrorContains(t, err, test.text)
		})
	}
}

func TestInfo(t *testing.T) {
	for _, arguments := range [][]string{{"mem", "info"}, {"mem", "info", "--device", "host"}} {
		output, err := execute("", arguments...)
		require.NoError(t, err)
		assert.Regexp(t, `(?m)^host .* free of .*iB$`, output)
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	root := newRoot()
	root.SetArgs([]string{"mem", "replay", traceFile(t), "--device", "host"})
	require.ErrorIs(t, root.ExecuteContext(ctx), context.Canceled)
}
