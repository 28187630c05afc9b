package parse

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string]struct {
		statements []string
		rest       string
	}{
		"":                               {nil, ""},
		"select 1":                       {nil, "select 1"},
		"select 1; ":                     {[]string{"select 1"}, ""},
		"select ';'; /* ; */ from t;;x":  {[]string{"select ';'", "/* ; */ from t"}, "x"},
		"select 1; select 'half ; a":     {[]string{"select 1"}, " select 'half ; a"},
		"select 1; /* ; ":                {[]string{"select 1"}, " /* ; "},
		"-- a\n; select 1 -- b\n;":       {[]string{"select 1 -- b"}, ""},
		"select 1; -- end":               {[]string{"select 1"}, ""},
		"select $$;$$; -- ; \nselect 2;": {[]string{"select $$;$$", "-- ; \nselect 2"}, ""},
	} {
		statements, rest, err := Split(text)
		require.NoError(t, err, text)
		require.Equal(t, want.statements, statements, text)
		require.Equal(t, want.rest, rest, text)
	}
	_, _, err := Split("select \x00; select 2;")
	require.Error(t, err)
}

func TestKeywordsAreSorted(t *testing.T) {
	require.IsIncreasing(t, Keywords())
}
