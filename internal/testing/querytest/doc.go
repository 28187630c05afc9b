// Package querytest draws random queries, and computes their results by a plain model: rows
// are slices of Go values, and each verb is a loop over them. The model shares no code with
// the packages that plan and run queries.
package querytest
