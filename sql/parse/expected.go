package parse

import (
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// expectation has the forms that a parser looked for at one token.
type expectation struct {
	token int
	words []string
	// alias is the index of a name that was read as an alias without AS, and aliasWords has the keywords that
	// could have stood in its place: it may be a misspelt keyword.
	alias      int
	aliasWords []string
}

// note adds a form that is not the token with the index.
func (e *expectation) note(index int, word string) {
	if index < e.token {
		return
	}
	if index > e.token {
		e.token, e.words = index, e.words[:0]
	}
	e.words = append(e.words, word)
}

// noteAlias remembers the current token, which is an alias without AS.
func (p *parser) noteAlias() {
	e := &p.expected
	e.alias, e.aliasWords = p.next, e.aliasWords[:0]
	if e.token == p.next {
		e.aliasWords = append(e.aliasWords, e.words...)
	}
	e.aliasWords = append(e.aliasWords, clauses...)
}

// clauses are the keywords that may follow a table, an item, or the name of a window.
var clauses = []string{
	"from", "where", "group", "having", "window", "qualify", "order", "limit", "offset", "union", "except",
	"intersect", "join", "left", "right", "full", "inner", "cross", "natural", "asof", "on", "using",
	"partition", "rows", "range", "groups",
}

// fail ends the parser with a fault at a place.
func (p *parser) fail(pos int, message string) {
	panic(&Error{Text: p.text, Position: tree.Position(pos), Message: message})
}

// failHere ends the parser with a fault at the current token. Without a name of the expected form, the message
// has the forms that the parser looked for.
func (p *parser) failHere(form string) {
	t := p.token()
	if t.kind == faultToken {
		p.fail(t.pos, t.text)
	}
	if p.next > 0 && p.expected.alias == p.next-1 {
		alias := p.tokens[p.next-1]
		if word := nearest(alias.text, p.expected.aliasWords); word != "" {
			p.fail(alias.pos, p.describe(&alias)+" is no keyword: did you mean "+strings.ToUpper(word)+"?")
		}
	}
	words := p.expectedWords()
	if t.kind == nameToken && t.class == notKeyword {
		if word := nearest(t.text, words); word != "" {
			p.fail(t.pos, "unexpected "+p.describe(t)+": did you mean "+strings.ToUpper(word)+"?")
		}
	}
	if t.kind == nameToken && notKeyword < t.class && t.class < reserved && slices.Contains(words, "as") &&
		slices.Contains(words, ",") {
		p.fail(t.pos, p.describe(t)+" is a keyword here: write AS before it to make it a name")
	}
	if form == "" {
		form = alternatives(words)
	}
	message := "unexpected " + p.describe(t)
	if form != "" {
		message += ": expected " + form
	}
	p.fail(t.pos, message)
}

// expectedWords returns the forms that the parser looked for at the current token.
func (p *parser) expectedWords() []string {
	if p.expected.token != p.next {
		return nil
	}
	words := []string{}
	for _, word := range p.expected.words {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// describe returns a token for a message.
func (p *parser) describe(t *token) string {
	switch {
	case t.kind == endToken:
		return "end of the text"
	case t.kind == nameToken && t.class == reserved:
		return "keyword " + strings.ToUpper(t.word)
	case t.kind == numberToken:
		return "number " + shorten(p.text[t.pos:t.end])
	case t.kind == textToken:
		return "text " + shorten(p.text[t.pos:t.end])
	}
	return "“" + shorten(p.text[t.pos:t.end]) + "”"
}

// shorten cuts a long token.
func shorten(text string) string {
	const most = 40
	runes := []rune(text[:min(len(text), 4*most)])
	if len(runes) <= most && len(text) <= 4*most {
		return text
	}
	return string(runes[:min(len(runes), most)]) + "…"
}

// alternatives returns words for a message, those that were looked for first if they are many.
func alternatives(words []string) string {
	const most = 8
	shown := make([]string, 0, most)
	for _, word := range words[:min(most, len(words))] {
		switch {
		case strings.Contains(word, " "):
			shown = append(shown, word)
		case isNameStart(word[0]):
			shown = append(shown, strings.ToUpper(word))
		default:
			shown = append(shown, "“"+word+"”")
		}
	}
	switch n := len(shown); {
	case len(words) > most:
		return strings.Join(shown, ", ") + " or others"
	case n < 2:
		return strings.Join(shown, "")
	default:
		return strings.Join(shown[:n-1], ", ") + " or " + shown[n-1]
	}
}

// nearest returns the keyword of a list from which a name differs by a letter or two, or an empty text.
func nearest(name string, words []string) string {
	best, least := "", 1+min(2, len(name)/2)
	for _, word := range words {
		if !isNameStart(word[0]) || strings.Contains(word, " ") {
			continue
		}
		if d := distance(strings.ToLower(name), word, least); d < least {
			best, least = word, d
		}
	}
	return best
}

// distance returns the number of letters to add, drop, change or swap with the next that make b of a. Distances
// of limit and more are limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
