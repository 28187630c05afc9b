package observe

import "regexp"

var (
	// scanDetails are the ends of scans and filters that depend on the query: the number of columns, and conditions.
	scanDetails = regexp.MustCompile(`, \d+ of \d+ columns.*|, may skip rows unless .*`)
	// literals are texts in quotes, numbers, dates and times. Digits of a name such as l1_tax are none.
	literals = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\b\d\w*(?:[.:+-]\d\w*)*`)
	// literalLists are several literals, such as those of "in".
	literalLists = regexp.MustCompile(`\?(?:, ?\?)+`)
)

// kindOf returns the description of an operation with ? for its literals, so that queries that differ only in them
// have one operation: "filter price > ?".
func kindOf(operation string) string {
	operation = scanDetails.ReplaceAllString(operation, "")
	return literalLists.ReplaceAllString(literals.ReplaceAllString(operation, "?"), "?")
}
