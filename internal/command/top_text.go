package command

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/observe"
)

// tagOrder is the order of tags.
type tagOrder int

const (
	byBytes tagOrder = iota
	byName
)

// draw replaces the contents of the screen by lines that are cut to its size.
func (t *terminal) draw(text string, columns, lines int) error {
	var screen strings.Builder
	screen.WriteString(home)
	shown := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for _, line := range shown[:min(len(shown), max(lines-1, 1))] {
		screen.WriteString(cut(line, columns))
		screen.WriteString(clearLine)
	}
	screen.WriteString(clearRest)
	_, err := io.WriteString(t.w, screen.String())
	return err
}

// cut shortens a line to a number of characters.
func cut(line string, columns int) string {
	if columns <= 0 || utf8.RuneCountInString(line) <= columns {
		return line
	}
	return string([]rune(line)[:columns])
}

// topText describes a snapshot. Zero lines mean as many as there are.
func topText(s *observe.Snapshot, order tagOrder, columns, lines int) string {
	if s.Time.IsZero() {
		return "no answer yet\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "gpuframe  %s  %d running, %d waiting\n\n", s.Time.Local().Format(time.TimeOnly), countState(s, "running"), countState(s, "waiting"))
	fitted(&b, columns, "MANAGER\tIN USE\tBUDGET\tPEAK\tCACHED\tBLOCKS\tWAITING\tFAILED\t", managerRows(s), "BLOCKS", "CACHED", "PEAK", "WAITING")
	for _, k := range s.Kernels {
		if k.Launches > 0 {
			fmt.Fprintf(&b, "kernels on %s: %s launches, %s of loading code\n", plain(k.Device), humanize.Comma(int64(k.Launches)), seconds(k.LoadSeconds))
		}
	}
	if rows := queryRows(s); len(rows) > 0 {
		b.WriteByte('\n')
		fitted(&b, columns, "QUERY\tSTATE\tSECONDS\tROWS\tIN USE\tMANAGER\tTAG\tOPERATION\t", rows, "OPERATION", "MANAGER", "IN USE")
	}
	b.WriteByte('\n')
	if len(s.Failures) > 0 {
		f := s.Failures[0]
		fmt.Fprintf(&b, "last failure %s: %s for tag %s, %s\n\n", f.Time.Local().Format(time.TimeOnly), humanize.IBytes(f.Bytes), plain(cmp.Or(f.Tag, "untagged")), f.Reason)
	}
	rows := tagRows(s, order)
	if lines > 0 {
		rows = rows[:min(len(rows), max(lines-strings.Count(b.String(), "\n")-2, 0))]
	}
	fitted(&b, columns, "TAG\tIN USE\tPEAK\tBLOCKS\t", rows, "BLOCKS")
	return b.String()
}

func countState(s *observe.Snapshot, state string) (n int) {
	for i := range s.Queries {
		if s.Queries[i].State == state {
			n++
		}
	}
	return n
}

// table writes rows below a heading. The first column is aligned to the left.
func table(b *strings.Builder, heading string, rows [][]string) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, heading)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a Builder does not fail
}

// fitted is table in a number of columns of a terminal, or any for zero: it leaves out some columns until the rows
// fit, and then shortens the longest texts.
func fitted(b *strings.Builder, columns int, heading string, rows [][]string, lessImportant ...string) {
	titles := strings.Split(strings.TrimSuffix(heading, "\t"), "\t")
	for columns > 0 && len(lessImportant) > 0 && rowWidth(titles, rows) > columns {
		if at := slices.Index(titles, lessImportant[0]); at >= 0 {
			titles = slices.Delete(slices.Clone(titles), at, at+1)
			rows = slices.Clone(rows)
			for i := range rows {
				rows[i] = slices.Delete(slices.Clone(rows[i]), at, at+1)
			}
		}
		lessImportant = lessImportant[1:]
	}
	for columns > 0 && rowWidth(titles, rows) > columns && shorten(titles, rows) {
	}
	table(b, strings.Join(titles, "\t")+"\t", rows)
}

// widths returns the width of each column.
func widths(titles []string, rows [][]string) []int {
	list := make([]int, len(titles))
	for _, row := range append([][]string{titles}, rows...) {
		for i, text := range row {
			list[i] = max(list[i], utf8.RuneCountInString(text))
		}
	}
	return list
}

// rowWidth returns the width of a line.
func rowWidth(titles []string, rows [][]string) (total int) {
	const gap = 2
	for _, width := range widths(titles, rows) {
		total += width + gap
	}
	return total
}

// shorten makes the texts of the widest column shorter by one character, and reports whether it did.
func shorten(titles []string, rows [][]string) bool {
	const least = 8
	list := widths(titles, rows)
	at := slices.Index(list, slices.Max(list))
	if list[at] <= max(least, utf8.RuneCountInString(titles[at])) {
		return false
	}
	for i, row := range rows {
		if letters := []rune(row[at]); len(letters) == list[at] {
			rows[i] = slices.Clone(row)
			rows[i][at] = string(letters[:len(letters)-2]) + "…"
		}
	}
	return true
}

func managerRows(s *observe.Snapshot) (rows [][]string) {
	for i := range s.Managers {
		top := &s.Managers[i]
		depth := func(m *observe.Manager) int {
			if m.Tenant == "" {
				return 0
			}
			return 1 + strings.Count(m.Tenant, "/")
		}
		top.Each(func(m *observe.Manager) {
			name, cached := m.Name, ""
			if m == top && m.Cache != nil {
				cached = humanize.IBytes(m.Cache.Cached)
			}
			rows = append(rows, []string{
				strings.Repeat("  ", depth(m)) + plain(name), bar(m.InUse, m.Budget), humanize.IBytes(m.Budget), humanize.IBytes(m.Peak), cached,
				fmt.Sprint(m.Blocks), fmt.Sprint(m.Waiting), fmt.Sprint(m.Failures),
			})
		})
	}
	return rows
}

// bar shows a part of a whole.
func bar(part, whole uint64) string {
	const length = 10
	full := 0
	if whole > 0 {
		full = int(min(float64(part)/float64(whole), 1)*length + 0.5)
	}
	return "[" + strings.Repeat("|", full) + strings.Repeat(" ", length-full) + "] " + humanize.IBytes(part)
}

func queryRows(s *observe.Snapshot) (rows [][]string) {
	for i := range s.Queries {
		q := &s.Queries[i]
		done := humanize.Comma(q.Rows)
		if q.OfRows > 0 {
			done += " of " + humanize.Comma(q.OfRows)
		}
		rows = append(rows, []string{
			fmt.Sprint(q.ID), q.State, fmt.Sprintf("%.1f", q.Seconds), done, humanize.IBytes(q.InUse), plain(q.Manager), plain(q.Tag), plain(q.Operation),
		})
	}
	return rows
}

func tagRows(s *observe.Snapshot, order tagOrder) (rows [][]string) {
	for i := range s.Managers {
		tags := slices.DeleteFunc(slices.Clone(s.Managers[i].Tags), func(t observe.Tag) bool { return t.Blocks == 0 })
		if order == byName {
			slices.SortFunc(tags, func(a, b observe.Tag) int { return cmp.Compare(a.Name, b.Name) })
		}
		for _, t := range tags {
			rows = append(rows, []string{plain(cmp.Or(t.Name, "untagged")), humanize.IBytes(t.InUse), humanize.IBytes(t.Peak), fmt.Sprint(t.Blocks)})
		}
	}
	return rows
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}
