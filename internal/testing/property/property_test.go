package property

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// draws prints the cases that Check draws, for child processes.
const draws = "GPUFRAME_TEST_DRAWS"

// TestSeed runs Check in separate processes: equal seeds draw equal cases.
func TestSeed(t *testing.T) {
	if os.Getenv(draws) != "" {
		var drawn []uint64
		Check(t, func(r *rapid.T) { drawn = append(drawn, rapid.Uint64().Draw(r, "number")) })
		t.Logf("drawn %v", drawn)
		return
	}
	run := func(seed string, arguments ...string) string {
		child := exec.Command(os.Args[0], append([]string{"-test.run=^TestSeed$", "-test.v"}, arguments...)...)
		child.Env = append(os.Environ(), draws+"=1", Variable+"="+seed)
		output, err := child.CombinedOutput()
		require.NoError(t, err, string(output))
		_, drawn, found := strings.Cut(string(output), "drawn ")
		require.True(t, found, string(output))
		drawn, _, _ = strings.Cut(drawn, "\n")
		return drawn
	}
	first := run("7")
	require.Equal(t, first, run("7"))
	require.NotEqual(t, first, run("8"))
	require.Equal(t, first, run("8", "-rapid.seed=7"), "the flag takes precedence")
	require.NotEqual(t, run("0"), run(""), "without a seed each run draws other cases")
	require.NotNil(t, flag.Lookup("rapid.seed"))
}

// TestSeedThatIsNoNumber: a mistake in the variable is not ignored.
func TestSeedThatIsNoNumber(t *testing.T) {
	if os.Getenv(draws) != "" {
		Check(t, func(*rapid.T) {})
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestSeedThatIsNoNumber$")
	child.Env = append(os.Environ(), draws+"=1", Variable+"=seven")
	output, err := child.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), Variable)
}
