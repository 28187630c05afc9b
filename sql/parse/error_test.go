package parse_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/sql/parse"
)

// wrongStatement is the heading of a wrong statement: its class, the place of the fault, and a part of the message.
var wrongStatement = regexp.MustCompile(`(?m)^-- class: (.*) at (\d+):(\d+): (.*)\n`)

// TestPlacesOfFaults: errors stand at the place at which a person looks for the fault, with the right message.
func TestPlacesOfFaults(t *testing.T) {
	contents, err := os.ReadFile("testdata/wrong.sql")
	require.NoError(t, err)
	headings := wrongStatement.FindAllSubmatchIndex(contents, -1)
	require.Greater(t, len(headings), 60)
	for i, at := range headings {
		end := len(contents)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		text := strings.TrimSuffix(string(contents[at[1]:end]), "\n")
		group := func(n int) string { return string(contents[at[2*n]:at[2*n+1]]) }
		_, err := parse.Statements(text)
		var fault *parse.Error
		require.ErrorAs(t, err, &fault, text)
		line, column := fault.Place()
		require.Equal(t, group(2)+":"+group(3), fmt.Sprintf("%d:%d", line, column), "%v", err)
		require.Contains(t, fault.Message, group(4), text)
	}
}

// TestErrorText: an error has the line of the fault and a caret below it.
func TestErrorText(t *testing.T) {
	_, err := parse.Statements("select a,\r\n\tü b c\nfrom t")
	require.EqualError(t, err, "sql: line 2, column 6: unexpected “c”: expected “,”, FROM, WHERE, GROUP, HAVING, WINDOW, QUALIFY, USING or others\n  \tü b c\n  \t    ^")
	require.NoError(t, errors.Unwrap(err))
	fault := &parse.Error{Text: "x", Position: 9, Message: "message", Cause: io.EOF}
	require.ErrorIs(t, fault, io.EOF)
	require.EqualError(t, fault, "sql: line 1, column 2: message\n  x\n   ^")
}

// TestTextsThatAreNone: zero bytes, bytes that are no UTF-8, and texts over the limit are refused.
func TestTextsThatAreNone(t *testing.T) {
	for text, message := range map[string]string{
		"select 1\x00; drop": "line 1, column 9: the text has a byte that is zero",
		"select 'a\xff'":     "line 1, column 10: the text has bytes that are no UTF-8",
		"select \xc3":        "line 1, column 8: the text has bytes that are no UTF-8",
		`select e'\x00'`:     "line 1, column 8: the escapes of the text make bytes that are no UTF-8 or are zero",
		`select e'\xff'`:     "line 1, column 8: the escapes of the text",
	} {
		_, err := parse.Statements(text)
		require.ErrorContains(t, err, message)
		_, err = parse.Expr(text)
		require.Error(t, err)
	}
	_, err := parse.Statements(strings.Repeat(" ", parse.MaxLength) + "1")
	require.ErrorContains(t, err, "the text is longer than the limit of 16 MiB")
	_, err = parse.Statements("values (1" + strings.Repeat(",1", parse.MaxTokens/2) + ")")
	require.ErrorContains(t, err, "the text has more tokens than the limit of 2000000")
	_, err = parse.Statements("\ufffd")
	require.ErrorContains(t, err, "expected a statement", "the character that stands for others is no fault of the encoding")
}
