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
	name := fnv.New64a()
	_, _ = name.Write([]byte(t.Name()))
	return rand.New(rand.NewPCG(seedOf(t), name.Sum64()))
}

// TurnVariable names the environment variable with the turn of a check, a decimal number: tests
// that run a part of their cases take the next part in the next turn.
const TurnVariable = "GPUFRAME_TURN"

// Turn returns the turn of the environment modulo 5040, for tests that run a part of their cases: one of
// every n, those with the numbers i for which (i+Turn)%n is 0. Turns that follow each other then choose
// all cases, one part after the other. Without a turn it is the seed of the environment; without a seed
// either, each run chooses others, and the test logs the seed.
func Turn(t testing.TB) int {
	t.Helper()
	const period = 5040 // a multiple of each n up to 10
	turn, ok := CheckTurn(t)
	if !ok {
		turn = seedOf(t)
	}
	return int(turn % period)
}

// CheckTurn returns the turn of the environment; ok is false without one.
func CheckTurn(t testing.TB) (turn uint64, ok bool) {
	t.Helper()
	text := os.Getenv(TurnVariable)
	if text == "" {
		return 0, false
	}
	turn, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("the environment variable %s: %v", TurnVariable, err)
	}
	return turn, true
}

// seedOf returns the seed of the environment, or one that the test logs.
func seedOf(t testing.TB) (seed uint64) {
	t.Helper()
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
	return seed
}
