package property

import (
	"flag"
	"os"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// Variable names the environment variable with the seed, a decimal number. Without it,
// or with 0, every run draws other cases. The flag -rapid.seed takes precedence.
const Variable = "GPUFRAME_SEED"

// setSeed sets rapid's flag from the environment unless the command line did.
var setSeed = sync.OnceValue(func() error {
	seed, set := os.Getenv(Variable), false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.seed" })
	if seed == "" || set {
		return nil
	}
	return flag.Set("rapid.seed", seed)
})

// Check is rapid.Check with the seed of the environment.
func Check(t rapid.TB, property func(*rapid.T)) {
	t.Helper()
	if err := setSeed(); err != nil {
		t.Fatalf("the environment variable %s: %v", Variable, err)
	}
	rapid.Check(t, property)
}

// Of is Check as a subtest, for testing.T.Run.
func Of(property func(*rapid.T)) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		Check(t, property)
	}
}
