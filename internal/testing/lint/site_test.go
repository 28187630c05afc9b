package lint

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

var (
	pageOfSite = regexp.MustCompile(`(?m)^ *- [^:\n]+: (\S+\.md)$`)
	dashes     = regexp.MustCompile(`-{2,}`)
)

// TestSite finds pages of docs that the site lacks, entries of its index without a page, and links to headings that have
// another anchor on the site than on GitHub. It needs no mkdocs, which `make site` does.
func TestSite(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(root, "scripts/site/mkdocs.yml"))
	require.NoError(t, err)
	var listed []string
	for _, match := range pageOfSite.FindAllStringSubmatch(string(index), -1) {
		listed = append(listed, match[1])
	}
	pages := map[string]string{}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, name := range paths {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			relative, err := filepath.Rel(filepath.Join(root, "docs"), name)
			require.NoError(t, err)
			pages[filepath.ToSlash(relative)] = withoutCode(string(text))
		}
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(listed))), len(listed), "the index lists a page once")
	for _, name := range listed {
		assert.Contains(t, pages, name, "the index of scripts/site/mkdocs.yml lists a page that does not exist")
	}
	for name, text := range pages {
		if path.Dir(name) != "measurements" || path.Base(name) == "README.md" { // their index links to the others
			assert.Contains(t, listed, name, "the index of scripts/site/mkdocs.yml lists every page")
		}
		for _, match := range linkPattern.FindAllStringSubmatch(text, -1) {
			file, heading, _ := strings.Cut(match[1], "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if contents, ok := pages[target]; ok && heading != "" {
				assert.Contains(t, siteAnchors(contents), heading, "%s links to a heading of %s: the anchor of mkdocs is another one, give the heading other words", name, target)
			}
		}
	}
}

// siteAnchors returns the anchors that mkdocs gives to the headings of a page: of letters without accents, and without
// dashes that follow each other. A repeated heading gets a number.
func siteAnchors(text string) (names []string) {
	ascii := func(r rune) rune {
		if r > unicode.MaxASCII {
			return -1
		}
		return r
	}
	for _, name := range anchors(strings.Map(ascii, norm.NFKD.String(text))) {
		name = dashes.ReplaceAllString(name, "-")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
