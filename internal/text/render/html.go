package render

import "strings"

// escaper escapes as html.EscapeString does. Package html would add a table of the names
// of characters to each program.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// EscapeHTML returns a text as contents of elements and attributes of HTML and XML.
func EscapeHTML(text string) string { return escaper.Replace(text) }

// HTML returns the table for a notebook or a page. All texts are escaped.
func (t Table) HTML() string {
	var text strings.Builder
	text.WriteString("<div class=\"gpuframe\"><small>" + t.Shape() + "</small>")
	if t.Schema.NumFields() == 0 {
		return text.String() + "</div>"
	}
	columns := t.columns(0)
	text.WriteString("<table border=\"1\"><thead>")
	row := func(tag string, cell func(*column) string) {
		text.WriteString("<tr>")
		for _, c := range columns {
			align := "left"
			if c.number {
				align = "right"
			}
			text.WriteString("<" + tag + " style=\"text-align: " + align + "; white-space: pre\">" + escaper.Replace(cell(c)) + "</" + tag + ">")
		}
		text.WriteString("</tr>")
	}
	row("th", func(c *column) string { return c.name })
	row("td", func(c *column) string { return c.typeName })
	text.WriteString("</thead><tbody>")
	for i := range columns[0].cells {
		row("td", func(c *column) string { return c.cells[i] })
	}
	text.WriteString("</tbody></table></div>")
	return text.String()
}
