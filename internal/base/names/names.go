// Package names formats messages about unknown names.
package names

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// most is the maximum number of candidates in a message.
const most = 8

// Unknown returns a message that no object of a kind has the name, with the candidates,
// the closest first: no column is called "dely": there are "delay", "day" and 17
// others. It lists a repeated candidate once.
func Unknown(kind, name string, candidates []string) string {
	if len(candidates) == 0 {
		return fmt.Sprintf("no %s is called %q: there are none", kind, name)
	}
	ranked := Closest(name, candidates)
	listed := ranked[:min(most, len(ranked))]
	quoted := make([]string, len(listed))
	for i, each := range listed {
		quoted[i] = fmt.Sprintf("%q", each)
	}
	text := strings.Join(quoted, ", ")
	if rest := len(ranked) - len(listed); rest == 1 {
		text += " and 1 other"
	} else if rest > 1 {
		text += fmt.Sprintf(" and %d others", rest)
	}
	if len(ranked) == 1 {
		return fmt.Sprintf("no %s is called %q: there is only %s", kind, name, text)
	}
	return fmt.Sprintf("no %s is called %q: there are %s", kind, name, text)
}

// Meant is Unknown for a name of another system that means one of the candidates, which is the one the message
// names: no function is called "average": did you mean "mean"? An empty meaning is not known.
func Meant(kind, name, meaning string, candidates []string) string {
	if meaning == "" {
		return Unknown(kind, name, candidates)
	}
	return fmt.Sprintf("no %s is called %q: did you mean %q?", kind, name, meaning)
}

// Closest returns the distinct candidates, ordered by their distance from name. A
// change of letter case counts little. Candidates at the same distance keep their
// order.
func Closest(name string, candidates []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	ranked := make([]candidate, 0, len(candidates))
	seen := make(map[string]bool, len(candidates))
	for _, each := range candidates {
		if !seen[each] {
			seen[each] = true
			ranked = append(ranked, candidate{each, distance(name, each)})
		}
	}
	slices.SortStableFunc(ranked, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	names := make([]string, len(ranked))
	for i, each := range ranked {
		names[i] = each.name
	}
	return names
}

// longest is the number of letters that are compared. Longer names are mistakes.
const longest = 64

// distance returns the number of letters to insert, delete, replace or swap with the
// next to turn one name into the other. It counts in halves: a change of case is half a
// change.
func distance(a, b string) int {
	from, to := letters(a), letters(b)
	ahead, before, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for k := range before {
		before[k] = 2 * k
	}
	for i, x := range from {
		row[0] = 2 * (i + 1)
		for k, y := range to {
			row[k+1] = min(before[k+1]+2, row[k]+2, before[k]+change(x, y))
			if i > 0 && k > 0 && x == to[k-1] && from[i-1] == y {
				row[k+1] = min(row[k+1], ahead[k-1]+2)
			}
		}
		ahead, before, row = before, row, ahead
	}
	return before[len(to)]
}

func letters(name string) []rune {
	all := []rune(name)
	return all[:min(longest, len(all))]
}

func change(x, y rune) int {
	switch {
	case x == y:
		return 0
	case strings.EqualFold(string(x), string(y)):
		return 1
	}
	return 2
}
