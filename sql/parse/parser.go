package parse

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// The limits of texts.
const (
	// MaxLength is the length of the longest text, in bytes.
	MaxLength = 16 << 20
	// MaxTokens is the number of words, numbers, texts and symbols of the largest text. A token takes 56 bytes of
	// memory while a text is read.
	MaxTokens = 2_000_000
	// MaxDepth is the depth of the deepest tree. Chains of AND and of OR have one level, chains of other
	// operators, casts and set operations have a level for each link.
	MaxDepth = 1000
)

// Statements returns the statements of a text, which semicolons separate. Empty statements are left out.
//
// # Errors
//
// A fault of the text is an [*Error].
func Statements(text string) (statements []tree.Statement, err error) {
	err = parse(text, func(p *parser) {
		for {
			for p.accept(";") {
			}
			if p.token().kind == endToken {
				break
			}
			p.parameters, p.named, p.numbered = 0, false, false
			statements = append(statements, p.statement())
			if t := p.token(); t.kind != endToken && !p.at(";") {
				if t.word == "select" && p.tokens[p.next-1].word != "," {
					p.failHere("“;” before the next statement")
				}
				p.failHere("")
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, statement := range statements {
		if err := checkDepth(text, statement); err != nil {
			return nil, err
		}
	}
	return statements, nil
}

// Expr returns the expression of a text.
//
// # Errors
//
// A fault of the text is an [*Error].
func Expr(text string) (e tree.Expr, err error) {
	err = parse(text, func(p *parser) {
		e = p.expr()
		if p.token().kind != endToken {
			p.failHere("")
		}
	})
	if err == nil {
		err = checkDepth(text, e)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// parser reads the tokens of a text. Its methods end with a panic of an *Error at a fault.
type parser struct {
	text   string
	tokens []token
	// next is the index of the current token.
	next int
	// depth is the number of nested expressions, queries, tables and types.
	depth int
	// opened is the index of the token behind the parentheses that opensQuery looked through last.
	opened int
	// typeLevels is the number of the types within the current type.
	typeLevels int
	// parameters is the number of parameters of the statement without a number.
	parameters int
	// named and numbered are set if the statement has such parameters.
	named, numbered bool
	// percent is set in LIMIT, where a % without an operand behind it is no operator.
	percent  bool
	expected expectation
}

// parse calls a method of a parser, and returns the fault at which it ended.
func parse(text string, read func(*parser)) (err error) {
	if err := checkText(text); err != nil {
		return err
	}
	defer func() {
		if fault := recover(); fault != nil {
			e, ok := fault.(*Error)
			if !ok {
				panic(fault)
			}
			err = e
		}
	}()
	read(&parser{text: text, tokens: tokens(text)})
	return nil
}

// checkText refuses texts that are too long, and bytes that are no text.
func checkText(text string) error {
	if len(text) > MaxLength {
		return &Error{Text: text, Position: MaxLength, Message: "the text is longer than the limit of " +
			strconv.Itoa(MaxLength>>20) + " MiB: load large data from files"}
	}
	if zero := strings.IndexByte(text, 0); zero >= 0 {
		return &Error{Text: text, Position: tree.Position(zero), Message: "the text has a byte that is zero"}
	}
	if utf8.ValidString(text) {
		return nil
	}
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
			return &Error{Text: text, Position: tree.Position(i), Message: "the text has bytes that are no UTF-8"}
		}
	}
	return nil
}

// checkDepth refuses trees that are deeper than the limit.
func checkDepth(text string, root tree.Node) error {
	var deep tree.Node
	tree.Walk(root, func(n tree.Node, depth int) bool {
		if depth > MaxDepth && deep == nil {
			deep = n
		}
		return deep == nil
	})
	if deep == nil {
		return nil
	}
	return &Error{Text: text, Position: deep.Pos(), Message: depthMessage}
}

// depthMessage is the message of texts that are too deep.
var depthMessage = "the statement is nested deeper than the limit of " + strconv.Itoa(MaxDepth) +
	" levels: write long chains as a list, as rows of VALUES, or as several statements"

// maxNesting is the limit of nested calls of the parser. A level of a tree takes up to three of them, so that the
// text of each tree within MaxDepth can be read with parentheses around everything.
const maxNesting = 3*MaxDepth + 100

// enter counts a level, which the caller leaves with leave.
func (p *parser) enter() {
	p.depth++
	if p.depth > maxNesting {
		p.fail(p.token().pos, depthMessage)
	}
}

// leave ends a level.
func (p *parser) leave() { p.depth-- }

// token returns the current token.
func (p *parser) token() *token { return &p.tokens[p.next] }

// ahead returns the token that is n tokens behind the current one.
func (p *parser) ahead(n int) *token { return &p.tokens[min(p.next+n, len(p.tokens)-1)] }

// pos returns the place of the current token.
func (p *parser) pos() tree.Position { return tree.Position(p.token().pos) }

// take returns the current token and moves on.
func (p *parser) take() *token {
	t := p.token()
	if t.kind == faultToken {
		p.failHere("")
	}
	if p.next < len(p.tokens)-1 {
		p.next++
	}
	return t
}

// at returns whether the current token is a keyword, symbol or operator.
func (p *parser) at(word string) bool {
	if p.token().word == word {
		return true
	}
	p.expected.note(p.next, word)
	return false
}

// atWords returns whether the current token and those behind it are keywords.
func (p *parser) atWords(words ...string) bool {
	for i, word := range words {
		if p.ahead(i).word != word {
			if i == 0 {
				p.expected.note(p.next, word)
			}
			return false
		}
	}
	return true
}

// accept moves behind a keyword, symbol or operator if it is the current token.
func (p *parser) accept(word string) bool {
	if !p.at(word) {
		return false
	}
	p.take()
	return true
}

// acceptWords moves behind keywords if they are the current tokens.
func (p *parser) acceptWords(words ...string) bool {
	if !p.atWords(words...) {
		return false
	}
	p.next += len(words)
	return true
}

// expect moves behind a keyword, symbol or operator, and fails if it is not the current token.
func (p *parser) expect(word string) *token {
	if !p.at(word) {
		p.failHere("")
	}
	return p.take()
}
