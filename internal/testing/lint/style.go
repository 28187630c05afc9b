package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A Pattern matches a turn of phrase that plain technical English avoids.
type Pattern struct {
	Name string
	// Instead is what to write.
	Instead string
	Regexp  *regexp.Regexp
}

// Patterns are the phrases that are counted. Over the comments of pebble, bbolt,
// wazero and arrow-go they match 1.7, 0.8, 1.1 and 1.5 times in 1,000 words.
var Patterns = []Pattern{
	{"where for if", `"if", "when"; or name the case first`,
		regexp.MustCompile(`(?m)(?:^|[.;:] )Where |\bwhere (?:there|that|it|they|this|one|none|nothing|no|nobody|all|both) (?:is|are|has|have|was|were|do|does|can|cannot)\b`)},
	{"so many", `"n", "that number of", "bytes bytes"`,
		regexp.MustCompile(`\b[Ss]o man(?:y|i)|\bas many as\b`)},
	{"tell, say, ask", `"report", "return", "hold", "request"; code does not speak`,
		regexp.MustCompile(`\b(?:tells?|told|says?|said|asks?|asked|Tells|Says|Asks)\b`)},
	{"who", `"that", "the caller that"; name the actor`,
		regexp.MustCompile(`\b[Ww]ho(?:ever|m|se)?\b`)},
	{"wants", `"needs", "requests"; memory does not want`,
		regexp.MustCompile(`\bwants\b|\bwanted\b`)},
	{"idiom", `the plain word`,
		regexp.MustCompile(`\b(?:by and by|as a rule|would not do|will not do|over and over|in vain|for good|for ever|at the latest|nothing but|all the same|in turn|little by little|once more)\b`)},
	{"of its own", `"one", "a separate", "private"`,
		regexp.MustCompile(`\b(?:of|on) (?:its|their|his|her|one's) own\b`)},
	{"there is none", `"x is nil", "no x exists", "without x"`,
		regexp.MustCompile(`\b[Tt]here (?:is|are|was|were) (?:none|nothing|nobody|one|no such)\b|\b[Ii]t is nil\b|\bis none\b`)},
	{"what clause", `a noun: "the rows that", "the memory of"`,
		regexp.MustCompile(`(?m)\b(?:of|is|are|to|from|with|by|for|does|that|than|and|as|only|keeps?|holds?|gives?|takes?) what\b|(?:^|[.;:] )What\b`)},
	{"archaic", `"except", "if", "no caller", "again", "also", "next to", "before"`,
		regexp.MustCompile(`\b(?:but for|save for|be it|lest|hence|thus|whereof|thereof|therein|thereby|wherever|whichever|nobody|everybody|somebody|anew|likewise|besides|beside|ought|nor|of late|ahead of|hitherto|whence|anyhow|upon|however many|however long|whatever|Nobody|Whatever|Besides|Beside)\b`)},
	{"inversion", `subject, verb, object`,
		regexp.MustCompile(`(?m)\b(?:so|never|neither|nor|only then|then|thus) (?:is|are|does|do|has|have|can|must) (?:it|they|the|a|an|this|that)\b|(?:^|[.;:] )(?:Of|To|From|By|With) (?:a|an|the|all|each|these|those|two|such) [a-z ]{2,40} (?:is|are|does|do|goes|go|comes|come)\b`)},
	{"vague pronoun", `repeat the noun; "immediately" or "together" for "at once"`,
		regexp.MustCompile(`\b(?:its|their) (?:like|kind)\b|\bat once\b|\bso that (?:nobody|none|no one)\b|\bone after (?:the other|another)\b`)},
}

// A Text is one comment, message or paragraph.
type Text struct {
	Path string
	Line int
	Text string
}

// A Hit is a match of a pattern.
type Hit struct {
	Text
	Pattern Pattern
	Match   string
}

var word = regexp.MustCompile(`[A-Za-z]+(?:'[a-z]+)?`)

// Words returns the number of English words of a text.
func Words(text string) int { return len(word.FindAllStringIndex(text, -1)) }

// Find returns the matches of all patterns in a text.
func Find(text Text) []Hit {
	var hits []Hit
	for _, pattern := range Patterns {
		for _, match := range pattern.Regexp.FindAllString(text.Text, -1) {
			hits = append(hits, Hit{Text: text, Pattern: pattern, Match: strings.TrimSpace(match)})
		}
	}
	return hits
}

// Texts returns the English of the module below root: comments of Go, CUDA, C and
// Python files, messages of errors in Go, and paragraphs of Markdown. Files of this package,
// which quotes the patterns, are left out.
func Texts(root string) ([]Text, error) {
	var texts []Text
	err := walk(root, func(path string) error {
		read := readers[filepath.Ext(path)]
		if read == nil || strings.HasPrefix(filepath.ToSlash(path), "internal/testing/lint/") {
			return nil
		}
		contents, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		pieces, err := read(string(contents))
		for i := range pieces {
			pieces[i].Path = filepath.ToSlash(path)
		}
		texts = append(texts, pieces...)
		return err
	})
	return texts, err
}

var readers = map[string]func(contents string) ([]Text, error){
	".go": goTexts, ".md": markdownTexts,
	".cu": slashTexts, ".cuh": slashTexts, ".c": slashTexts, ".h": slashTexts,
	".py": hashTexts, ".sh": hashTexts,
}

// goTexts returns comments, and string literals that are arguments of functions
// which make errors.
func goTexts(contents string) ([]Text, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", contents, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var texts []Text
	for _, group := range file.Comments {
		// Text drops directives, such as go:build.
		texts = append(texts, Text{Line: set.Position(group.Pos()).Line, Text: unwrap(group.Text())})
	}
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || !makesError(call.Fun) {
			return true
		}
		for _, argument := range call.Args {
			literal, ok := argument.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}
			if value, err := strconv.Unquote(literal.Value); err == nil {
				texts = append(texts, Text{Line: set.Position(literal.Pos()).Line, Text: value})
			}
		}
		return true
	})
	return texts, nil
}

func makesError(function ast.Expr) bool {
	name := ""
	switch f := function.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	switch name {
	case "Errorf", "New", "invalid", "refuse", "unsupported", "fail":
		return true
	}
	return false
}

// unwrap joins the lines of each paragraph, so that phrases match across line ends.
func unwrap(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(p), " ")
	}
	return strings.Join(paragraphs, "\n")
}

func slashTexts(contents string) ([]Text, error) { return lineComments(contents, "//"), nil }

func hashTexts(contents string) ([]Text, error) { return lineComments(contents, "#"), nil }

// lineComments returns the comments that a mark begins, neighbouring lines as one.
func lineComments(contents, mark string) []Text {
	var texts []Text
	last := -1
	for i, line := range strings.Split(contents, "\n") {
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), mark)
		if !ok {
			var code string
			if code, comment, ok = strings.Cut(line, " "+mark+" "); !ok || strings.ContainsAny(code, "\"'") {
				continue
			}
		}
		comment = strings.TrimSpace(comment)
		if last == i-1 && last >= 0 {
			texts[len(texts)-1].Text += " " + comment
		} else {
			texts = append(texts, Text{Line: i + 1, Text: comment})
		}
		last = i
	}
	return texts
}

var inlineCode = regexp.MustCompile("`[^`]*`")

// markdownTexts returns paragraphs, list items and rows of tables, without code.
func markdownTexts(contents string) ([]Text, error) {
	var texts []Text
	fenced := false
	for i, line := range strings.Split(contents, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if !fenced && strings.TrimSpace(line) != "" {
			texts = append(texts, Text{Line: i + 1, Text: inlineCode.ReplaceAllString(line, "x")})
		}
	}
	return texts, nil
}
