// Package textrows makes columns of strings on a GPU. Package codegen uses it for the
// results of expressions that are strings.
//
// A generated kernel describes the bytes of each part of each row by a place, which names a
// source and a position in it, and by a length. A source is the data of a column or a
// literal. [Make] adds up the lengths, waits for their sum, and copies the bytes. A
// function with other bytes than its operand, such as the case of letters, measures its
// results in the first step and writes them in the last.
//
//go:generate go run ./cases
package textrows
