package property

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Random returns a source of random numbers for a test that draws its cases without
// rapid. The seed of the environment and the name of the test determine the numbers.
// Without a seed, each run draws others; the test logs the seed that draws them again.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(0)
	if text := os.Getenv(Variable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("the environment variable %s: %v", Variable, err)
		}
	}
	if seed == 0 {
		seed = rand.Uint64N(1<<32-1) + 1
		t.Logf("%s=%d draws the cases of this test again", Variable, seed)
	}
	name := fnv.New64a()
	_, _ = name.Write([]byte(t.Name()))
	return rand.New(rand.NewPCG(seed, name.Sum64()))
}
