package duckdb

import (
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/sql/parse"
)

var (
	randomStatements = flag.Int("statements", 300, "the number of random statements that TestRandomStatements compares")
	firstStatement   = flag.Int("first-statement", 0, "the seed of the first of them")
)

// TestRandomStatements compares the answers to random statements, of tables that each thousand of seeds shares. The error of a statement that is refused names the
// form that is not supported.
func TestRandomStatements(t *testing.T) {
	p := open(t, 2+uint64(*firstStatement/1000))
	answered, refused, failed := 0, map[string]int{}, 0
	for seed := *firstStatement; seed < *firstStatement+*randomStatements; seed++ {
		g := generator{Rand: rand.New(rand.NewPCG(uint64(seed), 7))}
		text := g.statement()
		difference, err := p.difference(t.Context(), text, false)
		var refusal *parse.Error
		switch {
		case errors.As(err, &refusal) && strings.Contains(refusal.Message, "not supported"):
			refused[refusal.Message]++
			if testing.Verbose() {
				t.Logf("refused %d: %s\n%v", seed, text, err)
			}
		case err != nil:
			t.Errorf("statement %d: %s\n%v", seed, text, err)
		case strings.HasPrefix(difference, "DuckDB:"):
			failed++ // such as a sum beyond its type
			if testing.Verbose() {
				t.Logf("statement %d: %s\n%s", seed, text, difference)
			}
		case difference != "":
			t.Errorf("statement %d: %s\n%s", seed, text, difference)
		default:
			answered++
		}
	}
	t.Logf("%d of %d statements have the same answer, %d have none in DuckDB; refused are %v", answered, *randomStatements, failed, refused)
	require.Greater(t, answered, *randomStatements/2)
}
