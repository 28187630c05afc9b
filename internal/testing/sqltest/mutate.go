package sqltest

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// token matches a token of the texts of Format, roughly.
var token = regexp.MustCompile(`'(?:[^']|'')*'|"(?:[^"]|"")*"|[\pL_][\pL\d_$]*|[\d.]+(?:e[-+]?\d+)?|[-+*/<>=~!@%^&|]+|\S`)

// Tokens returns the tokens of a text.
func Tokens(text string) []string { return token.FindAllString(text, -1) }

// Loosen drops some of the parentheses that stand around operands, so that the precedence of operators decides.
func Loosen(r *rand.Rand, text string) string {
	tokens := Tokens(text)
	var open []int
	for i, t := range tokens {
		switch t {
		case "(":
			open = append(open, i)
		case ")":
			if len(open) == 0 {
				continue
			}
			first := open[len(open)-1]
			open = open[:len(open)-1]
			if r.IntN(3) > 0 && isOperandStart(tokens, first) {
				tokens[first], tokens[i] = "", ""
			}
		}
	}
	return strings.Join(tokens, " ")
}

// isOperandStart returns whether a parenthesis is no part of a call or of a list with a keyword before it.
func isOperandStart(tokens []string, i int) bool {
	if i == 0 {
		return true
	}
	switch before := strings.ToLower(tokens[i-1]); before {
	case "and", "or", "not", "is", "between", "like", "when", "then", "else", "where", "on", "case", "by", "from", ",", "(", "[":
		return true
	default:
		return strings.Contains("+-*/<>=~!@%^&|", before[:min(1, len(before))])
	}
}

// words are the tokens of wrong texts.
var words = strings.Fields(`select from where group by having order limit offset union all except intersect with as
recursive distinct on using join left right full inner outer cross natural asof semi anti positional lateral values
table pivot unpivot for in not and or is null true false between like ilike glob similar to escape case when then
else end cast try_cast extract interval date timestamp time zone at collate exists any array map struct row lambda
window over partition rows range groups between preceding following unbounded current row exclude ties qualify filter
within ignore nulls first last asc desc materialized describe show summarize explain create view copy drop if replace
rename columns tablesample sample percent fetch next only year day a b c t u f sum count x1 "a" "select" 'text' '' 1 2.5
1e3 0 $1 $n ? # ( ) ( ) ( ) [ ] { } , , , . . ; : :: := => -> ->> + - * / // % ^ ** = <> < <= || & | << ~ !~ @ ! || $$x$$`)

// Soup draws a text of tokens without a grammar.
func Soup(r *rand.Rand, most int) string {
	tokens := []string{}
	if r.IntN(2) == 0 {
		tokens = append(tokens, "select")
	}
	for range r.IntN(most) {
		tokens = append(tokens, words[r.IntN(len(words))])
	}
	return strings.Join(tokens, " ")
}

// Mutate changes, drops, doubles or swaps a few tokens of a text.
func Mutate(r *rand.Rand, text string) string {
	tokens := Tokens(text)
	for range 1 + r.IntN(3) {
		if len(tokens) < 2 {
			break
		}
		i, j := r.IntN(len(tokens)), r.IntN(len(tokens))
		switch r.IntN(4) {
		case 0:
			tokens[i] = words[r.IntN(len(words))]
		case 1:
			tokens = append(tokens[:i], tokens[i+1:]...)
		case 2:
			tokens = append(tokens[:i], append([]string{words[r.IntN(len(words))]}, tokens[i:]...)...)
		default:
			tokens[i], tokens[j] = tokens[j], tokens[i]
		}
	}
	return strings.Join(tokens, " ")
}
