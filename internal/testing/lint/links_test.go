package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var linkPattern = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks finds links of documents to files and headings that do not exist.
func TestLinks(t *testing.T) {
	documents := make(map[string]string)
	require.NoError(t, walk(root, func(path string) error {
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		documents[filepath.ToSlash(path)] = string(text)
		return err
	}))
	links := 0
	for path, text := range documents {
		for _, match := range linkPattern.FindAllStringSubmatch(withoutCode(text), -1) {
			file, heading, hasHeading := strings.Cut(match[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			links++
			target := path
			if file != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(path), file))
				_, err := os.Stat(filepath.Join(root, target))
				assert.NoError(t, err, "%s links to %s", path, match[1])
			}
			if hasHeading {
				assert.Contains(t, anchors(documents[target]), heading, "%s links to a heading of %s", path, target)
			}
		}
	}
	require.Greater(t, links, 50, "the walk finds the links")
}

// withoutCode returns a document without fenced blocks and code within lines.
func withoutCode(text string) string {
	var lines []string
	fenced := false
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced {
			lines = append(lines, inlineCode.ReplaceAllString(line, "x"))
		}
	}
	return strings.Join(lines, "\n")
}

// anchors returns the anchors that the headings of a document get.
func anchors(text string) (names []string) {
	for _, line := range strings.Split(text, "\n") {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			names = append(names, strings.Map(anchorRune, strings.TrimSpace(title)))
		}
	}
	return names
}

func anchorRune(r rune) rune {
	switch {
	case r == ' ':
		return '-'
	case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return unicode.ToLower(r)
	}
	return -1
}
