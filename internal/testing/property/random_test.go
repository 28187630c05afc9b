package property

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The seed and the name of the test determine the numbers.
func TestRandom(t *testing.T) {
	draw := func(t *testing.T) (numbers [4]uint64) {
		r := Random(t)
		for i := range numbers {
			numbers[i] = r.Uint64()
		}
		return numbers
	}
	t.Setenv(Variable, "7")
	first := draw(t)
	assert.Equal(t, first, draw(t), "the same seed, the same test")
	t.Run("another", func(t *testing.T) { assert.NotEqual(t, first, draw(t), "another test") })
	t.Setenv(Variable, "8")
	assert.NotEqual(t, first, draw(t), "another seed")
	t.Setenv(Variable, "0")
	require.NotEqual(t, draw(t), draw(t), "without a seed each call draws others")
	t.Setenv(Variable, "")
	require.NotEqual(t, draw(t), draw(t))
}

// Turns that follow each other choose all cases, and without a turn seeds do.
func TestTurn(t *testing.T) {
	t.Run("turns", func(t *testing.T) {
		t.Setenv(Variable, "7")
		turnsChooseAll(t, TurnVariable)
	})
	t.Run("seeds", func(t *testing.T) {
		t.Setenv(TurnVariable, "")
		turnsChooseAll(t, Variable)
	})
}

func turnsChooseAll(t *testing.T, variable string) {
	for n := 1; n <= 10; n++ {
		chosen := map[int]int{}
		for number := range n {
			t.Setenv(variable, strconv.Itoa(5039+number))
			for i := range n {
				if (i+Turn(t))%n == 0 {
					chosen[i]++
				}
			}
		}
		require.Len(t, chosen, n)
		for i, times := range chosen {
			require.Equal(t, 1, times, "case %d of %d", i, n)
		}
	}
}
