package pickle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/observe/internal/pickle"
)

// python returns what Python reads, as JSON.
func python(t *testing.T, text []byte) string {
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 is installed: nothing else here reads the format")
	}
	command := exec.Command(path, "-c", "import json, pickle, sys; json.dump(pickle.load(sys.stdin.buffer), sys.stdout)")
	command.Stdin = bytes.NewReader(text)
	var messages strings.Builder
	command.Stderr = &messages
	out, err := command.Output()
	require.NoError(t, err, messages.String())
	return string(out)
}

func TestPythonReadsValues(t *testing.T) {
	integers := []uint64{0, 1, 127, 128, 255, 256, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32, 1 << 47, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64}
	var strs []string
	for i := range 600 {
		strs = append(strs, strings.Repeat("x", i), "ü\x00\n'\"\\", "<script>")
	}
	shared := []int{1, 2}
	var out bytes.Buffer
	e := pickle.NewEncoder(&out)
	e.Dict(func() {
		e.String("integers")
		e.List(len(integers), func(i int) { e.Uint(integers[i]) })
		e.String("strings")
		e.List(len(strs), func(i int) { e.String(strs[i]) })
		e.String("long")
		e.List(2500, func(i int) { e.Uint(uint64(i)) })
		e.String("shared")
		e.List(3, func(int) { e.Shared(&shared, func() { e.List(2, func(i int) { e.Uint(uint64(shared[i])) }) }) })
		e.String("rest")
		e.List(5, func(i int) {
			[]func(){func() { e.Bool(true) }, func() { e.Bool(false) }, e.None, func() { e.Float(-0.1) }, func() { e.Pair(func() { e.Uint(0) }, func() { e.Dict(func() {}) }) }}[i]()
		})
		e.String("broken")
		e.String("a\xffb")
	})
	require.NoError(t, e.Close())
	long := make([]int, 2500)
	for i := range long {
		long[i] = i
	}
	want, err := json.Marshal(map[string]any{
		"integers": integers, "strings": strs, "long": long, "shared": [][]int{{1, 2}, {1, 2}, {1, 2}},
		"rest": []any{true, false, nil, -0.1, []any{0, map[string]any{}}}, "broken": "a\uFFFDb",
	})
	require.NoError(t, err)
	assert.JSONEq(t, string(want), python(t, out.Bytes()))
	// JSONEq compares numbers as floats.
	assert.Contains(t, python(t, out.Bytes()), "9223372036854775807, 9223372036854775808, 18446744073709551615]")
	assert.Less(t, out.Len(), 600*600, "a string is written once")
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestErrorsOfTheWriter(t *testing.T) {
	e := pickle.NewEncoder(broken{})
	e.List(10000, func(int) { e.None() })
	require.ErrorContains(t, e.Close(), "disk full")
}
