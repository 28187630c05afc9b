// Package table prints measurements as Markdown tables that also line up in a terminal.
package table
