package chart

import "fmt"

// HTML returns a page with the drawing, which loads nothing, and with the specification for programs:
// the text of its element "vega-lite".
func (c *Chart) HTML() (string, error) {
	spec, err := c.VegaLite()
	if err != nil {
		return "", err
	}
	title := c.Title
	if title == "" {
		title = c.description()
	}
	// Package json writes <, > and & as escapes, so no text of the data ends the element.
	return fmt.Sprintf("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n"+
		"<style>:root { color-scheme: light dark } figure { margin: 1em } svg { max-width: 100%%; height: auto }</style>\n"+
		"<figure>%s</figure>\n<script type=\"application/json\" id=\"vega-lite\">%s</script>\n</html>\n", escaped(title), c.SVG(), spec), nil
}
