// Package table prints what was measured as tables of Markdown that line up in a
// terminal as well.
package table
