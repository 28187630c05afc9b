// Package sql turns SQL statements into queries.
package sql
