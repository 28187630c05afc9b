package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompletions(t *testing.T) {
	words := []string{"select", "sum", "Sales", "city", ".help"}
	require.Equal(t, []string{"Sales"}, completions("sa", words))
	require.Equal(t, []string{"Sales", "select", "sum"}, completions("S", words))
	require.Empty(t, completions("", words))
	require.Equal(t, "s", commonPrefix([]string{"select", "sum"}))
	require.Equal(t, 7, wordStart("select ci"))
	require.Equal(t, 0, wordStart(".he"))
}

func TestStatementsOfStandardInput(t *testing.T) {
	output, err := execute("create view v as select 1 as a; -- two statements\nselect a + 1 as b from v; select ';' as c", "sql", "--device", "host", "--to", "csv")
	require.NoError(t, err)
	require.Equal(t, "b\n2\nc\n;\n", output)
}
